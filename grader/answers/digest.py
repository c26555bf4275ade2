"""One hash for equal answers, however they were handed in and whatever the system is called.

Whatever they are worth, too: boards show it, so that it is of what was handed in alone.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Final

from grader.io.jsonio import canonical
from grader.scoring.model import Checked


def answers_sha256(answers: Mapping[str, Checked]) -> str:
    """Return the hash of answers as they are known without the truth; keys are task ids, in the
    exam's order."""
    total = hashlib.sha256()
    for task_id, told in answers.items():
        answer = canonical(_plain(told.answer))
        total.update(f"{task_id} {told.status} {told.abstained} {answer}\n".encode())
    return total.hexdigest()


_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


def _plain(value: Any) -> Any:
    """An answer as JSON that equal ones share: no set has an order, no object an address."""
    kind: Any = type(value)
    if kind in _SCALARS:
        return value
    if kind is list or kind is tuple:  # a prediction of many cells is one quick look
        return value if _SCALARS.issuperset(map(type, value)) else [_plain(item) for item in value]
    if is_dataclass(value):
        return {name: _plain(getattr(value, name)) for name in _names(kind)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, frozenset):
        return sorted((_plain(item) for item in value), key=canonical)
    return value


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
