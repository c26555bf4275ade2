"""Compute the priors of a composed exam, and deal what they ask over the scenes that can host it.

Family given structure, then variant and view given family. Each prior is tilted by the difficulty d
(paper A.8, Eq. 6): exp(beta (2d-1) (rung - 2)) for families, exp(delta (2d-1) (rank - centre)) for
variants and exp(gamma (2d-1) (rank - 1)) for views.

Drawn scene by scene, an exam strays from its priors: by chance, and because scenes that cannot be
asked for a family fall back on others. So the priors of all its scenes together are rounded to
whole numbers of tasks first, and these are then dealt over the scenes.

A deal maximises the sum of log P(family | structure) plus independent Gumbel noise. Without quotas
that would draw every scene's family from its own prior (Gumbel 1954). With them it is the likeliest
draw under the same noise that meets them.

Where an exam gives the numbers of tasks by structure and family (CausalDS, Table 11) these are met
one for one, by an integer programme under random costs.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import scipy

from builder.splits.seeds import stream
from builder.splits.track import VARIED_FROM, Candidate
from builder.tracks.causalds.design.eligibility import ELIGIBILITY, VARIANTS
from builder.tracks.causalds.design.scene_plan import VIEWS
from builder.tracks.causalds.design.shares import largest_remainder
from builder.tracks.causalds.exams.model import FAMILIES, GRAFTED, OTHERWISE, ComposedExam, Weights
from grader.errors import UsageError

_RUNGS: Final = {variant.family: variant.rung for variant in VARIANTS.values()}

RANKS: Final[Mapping[str, tuple[str, ...]]] = {
    family: tuple(sorted(names, key=lambda name: ELIGIBILITY[f"{family}.{name}"].rank))
    for family, names in FAMILIES.items()
}
"""The names of variants by family, easiest first."""

_DEALS: Final = 20
"""Deals before one with a label that may be the same in all its tasks is taken after all."""

_UNLIKELY: Final = 1e2
"""Cost of a family to which a scene's prior gives no weight. Noise and priors stay far below it."""
_ELSEWHERE: Final = 1e4
"""Cost of a variant that a scene cannot be asked, though another of its family, and of a view."""
_IMPOSSIBLE: Final = 1e8
"""Cost of a family that a scene cannot be asked for. It comes last of all."""

_OPEN: Final = frozenset({"value", "same", "different"})
"""Labels whose answers differ from scene to scene."""


class Cell(NamedTuple):
    """A variant (``family.name``) that a scene is asked, and the view in which it is asked."""

    variant: str
    view: str

    @property
    def levels(self) -> dict[str, str]:
        """The axes that a composition is counted by: family, rung, variant and view, as texts."""
        family = VARIANTS[self.variant].family
        rung = str(_RUNGS[family])
        return {"family": family, "rung": rung, "variant": self.variant, "view": self.view}


def family_weights(model: ComposedExam, structure: str) -> Weights:
    """Return P(family | structure), tilted by difficulty, without restriction; where numbers of
    tasks are given, their shares."""
    if model.counts:
        counts = model.counts[structure]
        return {family: count / sum(counts.values()) for family, count in counts.items()}
    rows = {name: row.weights for row in model.families for name in row.of}
    label = GRAFTED if structure.startswith(GRAFTED) else structure
    prior = rows.get(label, rows.get(OTHERWISE, dict.fromkeys(FAMILIES, 1.0)))
    return _tilt(prior, model, model.strength.rung, lambda family: _RUNGS[family] - 2.0)


def variant_weights(model: ComposedExam, family: str) -> Weights:
    """Return P(variant | family) by the variant's name, tilted."""
    ranks = RANKS[family]
    prior = model.variants.get(family, dict.fromkeys(ranks, 1.0))
    centre = (len(ranks) - 1) / 2
    return _tilt(prior, model, model.strength.variant, lambda name: ranks.index(name) - centre)


def view_weights(model: ComposedExam, family: str, there: Collection[str]) -> Weights:
    """Return P(view | family), tilted, over the views ``there``; uniform where none has weight."""
    order = list(VIEWS)
    prior = {name: row.weights for row in model.views for name in row.of}.get(family, {})
    kept = {view: prior.get(view, 0.0) for view in there}
    if not any(kept.values()):
        kept = dict.fromkeys(there, 1.0)
    return _tilt(kept, model, model.strength.view, lambda view: order.index(view) - 1.0)


def _tilt(
    prior: Weights, model: ComposedExam, strength: float, rank: Callable[[str], float]
) -> Weights:
    """Return a prior times exp(strength (2d-1) rank), of sum 1, with ``rank`` from the middle."""
    slope = strength * (2 * model.difficulty - 1)
    weights = {name: weight * math.exp(slope * rank(name)) for name, weight in prior.items()}
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()}


def choose_variant(
    model: ComposedExam, structure: str, offered: Collection[str], rng: np.random.Generator
) -> str:
    """Return a random variant of ``offered`` by the priors, uniformly where none has weight."""
    families = list(dict.fromkeys(VARIANTS[key].family for key in offered))
    family = _draw_name(family_weights(model, structure), families, rng)
    names = [name for name in FAMILIES[family] if f"{family}.{name}" in offered]
    return f"{family}.{_draw_name(variant_weights(model, family), names, rng)}"


def _draw_name(weights: Weights, offered: Sequence[str], rng: np.random.Generator) -> str:
    """Return a random offered name by the weights, or evenly where none of them has any."""
    kept = np.array([weights.get(name, 0.0) for name in offered])
    if kept.sum() <= 0:
        kept = np.ones(len(offered))
    return offered[int(rng.choice(len(offered), p=kept / kept.sum()))]


def one_label(key: str, possible: Collection[Collection[str]]) -> bool:
    """Tell whether one label is ``possible`` for all tasks and the only one for some of them."""
    shared = frozenset.intersection(*map(frozenset, possible)) - _OPEN
    labelled = VARIANTS[key].shape.pool == "pass"
    return labelled and bool(shared) and any(len(labels) == 1 for labels in possible)


def deal_cells(
    model: ComposedExam,
    scenes: Sequence[Candidate],
    there: Sequence[str],
    rng: np.random.Generator,
    *,
    again: bool = True,
) -> list[Cell]:
    """Return each scene's cell, given its structure and its tasks (at least one) in views
    ``there``. With ``again``, a deal that may give one label to many scenes is dealt again, up to
    ``_DEALS`` times. Without, what is asked does not depend on answers."""
    labels: list[dict[Cell, set[str]]] = [defaultdict(set) for _ in scenes]
    for scene, own in zip(scenes, labels, strict=True):
        for task in scene.tasks:
            own[Cell(task.variant, task.view)].add(task.label)
    structures = [scene.traits["structure"] for scene in scenes]
    offered = [list(dict.fromkeys(cell.variant for cell in cells)) for cells in labels]
    cells: list[Cell] = []
    for _ in range(_DEALS if again else 1):
        variants = _deal_variants(model, structures, offered, rng)
        cells = _deal_views(model, variants, labels, there, rng)
        asked: dict[str, list[Collection[str]]] = defaultdict(list)
        for found, cell in zip(labels, cells, strict=True):
            asked[cell.variant].append(found[cell])
        if not any(len(c) >= VARIED_FROM and one_label(key, c) for key, c in asked.items()):
            break
    return cells


def _deal_variants(
    model: ComposedExam,
    structures: Sequence[str],
    offered: Sequence[Collection[str]],
    rng: np.random.Generator,
) -> list[str]:
    """Return each scene's variant after a deal by quota, of the dealt family where it can be."""
    quotas = _variant_quotas(model, structures)
    slots = [key for key, count in quotas.items() for _ in range(count)]
    weights = [family_weights(model, structure) for structure in structures]
    pairs = zip(weights, offered, strict=True)
    costs = np.array([[_cost(key, own, able) for key in quotas] for own, able in pairs])
    noise = rng.gumbel(size=costs.shape)
    costs = np.repeat(costs - noise, list(quotas.values()), axis=1)
    _, places = scipy.optimize.linear_sum_assignment(costs)
    dealt = []
    for structure, able, place in zip(structures, offered, places, strict=True):
        key = slots[place]
        if key not in able:
            alike = [one for one in able if VARIANTS[one].family == VARIANTS[key].family]
            key = choose_variant(model, structure, alike or able, rng)
        dealt.append(key)
    return dealt


def _variant_quotas(model: ComposedExam, structures: Sequence[str]) -> dict[str, int]:
    """Return whole numbers of tasks by variant: largest remainders by family, then by variant."""
    wanted: dict[str, float] = defaultdict(float)
    for structure in structures:
        for family, share in family_weights(model, structure).items():
            wanted[family] += share
    found = {}
    for family, count in largest_remainder(wanted, len(structures)).items():
        for name, part in largest_remainder(variant_weights(model, family), count).items():
            if part:
                found[f"{family}.{name}"] = part
    return found


def _cost(key: str, weights: Weights, able: Collection[str]) -> float:
    """Return -log P(family | structure), and penalties for what a scene cannot be asked."""
    family = VARIANTS[key].family
    if not any(VARIANTS[one].family == family for one in able):
        return _IMPOSSIBLE
    weight = weights.get(family, 0.0)
    likely = -math.log(weight) if weight else _UNLIKELY
    return likely + _ELSEWHERE * (key not in able)


def _deal_views(
    model: ComposedExam,
    variants: Sequence[str],
    cells: Sequence[Collection[Cell]],
    there: Sequence[str],
    rng: np.random.Generator,
) -> list[Cell]:
    """Return each scene's cell, views by quota in each family, what rounding takes carried on."""
    members: dict[str, list[int]] = defaultdict(list)
    for scene, key in enumerate(variants):
        members[VARIANTS[key].family].append(scene)
    found = [Cell(key, "") for key in variants]
    carried = dict.fromkeys(there, 0.0)
    for family, scenes in members.items():
        weights = view_weights(model, family, there)
        wanted = {view: weights[view] * len(scenes) + carried[view] for view in there}
        counts = largest_remainder({v: max(0.0, w) for v, w in wanted.items()}, len(scenes))
        carried = {view: wanted[view] - counts[view] for view in there}
        places = [view for view, count in counts.items() for _ in range(count)]
        able = [[view for view in there if Cell(variants[s], view) in cells[s]] for s in scenes]
        missing = np.array([[_ELSEWHERE * (view not in one) for view in places] for one in able])
        noise = rng.gumbel(size=missing.shape)
        _, dealt = scipy.optimize.linear_sum_assignment(missing - noise)
        for scene, place, fitting in zip(scenes, dealt, able, strict=True):
            view = places[place]
            likeliest = max(fitting, key=weights.__getitem__)
            found[scene] = Cell(variants[scene], view if view in fitting else likeliest)
    return found


def choose_by_counts(
    model: ComposedExam, candidates: Sequence[Candidate], alike: int, key: bytes, where: str
) -> list[Candidate]:
    """Return a scene for each task that the model counts, left with its tasks of that family. Of
    one domain there are at most ``alike``, or as few as all domains can share. Raises
    ``UsageError`` at ``where`` that names the first number that cannot be met."""
    places = [
        (scene, family)
        for scene in candidates
        for family in dict.fromkeys(VARIANTS[task.variant].family for task in scene.tasks)
        if model.counts.get(scene.traits["structure"], {}).get(family)
    ]
    wanted = {(one, f): n for one, row in model.counts.items() for f, n in row.items() if n}
    _check_supply(model, wanted, places, where)
    domains = {scene.traits["domain"] for scene in candidates} - {""}
    most = max(alike, -(-model.tasks // max(1, len(domains))))
    # Each rule is a sum over places: its least and greatest value, and where it counts.
    rules: dict[object, tuple[float, float]] = {pair: (n, n) for pair, n in wanted.items()}
    columns: dict[object, list[int]] = defaultdict(list)
    for place, (scene, family) in enumerate(places):
        domain = scene.traits["domain"]
        columns[scene.traits["structure"], family].append(place)
        columns[scene.instance_id].append(place)
        rules[scene.instance_id] = (0, 1)
        if domain:
            columns["domain", domain].append(place)
            rules["domain", domain] = (0, most)
        if model.unidentifiable is not None and _is_lost(scene):
            columns["lost"].append(place)
            rules["lost"] = (model.unidentifiable, model.unidentifiable)
    entries = [(row, place) for row, rule in enumerate(rules) for place in columns[rule]]
    rows, at = np.array(entries).T
    table = scipy.sparse.csr_array(
        (np.ones(len(entries)), (rows, at)), shape=(len(rules), len(places))
    )
    low, high = np.array(list(rules.values())).T
    costs = -stream(key, "counts").gumbel(size=len(places))
    whole = np.ones(len(places), dtype=np.int64)
    limits = scipy.optimize.LinearConstraint(table, low, high)
    found = scipy.optimize.milp(
        costs, integrality=whole, bounds=scipy.optimize.Bounds(0, 1), constraints=limits
    )
    if not found.success:
        raise UsageError(
            f"{where}.counts: every number can be met, but not all of them at once with {most} "
            f"tasks a domain and unidentifiable = {model.unidentifiable}; raise the number of "
            "scenes, or change unidentifiable"
        )
    return [
        replace(scene, tasks=tuple(t for t in scene.tasks if VARIANTS[t.variant].family == family))
        for (scene, family), taken in zip(places, found.x, strict=True)
        if taken > 0.5
    ]


def _check_supply(
    model: ComposedExam,
    wanted: Mapping[tuple[str, str], int],
    places: Sequence[tuple[Candidate, str]],
    where: str,
) -> None:
    """Raise ``UsageError`` for the first structure, family or verdict with too few scenes."""
    scenes = {scene.instance_id: scene for scene, _ in places}.values()
    by_structure = Counter(scene.traits["structure"] for scene in scenes)
    by_place = Counter((scene.traits["structure"], family) for scene, family in places)
    for (structure, family), count in wanted.items():
        if by_place[structure, family] < count:
            raise UsageError(
                f"{where}.counts.{structure}.{family}: {count} tasks are asked, but "
                f"{by_place[structure, family]} scenes can be asked one; ask fewer or raise the "
                "number of scenes"
            )
    for structure, row in model.counts.items():
        if by_structure[structure] < sum(row.values()):
            raise UsageError(
                f"{where}.counts.{structure}: {sum(row.values())} tasks are asked, one a scene, "
                f"but {by_structure[structure]} scenes can be asked one; ask fewer, raise the "
                "number of scenes, or give this structure a larger share of them"
            )
    lost = sum(map(_is_lost, scenes))
    if model.unidentifiable is not None and lost < model.unidentifiable:
        raise UsageError(
            f"{where}.unidentifiable: {model.unidentifiable} are asked, but the ATE of {lost} "
            "scenes is not identifiable; ask fewer, or raise confounded"
        )


def _is_lost(scene: Candidate) -> bool:
    return scene.traits["kind"].endswith("False")
