"""The priors of a composed exam: family given structure, then variant and view given family.

Each prior is tilted by the difficulty d (paper A.8, Eq. 6): exp(beta (2d-1) (rung - 2)) for
families, exp(delta (2d-1) (rank - centre)) for variants and exp(gamma (2d-1) (rank - 1)) for views.
``quotas`` deals what they ask over the scenes of an exam.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from builder.causalds.ask import ASKERS
from builder.causalds.exams.model import (
    FAMILIES,
    GRAFTED,
    OTHERWISE,
    Composed,
    Weights,
    weights_by_name,
)
from builder.causalds.plan.views import VIEWS
from grader.tracks import variant as variant_of
from grader.tracks.causalds.shapes import CAUSALDS

RUNGS: Final = {v.family: v.rung for v in CAUSALDS}

RANKS: Final[Mapping[str, tuple[str, ...]]] = {
    family: tuple(sorted(names, key=lambda name: ASKERS[f"{family}.{name}"].rank))
    for family, names in FAMILIES.items()
}
"""Variants of each family, easiest first."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What a scene is asked, and in which view."""

    family: str
    variant: str
    view: str

    @staticmethod
    def of(key: str, view: str) -> "Cell":
        """The cell of a variant, by its key, in a view."""
        family, _, variant = key.partition(".")
        return Cell(family, variant, view)

    @property
    def key(self) -> str:
        """``family.variant``."""
        return f"{self.family}.{self.variant}"

    @property
    def axes(self) -> dict[str, str]:
        """Its level on each axis that a composition is counted by."""
        rung = str(RUNGS[self.family])
        return {"family": self.family, "rung": rung, "variant": self.key, "view": self.view}


Slot = tuple[str, str]
"""A family and one of its variants."""

Hosts = Mapping[str, Mapping[str, Collection[str]]]
"""Family to variant to the views that a scene can be asked it in."""


def choose_slot(model: Composed, structure: str, hosts: Hosts, rng: np.random.Generator) -> Slot:
    """A family and a variant by the priors, restricted to what one scene can be asked; where none
    of that has weight, the choice is uniform."""
    offered = [family for family, variants in hosts.items() if any(variants.values())]
    family = _pick(family_weights(model, structure), offered, rng)
    variants = [v for v in FAMILIES[family] if hosts[family].get(v)]
    return family, _pick(variant_weights(model, family), variants, rng)


def family_weights(model: Composed, structure: str) -> Weights:
    """P(family | structure), tilted, before any restriction."""
    rows = weights_by_name(model.families)
    label = GRAFTED if structure.startswith(GRAFTED) else structure
    prior = rows.get(label, rows.get(OTHERWISE, dict.fromkeys(FAMILIES, 1.0)))
    return _tilted(prior, model, model.strength.rung, lambda family: RUNGS[family] - 2.0)


def variant_weights(model: Composed, family: str) -> Weights:
    """P(variant | family), tilted."""
    ranks = RANKS[family]
    prior = model.variants.get(family, dict.fromkeys(ranks, 1.0))
    centre = (len(ranks) - 1) / 2
    return _tilted(prior, model, model.strength.variant, lambda name: ranks.index(name) - centre)


def view_weights(model: Composed, family: str, there: Collection[str] = tuple(VIEWS)) -> Weights:
    """P(view | family), tilted, among the views that the split has; even where none has weight."""
    order = list(VIEWS)
    prior = weights_by_name(model.views).get(family, {})
    kept = {view: prior.get(view, 0.0) for view in there}
    if not any(kept.values()):
        kept = dict.fromkeys(there, 1.0)
    return _tilted(kept, model, model.strength.view, lambda view: order.index(view) - 1.0)


def _tilted(
    prior: Weights, model: Composed, strength: float, rank: Callable[[str], float]
) -> Weights:
    slope = strength * (2 * model.difficulty - 1)
    weights = {name: weight * math.exp(slope * rank(name)) for name, weight in prior.items()}
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()}


def _pick(weights: Weights, offered: Sequence[str], rng: np.random.Generator) -> str:
    kept = np.array([weights.get(name, 0.0) for name in offered])
    if kept.sum() <= 0:
        kept = np.ones(len(offered))
    return offered[int(rng.choice(len(offered), p=kept / kept.sum()))]


_WORDS: Final = frozenset(word for variant in CAUSALDS for word in variant.shape.labels)


def label_class(target: Mapping[str, Any], value: float | None, should_abstain: bool) -> str:
    """The class of a truth: from its target, its number and whether abstaining is right.

    A balanced exam takes every class of a variant equally often. Classes of numbers say only
    whether there is one: ``abstain``, ``zero``, ``value``. Which classes a planned scene can have
    is said by the variant's asker.
    """
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


_OPEN: Final = frozenset({"value", "same", "different"})
"""Classes whose answers differ from scene to scene."""


def one_label(key: str, possible: Collection[Collection[str]]) -> bool:
    """Whether all tasks of a variant may want the same label, and some of them certainly do.

    ``possible`` are the classes of answers that each task can have.
    """
    shared = frozenset.intersection(*map(frozenset, possible)) - _OPEN
    labelled = variant_of("causalds", key).shape.pool == "pass"
    return labelled and bool(shared) and any(len(classes) == 1 for classes in possible)
