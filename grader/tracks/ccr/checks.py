"""Checks of a ccr answer that need no truth.

A simulation answer is all or nothing only where its lists cannot be aligned with the cases; a
single entry that is no yes or no stays a matter of that one case.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

from grader.errors import Invalid
from grader.io.jsonio import clip
from grader.scoring.model import CheckedAnswer
from grader.scoring.shape import Task

RUNGS: Final = ("factual", "do_true", "do_false")
"""The three answers to every case: association, and the two interventions."""

INVALID: Final = -1
"""An entry that is neither yes nor no."""

_WORD: Final = re.compile(r"\s*(yes|no|true|false)\b", re.IGNORECASE)
_YES: Final = frozenset({"yes", "true"})

Answers = dict[str, list[int]]
"""Rung to one entry a unit: 1 yes, 0 no, ``INVALID``."""


def check_units(task: Task, document: dict[str, Any]) -> tuple[Answers, ...]:
    """Return (answer set,); ``Invalid`` for another pair or a list not as long as the cases."""
    for role in ("cause", "effect"):
        if role in document and document[role] != task.inputs[role]:
            raise Invalid(
                "unknown_quantity",
                f"at /{role}: {clip(document[role])} is not this task's {role} "
                f"({task.inputs[role]}); is the file named after another task?",
            )
    units = int(task.inputs["units"])
    for name in RUNGS:
        if len(document[name]) != units:
            raise Invalid(
                "wrong_length",
                f"at /{name}: {len(document[name])} answers, but there are {units} cases; give "
                "one for each, in their order",
            )
    return ({name: [_entry(entry) for entry in document[name]] for name in RUNGS},)


def merge_units(attempts: Sequence[CheckedAnswer]) -> CheckedAnswer:
    """Join a pair's replicates, None for each unusable.

    Without a usable one, return the first invalid attempt, else the first attempt.
    """
    usable = [attempt for attempt in attempts if attempt.status == "scored"]
    if not usable:
        return next((a for a in attempts if a.status == "invalid"), attempts[0])
    sets: list[Answers | None] = []
    for attempt in attempts:
        sets += attempt.answer if attempt.status == "scored" else (None,)
    lost = [attempt.message for attempt in attempts if attempt.status != "scored"]
    return CheckedAnswer("scored", tuple(sets), message="; ".join(lost))


def _entry(entry: object) -> int:
    """Return 1 or 0 for a Boolean or a text that begins with yes or no, else ``INVALID``."""
    if isinstance(entry, bool):
        return int(entry)
    found = _WORD.match(entry) if isinstance(entry, str) else None
    return INVALID if found is None else int(found[1].lower() in _YES)


def check_quantities(task: Task, document: dict[str, Any]) -> dict[str, Any]:
    """Return the answer as it is; raise ``Invalid`` if it names a quantity that is not listed."""
    listed = task.inputs["quantities"]
    for name in document["quantities"]:
        if name not in listed:
            raise Invalid(
                "unknown_quantity",
                f"at /quantities: {clip(name)} is none of {', '.join(sorted(listed))}",
            )
    return document


def check_deduction(task: Task, document: dict[str, Any]) -> dict[str, Any]:
    """Return the answer, its word in lower case; raises ``Invalid`` for any other word."""
    value = document["value"]
    if isinstance(value, str):
        label = value.strip().lower()
        if label not in ("inconsistent", "insufficient"):
            raise Invalid(
                "unknown_label",
                f'at /value: {clip(value)} is neither a number nor "inconsistent" nor '
                '"insufficient"',
            )
        return {**document, "value": label}
    return document
