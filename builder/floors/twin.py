"""A public-seed twin of an exam: instances built in memory, and every policy's points on them.

Instances come in batches of the settings that the track calls the twin's, each with a split name of
its own, until every variant (and regime) has enough tasks; what has enough is no longer
graded. Of an instance nothing is kept but points and what composing an exam looks at.
"""

import math
import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from builder.release.engine import Workers
from builder.release.show.progress import Reporter
from builder.track import Built, Graded, InstanceSpec, Track
from builder.tracks import TRACKS
from grader.errors import UsageError
from grader.io.files import replacing
from grader.io.jsonio import canonical
from grader.io.rows import task_of, truth_of
from grader.model import RawAnswer, Truth
from grader.score import score, verify
from grader.shape import Task
from grader.submission.check import check
from grader.tracks import TRACKS as GRADED

PART: Final = 10
"""Instances of one job: what is lost where a run is interrupted."""

MOST_BATCHES: Final = 60

Cell = tuple[str, str]
"""A variant's key and a regime, "" where it has none."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The points of every policy on one task (or on an instance as a whole): ``points`` in the
    order of ``policies``. ``world`` is the same for instances that show one hidden world."""

    task_id: str
    world: str
    cell: Cell
    policies: tuple[str, ...]
    points: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TwinPart:
    """What is kept of some instances; ``candidates`` are for composing exams."""

    measured: tuple[Measured, ...]
    candidates: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class TwinJob:
    """Some instances to build and grade; cells in ``enough`` are left out."""

    track: str
    specs: tuple[InstanceSpec, ...]
    composed: bool
    enough: frozenset[Cell]
    file: Path


def draw_twin(
    name: str,
    settings: Any,
    seed: str,
    folder: Path,
    *,
    composed: bool,
    tasks: int,
    asked: frozenset[str] | None,
    workers: int,
    reporter: Reporter,
) -> TwinPart:
    """The twin of ``settings`` (one batch's), at least ``tasks`` a cell of the variants ``asked``
    (None: of all).

    Parts are kept in ``folder``, so that an interrupted run goes on. Raises ``UsageError`` where a
    variant is so rare that ``MOST_BATCHES`` do not suffice.
    """
    counts: Counter[Cell] = Counter()
    measured: list[Measured] = []
    candidates: list[Any] = []
    folder.mkdir(parents=True, exist_ok=True)
    for batch in range(MOST_BATCHES):
        enough = _enough(counts, tasks, together=TRACKS[name].floors.whole is not None)
        enough |= {cell for cell in counts if not _counts(cell, asked)}
        specs = TRACKS[name].plan(settings, f"floors_{batch}", seed.encode("utf-8"), False)
        jobs = [
            TwinJob(
                name,
                tuple(specs[start : start + PART]),
                composed,
                enough,
                folder / f"{batch:03d}-{start:06d}.part",
            )
            for start in range(0, len(specs), PART)
        ]
        with (
            reporter.stage(f"{name}: twin, batch {batch + 1}", len(jobs)) as advance,
            Workers(workers) as pool,
        ):
            for part in pool.map(measure_part, jobs):
                measured += part.measured
                candidates += part.candidates
                counts.update(one.cell for one in part.measured)
                advance()
        measured.sort(key=lambda one: (one.task_id, one.cell))
        rare = min(filter(lambda cell: _counts(cell, asked), counts), key=counts.__getitem__)
        if counts[rare] >= tasks:
            return TwinPart(tuple(measured), tuple(candidates))
    raise UsageError(
        f"{name} {' '.join(rare).strip()}: {counts[rare]} tasks in {MOST_BATCHES} batches are "
        f"fewer than {tasks}; lower --tasks, or ask the variant of more instances"
    )


def _counts(cell: Cell, asked: frozenset[str] | None) -> bool:
    """Whether a cell is of a variant that is asked."""
    return asked is None or cell[0] in asked


def _enough(counts: Mapping[Cell, int], tasks: int, *, together: bool) -> frozenset[Cell]:
    """The cells that have enough tasks; where those of an instance count ``together``, all cells of
    a variant must."""
    short = {cell for cell, count in counts.items() if count < tasks}
    keys = {key for key, _ in short} if together else set()
    return frozenset(cell for cell in counts if cell not in short and cell[0] not in keys)


def measure_part(job: TwinJob) -> TwinPart:
    """Builds the instances of a job and grades every policy on them, or finds that done."""
    try:
        found = pickle.loads(job.file.read_bytes())
        if isinstance(found, TwinPart):
            return found
    except (OSError, EOFError, ValueError, AttributeError, ImportError, pickle.UnpicklingError):
        pass  # not there, or half written by a machine that went down: measured again
    track = TRACKS[job.track]
    measured: list[Measured] = []
    candidates: list[Any] = []
    for spec in job.specs:
        built = track.build(spec)
        measured += measure_instance(track, built, job.enough)
        if job.composed and track.exams is not None:
            candidates += track.exams.candidates(
                lambda config, _, rows=built.rows: rows[config]  # type: ignore[misc]
            )
    part = TwinPart(tuple(measured), tuple(candidates))
    with replacing(job.file) as temporary:
        temporary.write_bytes(pickle.dumps(part))
    return part


def measure_instance(
    track: Track, built: Built, enough: frozenset[Cell] = frozenset()
) -> Iterator[Measured]:
    """The points of every policy on the tasks of an instance, and on it as a whole."""
    world = str(built.rows[f"{track.name}_worlds"][0]["key"])
    regime = GRADED[track.name].regime
    whole: dict[str, list[Graded]] = {}
    known: dict[str, Graded] = {}
    for task, truth in asked(track.name, built):
        cell = (task.spec.key, "" if regime is None else regime(task))
        if cell in enough:
            continue
        points = {}
        for policy, graded in graded_policies(track, task, truth, known):
            points[policy] = math.fsum(row.points for _, _, row in graded) / len(graded)
            whole.setdefault(policy, []).extend(graded)
        yield Measured(task.task_id, world, cell, tuple(points), tuple(points.values()))
    if track.floors.whole is not None:
        yield from _as_a_whole(track, world, whole)


def _as_a_whole(
    track: Track, world: str, graded: Mapping[str, Sequence[Graded]]
) -> Iterator[Measured]:
    assert track.floors.whole is not None
    points: dict[Cell, dict[str, float]] = {}
    for policy, members in graded.items():
        found = track.floors.whole(members)
        if found is not None:
            key, regime, worth = found
            points.setdefault((key, regime), {})[policy] = worth
    for cell, each in points.items():
        yield Measured(world, world, cell, tuple(each), tuple(each.values()))


def asked(name: str, built: Built) -> Iterator[tuple[Task, Truth]]:
    """The tasks of an instance with their truths, as the grader would read them."""
    truths = {row["task_id"]: row for row in built.rows[f"{name}_truth"]}
    beside = {row["instance_id"]: row for row in built.rows.get(f"{name}_labels", ())}
    for row in built.rows[name]:
        task, labels = task_of(row), None
        if task.shape.kind == "predictions":
            labels = [float(value) for value in _values(beside[task.instance_id]["values"])]
        yield task, truth_of(truths[task.task_id], labels)


def _values(column: object) -> Iterable[Any]:
    assert isinstance(column, Iterable)
    return column


def graded_policies(
    track: Track,
    task: Task,
    truth: Truth,
    known: dict[str, Graded],
    only: frozenset[str] | None = None,
) -> Iterator[tuple[str, list[Graded]]]:
    """Every policy with its answers to a task, as the grader checks and scores them.

    ``known`` keeps what was graded of an instance: its views ask the same of the same truth.
    ``only`` names the policies that are wanted, all without it.
    """
    assert track.floors.policies is not None
    truly = canonical([task.spec.key, truth.should_abstain, truth.value, truth.target])
    for policy, answers in track.floors.policies(task, truth):
        if only is not None and policy not in only:
            continue
        for text in answers:
            if truly + text not in known:
                raw = RawAnswer(task.answer_file, text.encode("utf-8"))
                checked = verify(task, truth, check(task, raw))
                if checked.status != "scored":
                    raise ValueError(f"{task.spec.key}: the policy {policy}: {checked.message}")
                known[truly + text] = truth, checked, score(task, truth, checked)
        yield policy, [known[truly + text] for text in answers]
