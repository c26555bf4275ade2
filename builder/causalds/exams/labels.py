"""Which answer a task has, as a class.

A balanced exam takes every class of a variant equally often. Classes of numbers say only whether
there is one: ``abstain``, ``zero``, ``value``. Which classes a planned scene can have is said by
the variant's asker.
"""

from collections.abc import Mapping
from typing import Any, Final

from grader.tracks.causalds.variants import CAUSALDS

_WORDS: Final = frozenset(word for variant in CAUSALDS for word in variant.shape.labels)


def label_class(target: Mapping[str, Any], value: float | None, should_abstain: bool) -> str:
    """The class of a truth: from its target, its number and whether abstaining is right."""
    if "accepted_before" in target:
        same = target["accepted_before"] == target["accepted_after"]
        return "same" if same else "different"
    if "category" in target:
        return str(target["category"])
    if "edges" in target or "rows" in target:
        return "value"
    if "accepted" in target:
        first = target["accepted"][0]
        known = isinstance(first, bool | int | None) or first in _WORDS
        return str(first) if known else "value"
    if should_abstain:
        return "abstain"
    return "zero" if value == 0 else "value"
