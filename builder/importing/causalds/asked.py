"""A task of the reference beside its scene, and what is right."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from builder.importing.causalds.scene import PublishedScene
from builder.importing.files import Document
from grader.shape import Variant

_EFFECT_FAMILIES: Final = ("effect_estimate", "counterfactual_effect", "mediation_effect")


@dataclass(frozen=True, slots=True)
class Answer:
    """What is right: whether to abstain, the number, and what else the scorer needs."""

    target: Mapping[str, Any] = field(default_factory=dict)
    value: float | None = None
    should_abstain: bool = False


@dataclass(frozen=True, slots=True)
class AskedTask:
    """One task of the reference: its variant, its item and its scene."""

    spec: Variant
    item: Document
    scene: PublishedScene

    @property
    def about_sets(self) -> bool:
        """Whether it asks about adjustment sets."""
        return self.spec.shape.kind in ("set", "sets", "names", "count")

    @property
    def about_effects(self) -> bool:
        """Whether it asks about an effect or its identifiability."""
        return self.spec.family in _EFFECT_FAMILIES or self.spec.name == "identifiable_boolean"

    @property
    def abstention(self) -> Answer:
        """What is right where its effect is not identifiable."""
        shape = self.spec.shape
        numeric = shape.kind in ("number", "interval")
        return Answer({} if numeric else {"accepted": [shape.abstention]}, should_abstain=True)

    @property
    def effects(self) -> tuple[str, ...]:
        """The effects that it is about, of ``ate``, ``ett``, ``nde`` and ``nie``."""
        if self.spec.name == "direct_vs_indirect_dominance":
            return ("nde", "nie")
        match self.spec.family:
            case "effect_estimate" | "identification":
                return ("ate",)
            case "counterfactual_effect":
                return ("ett",)
            case _:
                return (self.kind,)

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
