"""An exam drawn from tasks that are already built, where truth is public.

Every draw depends on a key and on the set of tasks, never on their order. Tasks are told apart by
what their truth rows say (structure, class of answer), so an exam of a private-truth split is not
drawn here: it is planned (``assign``).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from builder.causalds.exams.built import BuiltTask
from builder.causalds.exams.cells import (
    RUNGS,
    Cell,
    Hosts,
    family_weights,
    one_label,
    variant_weights,
    view_weights,
)
from builder.causalds.exams.model import Composed, ExamModel, Matched
from builder.causalds.exams.quotas import deal_cells
from builder.causalds.plan.beside import ByAxis, beside
from builder.causalds.plan.views import VIEWS
from builder.seeds import hmac_key, pick, stream
from builder.track import DrawnExam
from grader.errors import UsageError

Shares = dict[str, dict[str, float]]
"""Axis -> level -> requested number of tasks."""


def draw_exam(model: ExamModel, tasks: Sequence[BuiltTask], key: bytes, where: str) -> DrawnExam:
    """Draw an exam; raises ``UsageError`` at ``where`` when there are too few scenes or tasks."""
    match model:
        case Composed():
            return _composed(model, tasks, key, where)
        case Matched():
            fitting = [task for task in tasks if model.admits(task.key, task.abstains)]
            return _matched(model, grouped(fitting, model.kind), key, where)
        case _:
            return _balanced(model, tasks, key, where)


def _composed(model: Composed, tasks: Sequence[BuiltTask], key: bytes, where: str) -> DrawnExam:
    """One task a scene, by the composition model's quotas."""
    scenes: dict[str, list[BuiltTask]] = defaultdict(list)
    for task in sorted(tasks, key=lambda task: task.task_id):
        scenes[task.instance_id].append(task)
    if len(scenes) < model.tasks:
        raise UsageError(
            f"{where}.tasks: {model.tasks} tasks of a scene each are asked but there are "
            f"{len(scenes)} scenes; ask fewer or raise the number of scenes"
        )
    names = sorted(scenes, key=lambda name: hmac_key(key, f"scene/{name}"))[: model.tasks]
    there = _views(tasks)
    structures = [scenes[name][0].structure for name in names]
    rng = stream(key, "cells")
    hosts = [_hosts(scenes[name]) for name in names]

    def classes(place: int, cell: Cell) -> set[str]:
        return {task.label for task in scenes[names[place]] if task.cell == cell}

    cells = deal_cells(model, structures, hosts, there, rng, classes)
    chosen = [
        pick(rng, [task for task in scenes[name] if task.cell == cell])
        for name, cell in zip(names, cells, strict=True)
    ]
    found = composition(model, structures, cells, there)
    return DrawnExam(tuple(task.task_id for task in chosen), composition=found)


def _hosts(tasks: Iterable[BuiltTask]) -> Hosts:
    """What a built scene is asked, and in which views."""
    hosts: dict[str, dict[str, set[str]]] = {}
    for cell in (task.cell for task in tasks):
        hosts.setdefault(cell.family, {}).setdefault(cell.variant, set()).add(cell.view)
    return hosts


def _views(tasks: Iterable[BuiltTask]) -> list[str]:
    """The views that there are."""
    found = {task.view for task in tasks}
    return [view for view in VIEWS if view in found]


def composition(
    model: Composed, structures: Sequence[str], cells: Sequence[Cell], there: Sequence[str]
) -> ByAxis:
    """Requested beside realised numbers of tasks, by family, rung, variant and view.

    Requested is what the priors say of these scenes and of the views that are ``there``, before any
    restriction to what a scene can host.
    """
    wanted: Shares = {axis: defaultdict(float) for axis in cells[0].axes}
    for structure in structures:
        for family, share in family_weights(model, structure).items():
            wanted["family"][family] += share
            wanted["rung"][str(RUNGS[family])] += share
            for variant, part in variant_weights(model, family).items():
                wanted["variant"][f"{family}.{variant}"] += share * part
            for view, part in view_weights(model, family, there).items():
                wanted["view"][view] += share * part
    return _beside_realised(wanted, cells)


def _beside_realised(wanted: Shares, cells: Iterable[Cell]) -> ByAxis:
    realised: dict[str, Counter[str]] = defaultdict(Counter)
    for cell in cells:
        for axis, name in cell.axes.items():
            realised[axis][name] += 1
    return {
        axis: dict(sorted(beside(requested, realised[axis]).items()))
        for axis, requested in wanted.items()
    }


def _balanced(model: ExamModel, tasks: Sequence[BuiltTask], key: bytes, where: str) -> DrawnExam:
    """Variants equally often; inside each its answers in turn, over as many scenes as can be. One
    whose label is the same wherever it is asked for is worth nothing, and left out."""
    waiting: dict[str, dict[str, list[BuiltTask]]] = {}
    for task in sorted(tasks, key=lambda task: hmac_key(key, f"task/{task.task_id}")):
        waiting.setdefault(task.key, {}).setdefault(task.label, []).append(task)
    varied = [
        name for name, found in waiting.items() if not one_label(name, [{label} for label in found])
    ]
    order = sorted(varied or waiting, key=lambda name: hmac_key(key, f"variant/{name}"))
    if model.tasks > len(tasks):
        raise UsageError(
            f"{where}.tasks: {model.tasks} tasks are asked but there are {len(tasks)}; ask fewer "
            "or raise the number of scenes"
        )
    quota = {
        name: model.tasks // len(order) + (place < model.tasks % len(order))
        for place, name in enumerate(order)
    }
    scenes: Counter[str] = Counter()
    views: Counter[str] = Counter()
    chosen: list[BuiltTask] = []
    # Variants with few tasks choose first, while all scenes are free.
    for name in sorted(order, key=lambda name: sum(map(len, waiting[name].values()))):
        for task in _in_turn(waiting[name], quota[name], scenes, views):
            chosen.append(task)
    there = _views(tasks)
    wanted: Shares = {axis: defaultdict(float) for axis in ("variant", "family", "rung")}
    for name, count in quota.items():
        axes = Cell.of(name, there[0]).axes
        for axis, found in wanted.items():
            found[axes[axis]] += count
    wanted["view"] = {view: model.tasks / len(there) for view in there}
    realised = _beside_realised(wanted, [task.cell for task in chosen])
    return DrawnExam(tuple(task.task_id for task in chosen), composition=realised)


def _in_turn(
    classes: Mapping[str, list[BuiltTask]], count: int, scenes: Counter[str], views: Counter[str]
) -> Iterable[BuiltTask]:
    """``count`` tasks, the classes of answers in turn, from the scenes and views least used."""
    left = {label: list(found) for label, found in sorted(classes.items())}
    while count and any(left.values()):
        for label in left:
            if count and left[label]:
                task = min(left[label], key=lambda t: (scenes[t.instance_id], views[t.view]))
                left[label].remove(task)
                scenes[task.instance_id] += 1
                views[task.view] += 1
                count -= 1
                yield task


Groups = Mapping[tuple[str, str], Mapping[str, BuiltTask]]
"""(scene or bundle, question) to arm to task; complete groups only."""


def grouped(tasks: Sequence[BuiltTask], by: Literal["views", "tellings"]) -> Groups:
    """The tasks of a scene in all views, or those of a bundle's clean views in all tellings."""
    found: dict[tuple[str, str], dict[str, BuiltTask]] = defaultdict(dict)
    for task in tasks:
        if by == "views":
            whole, arm = task.instance_id, task.view
        elif task.bundle and task.view == "clean":
            whole, arm = task.bundle, task.telling
        else:
            continue
        found[whole, f"{task.key} {task.question}"][arm] = task
    arms = {arm for group in found.values() for arm in group}
    return {name: group for name, group in found.items() if len(arms) > 1 and set(group) == arms}


def _matched(model: ExamModel, groups: Groups, key: bytes, where: str) -> DrawnExam:
    """Whole groups, variants in turn, over as many scenes as can be."""
    arms = len(next(iter(groups.values()))) if groups else 0
    if arms == 0 or len(groups) * arms < model.tasks:
        raise UsageError(
            f"{where}.tasks: {model.tasks} tasks are asked but matched ones are "
            f"{len(groups) * arms}; a {model.kind} exam needs scenes in several {model.kind}"
        )
    waiting: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for name in sorted(groups, key=lambda name: hmac_key(key, f"group/{'/'.join(name)}")):
        waiting[name[1].partition(" ")[0]].append(name)
    order = sorted(waiting, key=lambda variant: hmac_key(key, f"variant/{variant}"))
    scenes: Counter[str] = Counter()
    chosen: list[tuple[str, str]] = []
    while len(chosen) < model.tasks // arms:
        for variant in order:
            if waiting[variant] and len(chosen) < model.tasks // arms:
                name = min(waiting[variant], key=lambda name: scenes[name[0]])
                waiting[variant].remove(name)
                scenes[name[0]] += 1
                chosen.append(name)
    bundles = {
        task.task_id: (f"bundle-{number:03d}", arm)
        for number, name in enumerate(chosen, start=1)
        for arm, task in sorted(groups[name].items())
    }
    drawn = [task for name in chosen for _, task in sorted(groups[name].items())]
    even = {"variant": dict.fromkeys(order, len(drawn) / len(order))}
    found = _beside_realised(even, [task.cell for task in drawn])
    return DrawnExam(tuple(bundles), composition=found, bundles=bundles)
