"""Exams: which tasks, in which order.

With public truth an exam is a balanced draw and exams may overlap, but none holds two tasks of
which one's prompt answers the other. With private truth every instance is in exactly one exam, so
that no exam gives away another: which one is decided with the plan, before anything is built.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import pyarrow as pa

from builder.splits.config import Draw, SplitConfig
from builder.splits.seeds import hmac_key
from builder.splits.track import (
    Candidate,
    Composition,
    DrawnExam,
    InstanceSpec,
    PossibleTask,
    Read,
    Track,
    planned_variants,
)
from grader.errors import UsageError

EXAM_SCHEMA: Final = pa.schema(
    [
        pa.field("exam", pa.string(), nullable=False),
        pa.field("position", pa.int32(), nullable=False),
        pa.field("task_id", pa.string(), nullable=False),
        pa.field("bundle", pa.string()),
        pa.field("arm", pa.string()),
    ]
)


Exams = Mapping[tuple[str, str], Mapping[str, DrawnExam]]
"""(split, track) to the exams by name."""

TOLERANCE: Final = 0.05
"""The share of a composed exam's tasks that may be of another level than requested, on any axis and
rounding apart: beyond, a build remarks on it and the gate refuses it."""


def compose(
    draw: Draw, track: Track, candidates: Sequence[Candidate], key: bytes, where: str
) -> DrawnExam:
    """The exam that a draw of the split file asks for, its tasks in exam order.

    The track composes what an exam file asks; any other exam takes a number of tasks, balanced, or
    all. ``where`` is the draw's place; raises ``UsageError`` there when there are too few.
    """
    if draw.model is not None:
        assert track.exams is not None
        return ordered(track.exams.compose(draw.model, candidates, key, where), key)
    able = _asked_by(draw, candidates)
    count, there = draw.tasks, sum(len(one.tasks) for one in able)
    if count is not None and count > there:
        raise UsageError(
            f"{where}.tasks: {count} tasks are asked but there are {there}; ask fewer or raise the "
            "number of instances"
        )
    names = (
        [task.name for one in able for task in one.tasks]
        if count is None
        else balanced_draw(able, count, key)
    )
    return ordered(DrawnExam(tuple(names)), key)


def compose_public(
    split: SplitConfig, track: Track, candidates: Sequence[Candidate], root: bytes, file: str
) -> dict[str, DrawnExam]:
    """The exams of a track in a split with public truth; they may share tasks.

    An exam without an exam file takes one side of an instance whose tasks answer each other.
    """
    exams = {}
    for name, draw in _draws(split, track.name):
        key = _exam_key(root, split, track, name)
        plain = draw.model is None
        pool = one_sided(_asked_by(draw, candidates), track.apart, key) if plain else candidates
        exams[name] = compose(draw, track, pool, key, _place(file, split, track, name))
    return exams


def assign_exams(
    split: SplitConfig, track: Track, specs: Sequence[InstanceSpec], root: bytes, file: str
) -> dict[str, str]:
    """The exam of every planned instance of a split with private truth, by instance id.

    Exams are filled in the order of the split file; one that takes all comes last and takes what is
    left. An instance goes to an exam as a whole. Raises ``UsageError`` for an exam that lacks
    instances, and for instances that are in no exam.
    """
    remaining = {one.instance_id: one for one in _planned_tasks(track, specs)}
    exam_of = {spec.instance_id: spec.asked.exam for spec in specs if spec.asked.exam is not None}
    for name in exam_of:
        del remaining[name]
    draws = [(name, draw) for name, draw in _draws(split, track.name) if draw.model is None]
    for name, draw in sorted(draws, key=lambda item: item[1].tasks is None):
        where = _place(file, split, track, name)
        able = [one for one in remaining.values() if all(draw.asks(t.variant) for t in one.tasks)]
        if draw.tasks is not None and any(len(one.tasks) > 1 for one in able):
            raise UsageError(
                f"{where}.tasks: some instances have several tasks, which private truth keeps "
                'together; write tasks = "all", with the variants of this exam'
            )
        exam = compose(draw, track, able, _exam_key(root, split, track, name), where)
        chosen = set(exam.task_ids)
        for one in able:
            if chosen.issuperset(task.name for task in one.tasks):
                exam_of[one.instance_id] = name
                del remaining[one.instance_id]
    if remaining:
        variants = sorted({task.variant for one in remaining.values() for task in one.tasks})
        raise UsageError(
            f"{file}: splits.{split.name}.exams: {len(remaining)} of {len(specs)} instances of "
            f"{track.name} are in no exam ({', '.join(filter(None, variants))}), and with private "
            "truth each is in exactly one exam; let the numbers add up, or let one exam take "
            'tasks = "all" of these variants'
        )
    return exam_of


def planned_candidates(track: Track, specs: Sequence[InstanceSpec]) -> Sequence[Candidate]:
    """What planned instances may come to be asked, at most."""
    return _planned_tasks(track, specs) if track.exams is None else track.exams.planned(specs)


def _planned_tasks(track: Track, specs: Sequence[InstanceSpec]) -> list[Candidate]:
    """The planned instances with as many tasks as they may have; a variant is "" where the plan
    leaves it open."""
    variants_of = planned_variants if track.floors is None else track.floors.variants_of
    found = []
    for spec in specs:
        variants = planned_variants(spec) or list(variants_of(spec)) or [""]
        names = [*variants, *variants[:1] * (spec.asked.tasks[1] - len(variants))]
        tasks = (PossibleTask(f"{spec.instance_id}/{i}", v) for i, v in enumerate(names))
        found.append(Candidate(spec.instance_id, tuple(tasks)))
    return found


def built_candidates(track: Track, read: Read) -> Sequence[Candidate]:
    """Built instances with their tasks."""
    if track.exams is not None:
        return track.exams.built(read)
    tasks: dict[str, list[PossibleTask]] = defaultdict(list)
    for row in read(track.name, ("task_id", "instance_id", "family", "variant")):
        task = PossibleTask(row["task_id"], f"{row['family']}.{row['variant']}")
        tasks[row["instance_id"]].append(task)
    return [Candidate(name, tuple(own)) for name, own in tasks.items()]


def built_private(
    split: SplitConfig, track: Track, specs: Sequence[InstanceSpec], read: Read, root: bytes
) -> dict[str, DrawnExam]:
    """The exams of a split with private truth: the tasks of the instances that were assigned."""
    exam_of = {spec.instance_id: spec.asked.exam for spec in specs}
    names: dict[str | None, list[str]] = defaultdict(list)
    for row in read(track.name, ("task_id", "instance_id")):
        names[exam_of[row["instance_id"]]].append(row["task_id"])
    return {
        name: ordered(DrawnExam(tuple(names[name])), _exam_key(root, split, track, name))
        for name, _ in _draws(split, track.name)
    }


def _draws(split: SplitConfig, track: str) -> list[tuple[str, Draw]]:
    return [(exam.name, draw) for exam in split.exams for draw in exam.draws if draw.track == track]


def _exam_key(root: bytes, split: SplitConfig, track: Track, exam: str) -> bytes:
    return hmac_key(root, f"{track.name}/{split.name}/exam/{exam}")


def _place(file: str, split: SplitConfig, track: Track, exam: str) -> str:
    return f"{file}: splits.{split.name}.exams.{exam}.{track.name}"


def _asked_by(draw: Draw, candidates: Iterable[Candidate]) -> list[Candidate]:
    """The candidates with the tasks of a draw's variants; a variant that is open may be one."""
    return _restricted(candidates, lambda _, task: not task.variant or draw.asks(task.variant))


def _restricted(
    candidates: Iterable[Candidate], admits: Callable[[Candidate, PossibleTask], bool]
) -> list[Candidate]:
    """The candidates with the tasks that are admitted; those without one are left out."""
    able = (replace(c, tasks=tuple(t for t in c.tasks if admits(c, t))) for c in candidates)
    return [candidate for candidate in able if candidate.tasks]


def ordered(exam: DrawnExam, key: bytes) -> DrawnExam:
    """The exam with its tasks in a seeded order that carries no information."""
    ids = sorted(exam.task_ids, key=lambda task_id: rank(key, "position", task_id))
    return DrawnExam(tuple(ids), exam.bundles, exam.composition)


def balanced_draw(candidates: Sequence[Candidate], count: int, key: bytes) -> list[str]:
    """The names of ``count`` tasks, variants in turn; each turn prefers the instance least used so
    far.

    A variant that has run out is passed over. The outcome depends on ``key`` and on the set of
    tasks, not on their order.
    """
    waiting: dict[str, list[tuple[str, str]]] = defaultdict(list)
    tasks = [(task, one.instance_id) for one in candidates for task in one.tasks]
    for task, instance in sorted(tasks, key=lambda pair: rank(key, "task", pair[0].name)):
        waiting[task.variant].append((task.name, instance))
    variants = sorted(waiting, key=lambda variant: rank(key, "variant", variant))
    used: Counter[str] = Counter()
    chosen: list[str] = []
    while len(chosen) < count:
        for variant in variants:
            if not waiting[variant] or len(chosen) == count:
                continue
            # min keeps the first of equals, and the list is in seeded order.
            name, instance = min(waiting[variant], key=lambda pair: used[pair[1]])
            waiting[variant].remove((name, instance))
            used[instance] += 1
            chosen.append(name)
    return chosen


def one_sided(
    candidates: Sequence[Candidate], apart: Callable[[str, str], bool], key: bytes
) -> list[Candidate]:
    """The candidates without tasks that another one's prompt answers.

    The variants asked of an instance fall into sides within which no two are ``apart``; instances
    keep their sides in turn, in a seeded order, so that each side is kept equally often.
    """
    kept: dict[str, list[str]] = {}
    turns = 0
    for one in sorted(candidates, key=lambda one: rank(key, "side", one.instance_id)):
        sides: list[list[str]] = []
        for variant in sorted({task.variant for task in one.tasks}):
            fits = (s for s in sides if not any(apart(variant, member) for member in s))
            side = next(fits, None)
            if side is None:
                sides.append([variant])
            else:
                side.append(variant)
        kept[one.instance_id] = sides[turns % len(sides)]
        turns += len(sides) > 1
    return _restricted(candidates, lambda one, task: task.variant in kept[one.instance_id])


def exam_table(exams: Mapping[str, DrawnExam]) -> pa.Table:
    """The exams as a table sorted by exam and position; most tasks have no bundle."""
    columns: dict[str, list[object]] = {name: [] for name in EXAM_SCHEMA.names}
    for exam, drawn in sorted(exams.items()):
        told = [drawn.bundles.get(task_id, (None, None)) for task_id in drawn.task_ids]
        columns["exam"] += [exam] * len(told)
        columns["position"] += range(len(told))
        columns["task_id"] += drawn.task_ids
        columns["bundle"] += [bundle for bundle, _ in told]
        columns["arm"] += [arm for _, arm in told]
    return pa.table(columns, schema=EXAM_SCHEMA)


def composed(exams: Mapping[str, DrawnExam]) -> Composition:
    """The compositions of exams as a manifest tells them, ``exam: axis`` being the axis."""
    return {
        f"{name}: {axis}": levels
        for name, exam in exams.items()
        for axis, levels in exam.composition.items()
    }


def rank(key: bytes, purpose: str, name: str) -> bytes:
    """A seeded rank that says nothing about what it ranks."""
    return hmac_key(key, f"{purpose}/{name}")


def moved(requested: Mapping[str, float], realised: Mapping[str, float]) -> float:
    """The share of tasks on other levels than requested. Requested numbers are fractions: a level
    that is less than one task off has been rounded, not moved."""
    levels = {*requested, *realised}
    off = (abs(requested.get(level, 0.0) - realised.get(level, 0.0)) for level in levels)
    total = sum(realised.values())
    return sum(max(0.0, one - 1.0) for one in off) / 2 / total if total else 0.0


def moved_mass(exams: Exams) -> Iterator[str]:
    """A line for every axis of an exam that is not as requested: scenes cannot host everything that
    the priors ask of them. A matched exam holds whole groups, and is let be."""
    for (split, track), drawn in exams.items():
        for name, exam in drawn.items():
            for axis, levels in exam.composition.items():
                beside = [{k: row[side] for k, row in levels.items()} for side in _SIDES]
                share = moved(*beside)
                if not exam.bundles and share > TOLERANCE:
                    yield (
                        f"{split} {track} exam {name}: {share:.0%} of the tasks moved to another "
                        f"{axis} than requested (see the manifest's composition)"
                    )


_SIDES: Final = ("requested", "realised")
