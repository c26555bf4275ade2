"""The version of grader and harness."""

from typing import Final

__version__: Final = "0.1.0"
