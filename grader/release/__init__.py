"""A release on disk, read carefully: its manifest, tasks, exams, truths, scenes and worlds."""
