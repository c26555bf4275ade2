"""Exams that others published, as releases of ours with public truth."""
