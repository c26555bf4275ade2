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
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import scipy

from builder.splits.track import VARIED_FROM, Candidate
from builder.tracks.causalds.design.eligibility import ELIGIBILITY
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
from grader.tracks import variant as variant_of
from grader.tracks.causalds.shapes import CAUSALDS

RUNGS: Final = {v.family: v.rung for v in CAUSALDS}

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


def choose_slot(model: Composed, structure: str, hosts: Hosts, rng: np.random.Generator) -> Slot:
    """A family and a variant by the priors, restricted to what one scene can be asked; where none
    of that has weight, the choice is uniform."""
    offered = [family for family, variants in hosts.items() if any(variants.values())]
    family = _pick(family_weights(model, structure), offered, rng)
    variants = [v for v in FAMILIES[family] if hosts[family].get(v)]
    return family, _pick(variant_weights(model, family), variants, rng)


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
    labelled = variant_of("causalds", key).shape.pool == "pass"
    return labelled and bool(shared) and any(len(labels) == 1 for labels in possible)


def deal_cells(
    model: Composed, scenes: Sequence[Candidate], there: Sequence[str], rng: np.random.Generator
) -> list[Cell]:
    """The cell of every scene, given its structure and what it can be asked; every scene can be
    asked something. ``there`` are the views of the split.

    A deal that asks many scenes for a label which may be the same in all is dealt again, if it can.
    """
    structures = [scene.traits["structure"] for scene in scenes]
    labels = [_labels(scene) for scene in scenes]
    hosts = [_hosts(cells) for cells in labels]
    cells: list[Cell] = []
    for _ in range(_DEALS):
        cells = _dealt(model, structures, hosts, there, rng)
        asked: dict[str, list[Collection[str]]] = defaultdict(list)
        for found, cell in zip(labels, cells, strict=True):
            asked[cell.key].append(found[cell])
        if not any(len(c) >= VARIED_FROM and one_label(key, c) for key, c in asked.items()):
            break
    return cells


def _labels(scene: Candidate) -> dict[Cell, set[str]]:
    """The labels that a scene's answers may have, by what it can be asked."""
    found: dict[Cell, set[str]] = defaultdict(set)
    for task in scene.tasks:
        found[Cell.of(task.variant, task.view)].add(task.label)
    return found


def _hosts(cells: Collection[Cell]) -> Hosts:
    hosts: dict[str, dict[str, set[str]]] = {}
    for cell in cells:
        hosts.setdefault(cell.family, {}).setdefault(cell.variant, set()).add(cell.view)
    return hosts


def _dealt(
    model: Composed,
    structures: Sequence[str],
    hosts: Sequence[Hosts],
    there: Sequence[str],
    rng: np.random.Generator,
) -> list[Cell]:
    """One deal."""
    slots = [slot for slot, count in slot_quotas(model, structures).items() for _ in range(count)]
    columns = {slot: place for place, slot in enumerate(dict.fromkeys(slots))}
    noise = rng.gumbel(size=(len(structures), len(columns)))
    cost = np.empty((len(structures), len(slots)))
    for scene, (structure, offered) in enumerate(zip(structures, hosts, strict=True)):
        weights = family_weights(model, structure)
        whole = {s: _cost(s, weights, offered) - noise[scene, columns[s]] for s in columns}
        cost[scene] = [whole[slot] for slot in slots]
    dealt = [slots[place] for place in _deal(cost)]
    asked = [_asked(model, *of, rng) for of in zip(structures, hosts, dealt, strict=True)]
    return _with_views(model, asked, hosts, there, rng)


def slot_quotas(model: Composed, structures: Sequence[str]) -> dict[Slot, int]:
    """Whole numbers of tasks by family and variant: families by largest remainder of what the
    priors ask of these scenes, then the variants of each."""
    wanted: Counter[str] = Counter()
    for structure in structures:
        for family, share in family_weights(model, structure).items():
            wanted[family] += share  # type: ignore[assignment]
    found = {}
    for family, count in largest_remainder(wanted, len(structures)).items():
        for variant, part in largest_remainder(variant_weights(model, family), count).items():
            found[family, variant] = part
    return {slot: count for slot, count in found.items() if count}


def _cost(slot: Slot, weights: Mapping[str, float], offered: Hosts) -> float:
    family, variant = slot
    variants = offered.get(family, {})
    if not any(variants.values()):
        return _IMPOSSIBLE
    weight = weights.get(family, 0.0)
    likely = -math.log(weight) if weight else _UNLIKELY
    return likely + (0.0 if variants.get(variant) else _ELSEWHERE)


def _deal(cost: npt.NDArray[np.float64]) -> list[int]:
    """For every row a column of its own, at the least total cost."""
    return [int(column) for column in scipy.optimize.linear_sum_assignment(cost)[1]]


def _asked(
    model: Composed, structure: str, offered: Hosts, slot: Slot, rng: np.random.Generator
) -> Slot:
    """The slot, or where the scene cannot be asked it the next best: another variant of the family,
    another family."""
    family, variant = slot
    if offered.get(family, {}).get(variant):
        return slot
    there = any(offered.get(family, {}).values())
    return choose_slot(model, structure, {family: offered[family]} if there else offered, rng)


def _with_views(
    model: Composed,
    asked: Sequence[Slot],
    hosts: Sequence[Hosts],
    there: Sequence[str],
    rng: np.random.Generator,
) -> list[Cell]:
    """Views by quota inside each family. What rounding takes from a view in one family is carried
    to the next, so that the views of the whole exam are as requested, too."""
    members: dict[str, list[int]] = defaultdict(list)
    for scene, (family, _) in enumerate(asked):
        members[family].append(scene)
    views = [""] * len(asked)
    carried = dict.fromkeys(there, 0.0)
    for family, scenes in members.items():
        weights = view_weights(model, family, there)
        wanted = {view: weights[view] * len(scenes) + carried[view] for view in there}
        counts = largest_remainder({v: max(0.0, w) for v, w in wanted.items()}, len(scenes))
        carried = {view: wanted[view] - counts[view] for view in there}
        slots = [view for view, count in counts.items() for _ in range(count)]
        offered = [hosts[scene][family][asked[scene][1]] for scene in scenes]
        missing = np.array([[_ELSEWHERE * (v not in found) for v in slots] for found in offered])
        dealt = _deal(missing - rng.gumbel(size=missing.shape))
        for scene, place, found in zip(scenes, dealt, offered, strict=True):
            fitting = [view for view in there if view in found]
            likeliest = max(fitting, key=weights.__getitem__)
            views[scene] = slots[place] if slots[place] in found else likeliest
    return [Cell(*slot, view) for slot, view in zip(asked, views, strict=True)]
