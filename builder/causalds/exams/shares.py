"""How often an exam's rules draw each task that is built: what floors are averaged with."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from builder.causalds.exams.built import BuiltTask
from builder.causalds.exams.cells import family_weights, view_weights
from builder.causalds.exams.draw import grouped
from builder.causalds.exams.model import ExamModel


def drawn_shares(model: ExamModel, tasks: Sequence[BuiltTask]) -> Mapping[str, float]:
    """The expected number of times that a task is drawn, up to one factor for each variant."""
    match model.kind:
        case "composed":
            return _composed(model, tasks)
        case "balanced":
            return _balanced(model, tasks)
        case "views" | "tellings":
            # A twin is several splits, each of which counts its bundles from 0 on.
            tasks = [replace(task, bundle=task.bundle and task.world) for task in tasks]
            groups = grouped(tasks, model.kind).values()
            return {task.task_id: 1.0 for group in groups for task in group.values()}


def _composed(model: ExamModel, tasks: Sequence[BuiltTask]) -> dict[str, float]:
    """A scene is asked for a family as often as its structure's prior says, in the views by theirs;
    the tasks of one cell share that."""
    there = list(dict.fromkeys(task.view for task in tasks))
    fitting = Counter((task.instance_id, task.cell) for task in tasks)
    found = {}
    for task in tasks:
        cell = task.cell
        prior = family_weights(model, task.structure).get(cell.family, 0.0)
        view = view_weights(model, cell.family, there)[cell.view]
        found[task.task_id] = prior * view / fitting[task.instance_id, cell]
    return found


def _balanced(model: ExamModel, tasks: Sequence[BuiltTask]) -> dict[str, float]:
    """The classes of a variant's answers take turns until its quota is met: what few tasks a small
    exam has may never reach the last class."""
    classes: dict[str, dict[str, list[BuiltTask]]] = {}
    for task in tasks:
        classes.setdefault(task.key, {}).setdefault(task.label, []).append(task)
    quota, more = divmod(model.tasks, len(classes))
    found = {}
    for labels in classes.values():
        turns, left = divmod(quota, len(labels))
        for place, label in enumerate(sorted(labels)):
            # Some variants, drawn by lot, have one task more: it is the next class's.
            slots = turns + (place < left) + (place == left) * more / len(classes)
            for task in labels[label]:
                found[task.task_id] = slots / len(labels[label])
    return found
