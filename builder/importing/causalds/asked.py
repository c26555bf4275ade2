"""A task of the reference beside its scene, and what is right."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from builder.importing.causalds.scene import PublishedScene
from builder.importing.files import Document
from grader.io.jsonio import canonical


@dataclass(frozen=True, slots=True)
class Answer:
    """What is right: whether to abstain, the number, and what else the scorer needs."""

    target: Mapping[str, Any] = field(default_factory=dict)
    value: float | None = None
    should_abstain: bool = False

    def same_as(self, other: "Answer") -> bool:
        """Whether both accept the same answers; lists are sets here."""
        return (self.should_abstain, self.value, _unordered(self.target)) == (
            other.should_abstain,
            other.value,
            _unordered(other.target),
        )


def _unordered(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _unordered(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return sorted((_unordered(member) for member in value), key=canonical)
    return value


@dataclass(frozen=True, slots=True)
class AskedTask:
    """One task of the reference: its variant (``family.variant``), its item and its scene."""

    key: str
    item: Document
    scene: PublishedScene

    @property
    def kind(self) -> str:
        """The estimand that is named: ``ett``, ``nde`` or ``nie``."""
        for key in ("estimand_kind", "effect_kind"):
            stated = self.item.get("inputs", key)
            if isinstance(stated, str):
                return self._known(stated.casefold(), ("inputs", key))
        return self._known(str(self.item.get("task_id")).rpartition("__")[2], ("task_id",))

    def _known(self, kind: str, keys: tuple[str, ...]) -> str:
        if kind not in ("ett", "nde", "nie"):
            raise self.item.problem(keys, "names none of ett, nde and nie")
        return kind
