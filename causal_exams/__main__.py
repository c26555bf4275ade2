"""``python -m causal_exams``."""

from causal_exams.cli import entry_point

entry_point()
