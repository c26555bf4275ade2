"""The cells of a composed exam: whole quotas of what the priors ask, dealt to scenes that host it.

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
from typing import Final

import numpy as np
import numpy.typing as npt
import scipy

from builder.causalds.exams.cells import (
    Cell,
    Hosts,
    Slot,
    choose_slot,
    family_weights,
    one_label,
    variant_weights,
    view_weights,
)
from builder.causalds.exams.model import Composed
from builder.causalds.plan.blueprint import largest_remainder
from builder.track import VARIED_FROM

Classes = Callable[[int, Cell], Collection[str]]
"""(scene, by its place, and cell) -> the classes of answers that it can have there."""

_DEALS: Final = 20
"""Deals before one with a label that may be the same in all its tasks is taken after all."""

_UNLIKELY: Final = 1e2
"""Cost of a family to which a scene's prior gives no weight; noise and priors stay far below it."""
_ELSEWHERE: Final = 1e4
"""Cost of a variant that a scene cannot be asked, though another of its family; and of a view."""
_IMPOSSIBLE: Final = 1e8
"""Cost of a family that a scene cannot be asked for: last of all."""


def deal_cells(
    model: Composed,
    structures: Sequence[str],
    hosts: Sequence[Hosts],
    there: Sequence[str],
    rng: np.random.Generator,
    classes: Classes,
) -> list[Cell]:
    """The cell of every scene, given its structure and what it can be asked; every scene can be
    asked something. ``there`` are the views of the split.

    A deal that asks many scenes for a label which may be the same in all is dealt again, if it can.
    """
    cells: list[Cell] = []
    for _ in range(_DEALS):
        cells = _dealt(model, structures, hosts, there, rng)
        asked: dict[str, list[Collection[str]]] = defaultdict(list)
        for scene, cell in enumerate(cells):
            asked[cell.key].append(classes(scene, cell))
        if not any(len(c) >= VARIED_FROM and one_label(key, c) for key, c in asked.items()):
            break
    return cells


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
