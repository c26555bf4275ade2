"""The version of the grader and of what hands out exams."""

from typing import Final

__version__: Final = "0.1.0"
