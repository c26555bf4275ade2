"""The one exception that means "the input cannot be used"; everything else is our own bug."""

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

    ``paper_abstained`` is whether the paper's reading counts such an answer as an abstention.
    """

    def __init__(self, reason: str, message: str, *, paper_abstained: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.paper_abstained = paper_abstained


def error_place(error: BaseException) -> str:
    """Return ``file:line`` of the last line of our code that an error passed through, its path as
    in the repository; of other code where none of ours is there."""
    import traceback

    root = Path(__file__).parents[1]
    frames = traceback.extract_tb(error.__traceback__)
    paths = [(Path(frame.filename), frame.lineno) for frame in frames]
    inside = [(path.relative_to(root), n) for path, n in paths if path.is_relative_to(root)]
    ours = [(path, line) for path, line in inside if path.parts[0] in OUR_PACKAGES]
    path, line = (ours or paths)[-1]
    return f"{path}:{line}"
