"""The ``causal-exams`` command, and the exams as tasks of Inspect (``causal_exams/<track>``)."""
