"""One hash for equal answers, however they were handed in and whatever the system is called.

Whatever they are worth, too: boards show it, so that it is of what was handed in alone.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Final

from grader.io.jsonio import canonical
from grader.model import Checked


class Digest:
    """The hash of answers that come a part of an exam at a time, in its order."""

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256()

    def add(self, answers: Mapping[str, Checked]) -> None:
        """Take in more answers, as they are known without the truth, by task id."""
        for task_id, told in answers.items():
            answer = canonical(_plain(told.answer))
            line = f"{task_id} {told.status} {told.abstained} {answer}\n"
            self._sha256.update(line.encode())

    def __str__(self) -> str:
        return self._sha256.hexdigest()


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
