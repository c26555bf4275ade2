"""Attempts at an instance until one is accepted, and the reasons why others were rejected. A
rejected try is replaced by the next sub-seed, without looking at other instances."""

from collections import Counter
from collections.abc import Callable, Mapping

from builder.splits.track import BuiltInstance, InstanceSpec, Row
from grader.errors import UsageError


class Rejection(Exception):
    """The reason why one try at an instance is not accepted; it is counted in the manifest.
    ``words`` says that the words failed, so that the next try needs others."""

    def __init__(self, reason: str, *, words: bool = False) -> None:
        super().__init__(reason)
        self.words = words


def first_accepted(
    spec: InstanceSpec,
    attempt: Callable[[int, int], dict[str, list[Row]]],
    most: int,
    wanted: str,
    fix: str,
) -> BuiltInstance:
    """Return the instance from the first of ``most`` tries that is accepted, with the rejections.

    ``attempt`` makes the rows of a try, given its number and how many earlier ones lacked words.
    Raises ``UsageError`` with the reasons when all are rejected: ``wanted`` names what was tried
    for, ``fix`` what to change.
    """
    rejections: Counter[str] = Counter()
    wordless = 0
    for number in range(most):
        try:
            rows = attempt(number, wordless)
        except Rejection as rejected:
            rejections[str(rejected)] += 1
            wordless += rejected.words
            continue
        return BuiltInstance(rows, rejections)
    raise UsageError(
        f"{spec.label}: no {wanted} in {most} attempts: {list_counts(rejections)}; {fix}"
    )


def list_counts(counts: Mapping[str, int]) -> str:
    """Return counts as text, such as "bound not met 9, too flat 2"; empty without any."""
    return ", ".join(f"{name} {count}" for name, count in counts.items())
