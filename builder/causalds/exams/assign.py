"""Planning the scenes of a private-truth split for its exams: one task and one view a scene.

A ``composed`` exam deals what its composition model asks over the scenes whose graphs and kinds can
host it. A ``balanced`` exam chooses among more structures than it needs, so that every variant, and
inside it every class of answer, finds its scenes, and motifs and verdicts keep the split's shares.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from builder.causal.identification import is_identifiable
from builder.causalds.ask import ASKERS
from builder.causalds.exams.cells import Cell, Hosts
from builder.causalds.exams.draw import composition
from builder.causalds.exams.model import FAMILIES, Composed, ExamModel
from builder.causalds.exams.quotas import deal_cells
from builder.causalds.plan.beside import ByAxis, beside
from builder.causalds.plan.blueprint import largest_remainder
from builder.causalds.plan.types import ScenePlan
from builder.seeds import pick
from grader.errors import UsageError

SPARE: Final = 4
"""A balanced exam chooses among so many times the scenes that it needs."""

DrawPlans = Callable[[int], list[ScenePlan]]
"""Plans of a number of scenes, of the split's composition, in random order."""


def assign(
    exam: str, model: ExamModel, plans: DrawPlans, rng: np.random.Generator
) -> list[ScenePlan]:
    """The plans of an exam's scenes, each with its variant, view and exam.

    Raises ``UsageError`` where no scene of the composition can be asked some variant.
    """
    if isinstance(model, Composed):
        found = _composed(model, plans(model.tasks), rng)
    else:
        found = list(_balanced(exam, model, plans(SPARE * model.tasks), rng))
    return [replace(plan, exam=exam) for plan in found]


def planned_composition(
    model: ExamModel, plans: Sequence[ScenePlan], there: Sequence[str]
) -> ByAxis:
    """Requested beside realised, as planned; ``there`` are the views of the split."""
    cells = [Cell.of(plan.variant, plan.views[0].name) for plan in plans if plan.variant]
    if isinstance(model, Composed):
        return composition(model, [plan.structure for plan in plans], cells, there)
    counts = Counter(cell.key for cell in cells)
    share = counts.total() / len(counts)
    return {"variant": beside(dict.fromkeys(sorted(counts), share), counts)}


def _composed(
    model: Composed, plans: Sequence[ScenePlan], rng: np.random.Generator
) -> list[ScenePlan]:
    there = [view.name for view in plans[0].views]
    structures = [plan.structure for plan in plans]

    def classes(place: int, cell: Cell) -> tuple[str, ...]:
        return ASKERS[cell.key].possible_classes(plans[place])

    cells = deal_cells(model, structures, [_hosts(plan) for plan in plans], there, rng, classes)
    return [_asked(p, cell.key, cell.view, None) for p, cell in zip(plans, cells, strict=True)]


def _hosts(plan: ScenePlan) -> Hosts:
    """What a planned scene can be asked, in every view."""
    views = [view.name for view in plan.views]
    return {
        family: {name: views for name in names if ASKERS[f"{family}.{name}"].can_host(plan)}
        for family, names in FAMILIES.items()
    }


def _asked(plan: ScenePlan, key: str, view: str, wanted: str | None) -> ScenePlan:
    views = tuple(one for one in plan.views if one.name == view)
    return replace(plan, variant=key, views=views, wanted=wanted)


def _balanced(
    exam: str,
    model: ExamModel,
    plans: Sequence[ScenePlan],
    rng: np.random.Generator,
) -> Iterator[ScenePlan]:
    keys = [f"{family}.{name}" for family, names in FAMILIES.items() for name in names]
    hosts = {key: _by_class(key, plans) for key in keys}
    for key in keys:
        if not hosts[key]:
            raise UsageError(
                f"exam {exam}: no scene of this split's composition can be asked {key}; "
                'use composition = "full" or add motifs that can'
            )
    slots = [slot for place, key in enumerate(keys) for slot in _slots(key, place, model, hosts)]
    # Classes of answers that few scenes can have choose first, while all scenes are free.
    slots.sort(key=lambda slot: (len(hosts[slot[0]][slot[1]]), slot))
    free = set(range(len(plans)))
    kinds = [f"{plan.motif} {is_identifiable(*plan.query.effect, 'ate')}" for plan in plans]
    due = Counter(largest_remainder(Counter(kinds), model.tasks))
    view = int(rng.integers(len(plans[0].views)))
    for key, wanted in slots:
        fitting = sorted(free & set(hosts[key][wanted]))
        if not fitting:  # the class is rarer than its share: any scene that can be asked will do
            fitting = sorted(free & {i for found in hosts[key].values() for i in found})
        if not fitting:
            raise UsageError(
                f"exam {exam}: too few scenes of this split's composition can be asked {key}; "
                "ask fewer tasks or change the composition"
            )
        place = pick(rng, [i for i in fitting if due[kinds[i]] > 0] or fitting)
        free.discard(place)
        due[kinds[place]] -= 1
        plan = plans[place]
        view += 1
        yield _asked(plan, key, plan.views[view % len(plan.views)].name, wanted)


def _by_class(key: str, plans: Sequence[ScenePlan]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, plan in enumerate(plans):
        if ASKERS[key].can_host(plan):
            for label in ASKERS[key].possible_classes(plan):
                found.setdefault(label, []).append(place)
    return found


def _slots(
    key: str, place: int, model: ExamModel, hosts: dict[str, dict[str, list[int]]]
) -> Iterator[tuple[str, str]]:
    """(variant, wanted class) for every task of a variant, the classes in turn."""
    variants = len(hosts)
    count = model.tasks // variants + (place < model.tasks % variants)
    labels = sorted(hosts[key])
    for turn in range(count):
        yield key, labels[turn % len(labels)]
