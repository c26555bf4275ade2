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


def compose_public(
    split: SplitConfig, track: Track, candidates: Sequence[Candidate], root: bytes, file: str
) -> dict[str, DrawnExam]:
    """Return the exams of a track in a split with public truth, by name; they may share tasks.

    The track composes an exam that has an exam file. Any other asks of an instance only tasks that
    do not answer one another. Raises ``UsageError`` naming ``file`` and key for too few tasks.
    """
    exams = {}
    for draw, key, where in _draws(split, track, root, file):
        if draw.model is None:
            able = keep_one_side(_asked_by(draw, candidates), track, key)
            exam = _draw_tasks(draw, able, key, where)
        else:
            assert track.exams is not None
            exam = track.exams.compose(draw.model, candidates, key, where)
        exams[draw.exam] = shuffle_exam(exam, key)
    return exams


def _draw_tasks(draw: Draw, candidates: Sequence[Candidate], key: bytes, where: str) -> DrawnExam:
    """Return an exam of ``draw.tasks`` tasks or all, variants balanced; errors name ``where``."""
    there = [task.name for one in candidates for task in one.tasks]
    if draw.tasks is None:
        return DrawnExam(tuple(there))
    if draw.tasks > len(there):
        raise UsageError(
            f"{where}.tasks: {draw.tasks} tasks are asked but there are {len(there)}; ask fewer or "
            "raise the number of instances"
        )
    return DrawnExam(tuple(balanced_draw(candidates, draw.tasks, key)))


def assign_exams(
    split: SplitConfig, track: Track, specs: Sequence[InstanceSpec], root: bytes, file: str
) -> dict[str, str]:
    """Return the exam of every planned instance of a split with private truth, by instance id.

    Exams are filled in the order of the split file; one that takes all comes last and takes what is
    left. Raises ``UsageError`` for an exam that lacks instances, and for instances in no exam.
    """
    remaining = {one.instance_id: one for one in _planned_tasks(track, specs)}
    exam_of = {
        spec.instance_id: spec.task_plan.exam for spec in specs if spec.task_plan.exam is not None
    }
    for name in exam_of:
        del remaining[name]
    drawn = [one for one in _draws(split, track, root, file) if one[0].model is None]
    for draw, key, where in sorted(drawn, key=lambda one: one[0].tasks is None):
        able = [one for one in remaining.values() if all(draw.asks(t.variant) for t in one.tasks)]
        if draw.tasks is not None and any(len(one.tasks) > 1 for one in able):
            raise UsageError(
                f"{where}.tasks: some instances have several tasks, and a private split "
                'keeps these in one exam; write tasks = "all", with the variants of this exam'
            )
        chosen = set(_draw_tasks(draw, able, key, where).task_ids)
        for one in able:
            if chosen.issuperset(task.name for task in one.tasks):
                exam_of[one.instance_id] = draw.exam
                del remaining[one.instance_id]
    if remaining:
        variants = sorted({task.variant for one in remaining.values() for task in one.tasks})
        raise UsageError(
            f"{file}: splits.{split.name}.exams: {len(remaining)} of {len(specs)} instances of "
            f"{track.name} are in no exam ({', '.join(filter(None, variants))}), but with private "
            "truth each must be in exactly one exam; ask as many, or let one exam take "
            'tasks = "all" of these variants'
        )
    return exam_of


def planned_candidates(track: Track, specs: Sequence[InstanceSpec]) -> Sequence[Candidate]:
    """Return planned instances as candidates, with every task that they may come to have."""
    return _planned_tasks(track, specs) if track.exams is None else track.exams.planned(specs)


def _planned_tasks(track: Track, specs: Sequence[InstanceSpec]) -> list[Candidate]:
    """Return the planned instances as candidates with the most tasks that each may have, under
    made-up names. A variant is "" where the plan leaves it open."""
    variants_of = planned_variants if track.floors is None else track.floors.variants_of
    found = []
    for spec in specs:
        variants = planned_variants(spec) or list(variants_of(spec)) or [""]
        names = [*variants, *variants[:1] * (spec.task_plan.tasks[1] - len(variants))]
        tasks = (PossibleTask(f"{spec.instance_id}/{i}", v) for i, v in enumerate(names))
        found.append(Candidate(spec.instance_id, tuple(tasks)))
    return found


def built_candidates(track: Track, read: Read) -> Sequence[Candidate]:
    """Return the built instances of a track as candidates. ``read`` gives the rows of a config."""
    if track.exams is not None:
        return track.exams.built(read)
    tasks: dict[str, list[PossibleTask]] = defaultdict(list)
    for row in read(track.name, ("task_id", "instance_id", "family", "variant")):
        task = PossibleTask(row["task_id"], f"{row['family']}.{row['variant']}")
        tasks[row["instance_id"]].append(task)
    return [Candidate(name, tuple(own)) for name, own in tasks.items()]


def private_exams(
    split: SplitConfig, track: Track, specs: Sequence[InstanceSpec], read: Read, root: bytes
) -> dict[str, DrawnExam]:
    """Return a private split's exams by name: all tasks of the instances planned for each."""
    exam_of = {spec.instance_id: spec.task_plan.exam for spec in specs}
    names: dict[str | None, list[str]] = defaultdict(list)
    for row in read(track.name, ("task_id", "instance_id")):
        names[exam_of[row["instance_id"]]].append(row["task_id"])
    return {
        draw.exam: shuffle_exam(DrawnExam(tuple(names[draw.exam])), key)
        for draw, key, _ in _draws(split, track, root)
    }


def _draws(
    split: SplitConfig, track: Track, root: bytes, file: str = ""
) -> Iterator[tuple[Draw, bytes, str]]:
    """Yield the draws of a split's exams from one track, in the order of the file, each with the
    key of all random choices of its exam, and its place in the split file, for messages."""
    for draw in split.draws:
        if draw.track == track.name:
            key = hmac_key(root, f"{track.name}/{split.name}/exam/{draw.exam}")
            yield draw, key, f"{file}: splits.{split.name}.exams.{draw.exam}.{track.name}"


def _asked_by(draw: Draw, candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the candidates with only those tasks whose variant the draw asks, or is still open."""
    return _keep_tasks(candidates, lambda _, task: not task.variant or draw.asks(task.variant))


def _keep_tasks(
    candidates: Iterable[Candidate], admits: Callable[[Candidate, PossibleTask], bool]
) -> list[Candidate]:
    """Return the candidates with the tasks that ``admits`` accepts, if any is left."""
    able = (replace(c, tasks=tuple(t for t in c.tasks if admits(c, t))) for c in candidates)
    return [candidate for candidate in able if candidate.tasks]


def shuffle_exam(exam: DrawnExam, key: bytes) -> DrawnExam:
    """Return the exam with its tasks in an order that ``key`` decides and that tells nothing."""
    ids = sorted(exam.task_ids, key=lambda task_id: _seeded_rank(key, "position", task_id))
    return replace(exam, task_ids=tuple(ids))


def balanced_draw(candidates: Sequence[Candidate], count: int, key: bytes) -> list[str]:
    """Return the names of ``count`` tasks. Variants take turns, and each turn prefers the instance
    that was used least so far.

    The outcome depends on ``key`` and on the set of tasks, not on their order.
    """
    waiting: dict[str, list[tuple[str, str]]] = defaultdict(list)
    tasks = [(task, one.instance_id) for one in candidates for task in one.tasks]
    for task, instance in sorted(tasks, key=lambda pair: _seeded_rank(key, "task", pair[0].name)):
        waiting[task.variant].append((task.name, instance))
    variants = sorted(waiting, key=lambda variant: _seeded_rank(key, "variant", variant))
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


def keep_one_side(candidates: Sequence[Candidate], track: Track, key: bytes) -> list[Candidate]:
    """Return the candidates with only tasks of which none answers another about the same instance.

    The variants asked of an instance fall into sides within which no two are ``track.apart``.
    Instances keep their sides in turn, so that each side is kept equally often.
    """
    kept: dict[str, list[str]] = {}
    turns = 0
    for one in sorted(candidates, key=lambda one: _seeded_rank(key, "side", one.instance_id)):
        sides: list[list[str]] = []
        for variant in sorted({task.variant for task in one.tasks}):
            fits = (s for s in sides if not any(track.apart(variant, member) for member in s))
            side = next(fits, None)
            if side is None:
                sides.append([variant])
            else:
                side.append(variant)
        kept[one.instance_id] = sides[turns % len(sides)]
        turns += len(sides) > 1
    return _keep_tasks(candidates, lambda one, task: task.variant in kept[one.instance_id])


def exam_table(exams: Mapping[str, DrawnExam]) -> pa.Table:
    """Return the exams by name and position; only matched ablations have bundles and arms."""
    rows = [
        (exam, position, task_id, *drawn.bundles.get(task_id, (None, None)))
        for exam, drawn in sorted(exams.items())
        for position, task_id in enumerate(drawn.task_ids)
    ]
    columns = EXAM_SCHEMA.names
    return pa.Table.from_pylist([dict(zip(columns, row, strict=True)) for row in rows], EXAM_SCHEMA)


def compositions_of(exams: Mapping[str, DrawnExam]) -> Composition:
    """Return the compositions of exams as one, for the manifest; axes are ``exam: axis``."""
    return {
        f"{name}: {axis}": levels
        for name, exam in exams.items()
        for axis, levels in exam.composition.items()
    }


def _seeded_rank(key: bytes, purpose: str, name: str) -> bytes:
    """Return 32 bytes to sort by, which say nothing about what is called ``name``."""
    return hmac_key(key, f"{purpose}/{name}")
