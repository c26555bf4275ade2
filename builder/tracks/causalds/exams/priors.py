"""The priors of a composed exam, and the deal of what they ask over the scenes that can host it.

Family given structure, then variant and view given family; each prior is tilted by the difficulty d
(paper A.8, Eq. 6): exp(beta (2d-1) (rung - 2)) for families, exp(delta (2d-1) (rank - centre)) for
variants and exp(gamma (2d-1) (rank - 1)) for views.

Drawn scene by scene, an exam strays from its priors: by chance, and because scenes that cannot be
asked for a family fall back on others. So the priors of all its scenes together are rounded to
whole numbers of tasks first, and these are then dealt over the scenes.

A deal maximises the sum of log P(family | structure) plus independent Gumbel noise. Without quotas
that would draw every scene's family from its own prior (Gumbel 1954); with them it is the likeliest
draw under the same noise that meets them.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from builder.splits.track import VARIED_FROM, Candidate
from builder.tracks.causalds.design.eligibility import ELIGIBILITY, VARIANTS
from builder.tracks.causalds.design.scene_plan import VIEWS
from builder.tracks.causalds.design.shares import largest_remainder
from builder.tracks.causalds.exams.model import (
    FAMILIES,
    GRAFTED,
    OTHERWISE,
    Composed,
    Weights,
    weights_by_name,
)

_RUNGS: Final = {variant.family: variant.rung for variant in VARIANTS.values()}

RANKS: Final[Mapping[str, tuple[str, ...]]] = {
    family: tuple(sorted(names, key=lambda name: ELIGIBILITY[f"{family}.{name}"].rank))
    for family, names in FAMILIES.items()
}
"""Variants of each family, easiest first."""

_DEALS: Final = 20
"""Deals before one with a label that may be the same in all its tasks is taken after all."""

_UNLIKELY: Final = 1e2
"""Cost of a family to which a scene's prior gives no weight; noise and priors stay far below it."""
_ELSEWHERE: Final = 1e4
"""Cost of a variant that a scene cannot be asked, though another of its family; and of a view."""
_IMPOSSIBLE: Final = 1e8
"""Cost of a family that a scene cannot be asked for: last of all."""

_OPEN: Final = frozenset({"value", "same", "different"})
"""Labels whose answers differ from scene to scene."""


class Slot(NamedTuple):
    """A family and one of its variants."""

    family: str
    variant: str

    @property
    def key(self) -> str:
        """``family.variant``."""
        return ".".join(self)


class Cell(NamedTuple):
    """What a scene is asked, and in which view."""

    slot: Slot
    view: str

    @staticmethod
    def of(key: str, view: str) -> "Cell":
        """The cell of a variant, by its key, in a view."""
        family, _, variant = key.partition(".")
        return Cell(Slot(family, variant), view)

    @property
    def axes(self) -> dict[str, str]:
        """Its level on each axis that a composition is counted by."""
        (family, _), view = self
        rung = str(_RUNGS[family])
        return {"family": family, "rung": rung, "variant": self.slot.key, "view": view}


def family_weights(model: Composed, structure: str) -> Weights:
    """P(family | structure), tilted, before any restriction."""
    rows = weights_by_name(model.families)
    label = GRAFTED if structure.startswith(GRAFTED) else structure
    prior = rows.get(label, rows.get(OTHERWISE, dict.fromkeys(FAMILIES, 1.0)))
    return _tilted(prior, model, model.strength.rung, lambda family: _RUNGS[family] - 2.0)


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


def choose_slot(
    model: Composed, structure: str, offered: Collection[Slot], rng: np.random.Generator
) -> Slot:
    """A family and a variant by the priors, restricted to what one scene can be asked; where none
    of that has weight, the choice is uniform."""
    families = list(dict.fromkeys(slot.family for slot in offered))
    family = _pick(family_weights(model, structure), families, rng)
    variants = [name for name in FAMILIES[family] if Slot(family, name) in offered]
    return Slot(family, _pick(variant_weights(model, family), variants, rng))


def _pick(weights: Weights, offered: Sequence[str], rng: np.random.Generator) -> str:
    kept = np.array([weights.get(name, 0.0) for name in offered])
    if kept.sum() <= 0:
        kept = np.ones(len(offered))
    return offered[int(rng.choice(len(offered), p=kept / kept.sum()))]


def one_label(key: str, possible: Collection[Collection[str]]) -> bool:
    """Whether all tasks of a variant may want the same label, and some of them certainly do.

    ``possible`` are the labels that each task can have.
    """
    shared = frozenset.intersection(*map(frozenset, possible)) - _OPEN
    labelled = VARIANTS[key].shape.pool == "pass"
    return labelled and bool(shared) and any(len(labels) == 1 for labels in possible)


def deal_cells(
    model: Composed, scenes: Sequence[Candidate], there: Sequence[str], rng: np.random.Generator
) -> list[Cell]:
    """The cell of every scene, given its structure and what it can be asked; every scene can be
    asked something. ``there`` are the views of the split.

    A deal that asks many scenes for a label which may be the same in all is dealt again, if it can.
    """
    labels = [_labels(scene) for scene in scenes]
    structures = [scene.traits["structure"] for scene in scenes]
    offered = [list(dict.fromkeys(cell.slot for cell in cells)) for cells in labels]
    cells: list[Cell] = []
    for _ in range(_DEALS):
        slots = _deal_slots(model, structures, offered, rng)
        cells = _with_views(model, slots, labels, there, rng)
        asked: dict[str, list[Collection[str]]] = defaultdict(list)
        for found, cell in zip(labels, cells, strict=True):
            asked[cell.slot.key].append(found[cell])
        if not any(len(c) >= VARIED_FROM and one_label(key, c) for key, c in asked.items()):
            break
    return cells


def _labels(scene: Candidate) -> dict[Cell, set[str]]:
    """The labels that a scene's answers may have, by what it can be asked."""
    found: dict[Cell, set[str]] = defaultdict(set)
    for task in scene.tasks:
        found[Cell.of(task.variant, task.view)].add(task.label)
    return found


def _deal_slots(
    model: Composed,
    structures: Sequence[str],
    offered: Sequence[Collection[Slot]],
    rng: np.random.Generator,
) -> list[Slot]:
    """One deal of families and variants; a scene that cannot be asked what falls to it is asked the
    next best: another variant of the family, another family."""
    slots = [slot for slot, count in slot_quotas(model, structures).items() for _ in range(count)]
    columns = {slot: place for place, slot in enumerate(dict.fromkeys(slots))}
    noise = rng.gumbel(size=(len(structures), len(columns)))
    cost = np.empty((len(structures), len(slots)))
    for scene, (structure, able) in enumerate(zip(structures, offered, strict=True)):
        weights = family_weights(model, structure)
        whole = {slot: _cost(slot, weights, able) - noise[scene, columns[slot]] for slot in columns}
        cost[scene] = [whole[slot] for slot in slots]
    dealt = []
    for structure, able, place in zip(structures, offered, _deal(cost), strict=True):
        slot = slots[place]
        if slot not in able:
            alike = [one for one in able if one.family == slot.family]
            slot = choose_slot(model, structure, alike or able, rng)
        dealt.append(slot)
    return dealt


def slot_quotas(model: Composed, structures: Sequence[str]) -> dict[Slot, int]:
    """Whole numbers of tasks by family and variant: families by largest remainder of what the
    priors ask of these scenes, then the variants of each."""
    wanted: dict[str, float] = defaultdict(float)
    for structure in structures:
        for family, share in family_weights(model, structure).items():
            wanted[family] += share
    found = {}
    for family, count in largest_remainder(wanted, len(structures)).items():
        for variant, part in largest_remainder(variant_weights(model, family), count).items():
            found[Slot(family, variant)] = part
    return {slot: count for slot, count in found.items() if count}


def _cost(slot: Slot, weights: Weights, able: Collection[Slot]) -> float:
    if not any(one.family == slot.family for one in able):
        return _IMPOSSIBLE
    weight = weights.get(slot.family, 0.0)
    likely = -math.log(weight) if weight else _UNLIKELY
    return likely + (0.0 if slot in able else _ELSEWHERE)


def _deal(cost: npt.NDArray[np.float64]) -> list[int]:
    """For every row a column of its own, at the least total cost."""
    return [int(column) for column in scipy.optimize.linear_sum_assignment(cost)[1]]


def _with_views(
    model: Composed,
    slots: Sequence[Slot],
    cells: Sequence[Collection[Cell]],
    there: Sequence[str],
    rng: np.random.Generator,
) -> list[Cell]:
    """Views by quota inside each family. What rounding takes from a view in one family is carried
    to the next, so that the views of the whole exam are as requested, too."""
    members: dict[str, list[int]] = defaultdict(list)
    for scene, slot in enumerate(slots):
        members[slot.family].append(scene)
    found = [Cell(slot, "") for slot in slots]
    carried = dict.fromkeys(there, 0.0)
    for family, scenes in members.items():
        weights = view_weights(model, family, there)
        wanted = {view: weights[view] * len(scenes) + carried[view] for view in there}
        counts = largest_remainder({v: max(0.0, w) for v, w in wanted.items()}, len(scenes))
        carried = {view: wanted[view] - counts[view] for view in there}
        places = [view for view, count in counts.items() for _ in range(count)]
        able = [[view for view in there if Cell(slots[s], view) in cells[s]] for s in scenes]
        missing = np.array([[_ELSEWHERE * (view not in one) for view in places] for one in able])
        dealt = _deal(missing - rng.gumbel(size=missing.shape))
        for scene, place, fitting in zip(scenes, dealt, able, strict=True):
            view = places[place]
            likeliest = max(fitting, key=weights.__getitem__)
            found[scene] = Cell(slots[scene], view if view in fitting else likeliest)
    return found
