"""The private facts that nothing public may give away, one labelled table each."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Final, assert_never

from builder.gate.leak.features import Subject
from builder.gate.tables import SceneRow, SplitTables, TaskRow
from builder.track import AskedFacts, HiddenFacts, LeakFacts
from grader.shape import Shape
from grader.tracks import TRACKS

OF_SCENES: Final = "scene: "
"""What the names of facts about instances begin with."""

MIN_CLASS: Final = 8
"""Rows a class needs; smaller ones are merged into the next smallest."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A private fact: its value (a class label) for each subject it concerns.

    ``halved``: the labels are numbers, and the fact is on which side of their median one lies,
    which takes all instances to say.
    """

    name: str
    subjects: tuple[Subject, ...]
    labels: tuple[str, ...]
    halved: bool = False


def facts(tables: SplitTables, leak_facts: LeakFacts) -> list[Fact]:
    """All facts of one track of one split, or of some of its instances: those about instances,
    then those about the tasks of each variant. Each is of one instance at a time.

    ``leak_facts`` is the track's; an instance of which it says nothing is left out.
    """
    found = {instance: leak_facts.hidden(row) for instance, row in tables.worlds.items()}
    hidden = {instance: facts for instance, facts in found.items() if facts is not None}
    tables = tables.of(hidden)
    positions: dict[str, list[int]] = {}
    for _, position, task_id in tables.exams:
        positions.setdefault(task_id, []).append(position)
    asked = {
        name: leak_facts.asked(task, tables.truth[name], tables.worlds[task.instance_id])
        for name, task in tables.tasks.items()
    }
    context = _Context(tables, hidden, positions, asked)
    return [*_scene_facts(context), *_answer_facts(context), *_pooled_facts(context)]


@dataclass(frozen=True, slots=True)
class _Context:
    tables: SplitTables
    hidden: Mapping[str, HiddenFacts]
    positions: Mapping[str, list[int]]
    asked: Mapping[str, AskedFacts]


def _scene_facts(context: _Context) -> list[Fact]:
    subjects = _scene_subjects(context)
    hidden = [context.hidden[subject.scene.instance_id].facts for subject in subjects]
    return [
        Fact(f"{OF_SCENES}{name}", tuple(subjects), tuple(scene[name] for scene in hidden))
        for name in (hidden[0] if hidden else ())
    ]


def _scene_subjects(context: _Context) -> list[Subject]:
    """One subject a scene: its first view that is asked about, with all tasks of that view."""
    asked: dict[tuple[str, str], list[TaskRow]] = {}
    for task in context.tables.tasks.values():
        asked.setdefault((task.instance_id, task.view), []).append(task)
    first: dict[str, str] = {}
    for instance, view in sorted(asked):
        first.setdefault(instance, view)
    return [_subject(context, place, asked[place]) for place in sorted(first.items())]


def _answer_facts(context: _Context) -> list[Fact]:
    tables = context.tables
    found: list[Fact] = []
    for variant in TRACKS[tables.track].variants:
        tasks = _one_a_scene(task for task in tables.tasks.values() if task.key == variant.key)
        truths = [tables.truth[task.task_id] for task in tasks]
        for name, labels in _readings(variant.shape, truths):
            fact = _fact(context, f"{variant.key}: {name}", tasks, labels)
            found.append(replace(fact, halved=name == _HALVED))
        asked = [context.asked[task.task_id].facts for task in tasks]
        for name in dict.fromkeys(name for facts in asked for name in facts):
            labels = [facts.get(name, "") for facts in asked]
            found.append(_fact(context, f"{variant.key}: {name}", tasks, labels))
    return found


def _pooled_facts(context: _Context) -> list[Fact]:
    """What the answers to all variants have in common, one task a scene.

    An exam of private truth asks each scene once, which leaves few rows to a variant. The variant
    is a disclosure, so that rows are still permuted within it.
    """
    tables = context.tables
    shapes = {variant.key: variant.shape for variant in TRACKS[tables.track].variants}
    found: list[Fact] = []
    for name in _POOLED:
        told = {
            task.task_id: _common_reading(name, shapes[task.key], tables.truth[task.task_id])
            for task in tables.tasks.values()
        }
        tasks = _one_a_scene(task for task in tables.tasks.values() if told[task.task_id])
        labels = [told[task.task_id] for task in tasks]
        found.append(_fact(context, f"all variants: {name}", tasks, labels))
    return found


def _fact(context: _Context, name: str, tasks: Sequence[TaskRow], labels: Sequence[str]) -> Fact:
    """The fact about the answers to some tasks; an empty label leaves a task out."""
    told = [(task, label) for task, label in zip(tasks, labels, strict=True) if label]
    subjects = (_subject(context, (task.instance_id, task.view), [task]) for task, _ in told)
    return Fact(name, tuple(subjects), tuple(label for _, label in told))


_POOLED: Final = ("should abstain", "sign", "yes or no", "category")


def _common_reading(name: str, shape: Shape, truth: Mapping[str, Any]) -> str:
    """What a truth says of ``name``, in words that all variants share; empty if nothing."""
    target = json.loads(truth["target_json"])
    match name:
        case "should abstain":
            return str(truth["should_abstain"]) if shape.abstainable else ""
        case "sign":
            if shape.kind == "sign":
                return str(target["accepted"][0])
            return _SIGN_OF.get(_sign_label(truth["value"]), "")
        case "yes or no":
            return _label(target) if shape.kind == "boolean" else ""
        case _:
            return _category(target) if shape.kind in ("set", "sets", "names") else ""


def _one_a_scene(tasks: Iterable[TaskRow]) -> list[TaskRow]:
    """The first task of each scene by id, which is random.

    Questions about one scene, in several views or naming several variables, share most of their
    answers and all that tells scenes apart: counted as separate rows they would look like a leak.
    """
    first: dict[str, TaskRow] = {}
    for task in sorted(tasks, key=lambda task: task.task_id):
        first.setdefault(task.instance_id, task)
    return list(first.values())


def _readings(shape: Shape, truths: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[str]]]:
    """The facts of one variant, by the kind of its answers; an empty label leaves a task out."""
    targets = [json.loads(truth["target_json"]) for truth in truths]
    match shape.kind:
        case "predictions" | "name":
            return []  # rows of data, names of the scene at hand: nothing that scenes share
        case "edges" | "quantities" | "program" | "alternative" | "session" | "cells":
            # The answer spells the hidden world out.
            return [("structure", [truth["structure"] for truth in truths])]
        case "set" | "sets" | "names":
            return [("category", [_category(target) for target in targets])]
        case "sign" | "signs" | "boolean" | "label" | "count":
            return [("label", [_label(target) for target in targets])]
        case "number" | "interval" | "units" | "deduction":
            abstain = [("should abstain", [str(truth["should_abstain"]) for truth in truths])]
            return [
                *(abstain if shape.abstainable else []),
                ("sign", [_sign_label(truth["value"]) for truth in truths]),
                (_HALVED, ["" if t["value"] is None else repr(t["value"]) for t in truths]),
            ]
        case kind:
            assert_never(kind)


_HALVED: Final = "above the median"

_SIGN_OF: Final = {"positive": "+", "negative": "-", "zero": "0"}


def _label(target: Mapping[str, Any]) -> str:
    """The accepted answers of a target as one class; a before and an after are one label each."""
    return " then ".join(
        " or ".join(sorted(map(str, accepted)))
        for member, accepted in sorted(target.items(), reverse=True)
        if member.startswith("accepted")
    )


def _category(target: Mapping[str, Any]) -> str:
    if target["category"] == "set" and ([] in target.get("sets", ()) or target.get("names") == []):
        return "empty set"
    return str(target["category"])


def _sign_label(value: float | None) -> str:
    if value is None:
        return ""
    return "zero" if value == 0 else "positive" if value > 0 else "negative"


def halves(labels: Sequence[str]) -> tuple[str, ...]:
    """On which side of their median numbers lie that stand as labels."""
    numbers = [float(label) for label in labels]
    middle = median(numbers) if numbers else 0.0
    return tuple(str(number > middle) for number in numbers)


def _subject(context: _Context, scene: tuple[str, str], tasks: Sequence[TaskRow]) -> Subject:
    bare = SceneRow(*scene, "", (), (), (), (0, 0), tasks[0].place)
    return Subject(
        context.tables.scenes.get(scene, bare),
        tuple(tasks),
        tuple(context.asked[task.task_id] for task in tasks),
        tuple(p for task in tasks for p in context.positions.get(task.task_id, ())),
        context.hidden[scene[0]].told,
    )


def merge_rare(labels: Sequence[str]) -> tuple[str, ...]:
    """``labels`` with the smallest classes merged until each has ``MIN_CLASS`` rows."""
    names = {label: label for label in labels}
    while True:
        counts = Counter(names[label] for label in labels)
        rare = sorted(counts.items(), key=lambda item: (item[1], item[0]))
        if len(rare) < 2 or rare[0][1] >= MIN_CLASS:
            return tuple(names[label] for label in labels)
        merged = " + ".join(sorted([rare[0][0], rare[1][0]]))
        names = {
            label: merged if name in (rare[0][0], rare[1][0]) else name
            for label, name in names.items()
        }
