"""``python -m harness COMMAND``: hand an exam to a test taker."""

from grader.cli import entry_point
from harness.cli import HARNESS

entry_point(HARNESS)
