"""``python -m grader``."""

from grader.commands.main import entry_point

entry_point()
