"""Exams: which tasks, in which order.

With public truth an exam is a balanced draw and exams may overlap, but none holds two tasks of
which one's prompt answers the other. With private truth every task is in exactly one exam, so that
no exam gives away another.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from builder.release.config import SplitConfig
from builder.seeds import hmac_key
from builder.track import Composition, DrawnExam, Read
from builder.tracks import TRACKS
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


@dataclass(frozen=True, slots=True)
class Candidate:
    """A task as the draw sees it: public facts, and the exam that its instance was planned for."""

    task_id: str
    instance_id: str
    variant: str
    planned: str | None = None


Exams = Mapping[tuple[str, str], Mapping[str, DrawnExam]]
"""(split, track) to the exams by name."""

TOLERANCE: Final = 0.05
"""The share of a composed exam's tasks that may be of another level than requested, on any axis and
rounding apart: beyond, a build remarks on it and the gate refuses it."""


def draw_exams(
    split: SplitConfig,
    track: str,
    tasks: Sequence[Candidate],
    root: bytes,
    where: str,
    read: Read | None = None,
) -> dict[str, DrawnExam]:
    """Every exam of a track in a split, its tasks in exam order.

    Exams are filled in the order of the split file; one that takes all tasks comes last and, with
    private truth, takes what is left; with public truth it takes one side of an instance whose
    tasks answer each other. An exam with a model is composed by the track, from the rows
    that ``read`` gives, or, with private truth, has the tasks planned for it. Raises ``UsageError``
    (``where`` is the split file) when there are too few tasks or, with private truth, when some
    would be in no exam.
    """
    draws = {exam.name: draw for exam in split.exams for draw in exam.draws if draw.track == track}
    remaining = {task.task_id: task for task in tasks}
    drawn: dict[str, DrawnExam] = {}
    for name, draw in sorted(draws.items(), key=lambda item: item[1].tasks is None):
        key, count = hmac_key(root, f"{track}/{split.name}/exam/{name}"), draw.tasks
        if draw.model is not None and not split.private:
            exams = TRACKS[track].exams
            assert exams is not None and read is not None
            place = f"{where}: splits.{split.name}.exams.{name}.{track}"
            built = exams.candidates(read)
            drawn[name] = ordered(exams.compose(draw.model, built, key, place), key)
            continue
        asked = [
            task
            for task in (remaining.values() if split.private else tasks)
            if draw.asks(task.variant)
        ]
        pool = asked if split.private else one_sided(asked, TRACKS[track].apart, key)
        if draw.model is not None:
            pool = [task for task in pool if task.planned == name]
        if count is not None and count > len(pool):
            raise UsageError(
                f"{where}: splits.{split.name}.exams.{name}.{track}.tasks: {count} tasks are asked "
                f"but there are {len(pool)}; ask fewer or raise the number of instances"
            )
        chosen = pool if count is None else balanced_draw(pool, count, key)
        ids = [task.task_id for task in chosen]
        drawn[name] = ordered(DrawnExam(tuple(ids)), key)
        if split.private:
            for task_id in ids:
                del remaining[task_id]
    if split.private and remaining:
        raise UsageError(
            f"{where}: splits.{split.name}.exams: {len(remaining)} tasks of {track} are in no "
            'exam; let the numbers add up, or let one exam take tasks = "all" of all variants'
        )
    return {name: drawn[name] for name in draws}


def ordered(exam: DrawnExam, key: bytes) -> DrawnExam:
    """The exam with its tasks in a seeded order that carries no information."""
    ids = sorted(exam.task_ids, key=lambda task_id: rank(key, "position", task_id))
    return DrawnExam(tuple(ids), exam.bundles, exam.composition)


def balanced_draw(tasks: Sequence[Candidate], count: int, key: bytes) -> list[Candidate]:
    """``count`` tasks, variants in turn; each turn prefers the instance least used so far.

    A variant that has run out is passed over. The outcome depends on ``key`` and on the set of
    tasks, not on their order.
    """
    waiting: dict[str, list[Candidate]] = defaultdict(list)
    for task in sorted(tasks, key=lambda task: rank(key, "task", task.task_id)):
        waiting[task.variant].append(task)
    variants = sorted(waiting, key=lambda variant: rank(key, "variant", variant))
    used: Counter[str] = Counter()
    chosen: list[Candidate] = []
    while len(chosen) < count:
        for variant in variants:
            if not waiting[variant] or len(chosen) == count:
                continue
            # min keeps the first of equals, and the list is in seeded order.
            task = min(waiting[variant], key=lambda task: used[task.instance_id])
            waiting[variant].remove(task)
            used[task.instance_id] += 1
            chosen.append(task)
    return chosen


def one_sided(
    tasks: Sequence[Candidate], apart: Callable[[str, str], bool], key: bytes
) -> list[Candidate]:
    """The tasks without those that another one's prompt answers.

    The variants asked of an instance fall into sides within which no two are ``apart``; instances
    keep their sides in turn, in a seeded order, so that each side is kept equally often.
    """
    asked: dict[str, list[str]] = defaultdict(list)
    for variant, instance in sorted({(task.variant, task.instance_id) for task in tasks}):
        asked[instance].append(variant)
    kept: dict[str, list[str]] = {}
    turns = 0
    for instance in sorted(asked, key=lambda name: rank(key, "side", name)):
        sides: list[list[str]] = []
        for variant in asked[instance]:
            fits = (s for s in sides if not any(apart(variant, member) for member in s))
            side = next(fits, None)
            if side is None:
                sides.append([variant])
            else:
                side.append(variant)
        kept[instance] = sides[turns % len(sides)]
        turns += len(sides) > 1
    return [task for task in tasks if task.variant in kept[task.instance_id]]


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
