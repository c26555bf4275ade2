"""The one exception that means "the input cannot be used"; everything else is our own bug."""

import traceback
from pathlib import Path
from typing import Final

OUR_PACKAGES: Final = ("grader", "causal_exams", "builder")


class UsageError(Exception):
    """Unusable input: a one-line message saying what is wrong, where, and how to fix it.

    Commands print it and exit with 2. A submitter's broken answer is *not* a ``UsageError``: it
    becomes a row with status ``invalid`` (:mod:`grader.answers.collect`).
    """


class Invalid(Exception):
    """An answer's fault: a reason code of ``grader.answers.check.REASONS`` and a message.
    ``paper_abstained`` is whether the paper's reading counts such an answer as an abstention."""

    def __init__(self, reason: str, message: str, *, paper_abstained: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.paper_abstained = paper_abstained


def error_text(error: BaseException) -> str:
    """Return an error's type, places and message. Its places are ``file:line`` of the last three
    calls in our code, innermost first, or of the line that failed where none is ours."""
    root, frames = Path(__file__).parents[1], traceback.extract_tb(error.__traceback__)
    places = [
        f"{Path(frame.filename).relative_to(root)}:{frame.lineno}"
        for frame in frames
        if Path(frame.filename).is_relative_to(root)
        and Path(frame.filename).relative_to(root).parts[0] in OUR_PACKAGES
    ] or [f"{frame.filename}:{frame.lineno}" for frame in frames[-1:]]
    return f"{type(error).__name__} at {', from '.join(places[-1:-4:-1])}: {error}"
