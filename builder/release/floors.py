"""The floors of a release: the best constant answer to each variant, and the points that it earns.

They are measured on a twin: instances made as those of the split are, from a seed of their own that
everybody knows, so that no floor is chosen in an exam that it is used for. The grader itself grades
every constant answer. Of the twin nothing is kept but points.

The gate holds them against a sample of the release's own tasks. The answer that each floor names
must be valid for every task. Where truth is public, and so every instance is asked what it can be,
it must earn the floor up to sampling error: no floor was changed by hand or is of other instances.
"""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from builder.release.engine import Workers
from builder.release.progress import Reporter
from builder.release.rows import read_task
from builder.splits.config import ReleaseConfig
from builder.splits.track import BuiltInstance, Floors, Graded, InstanceSpec, Track
from grader.errors import UsageError
from grader.release.release import ReleaseFolder
from grader.scoring.model import RawAnswer, Truth
from grader.scoring.score import GraderBug, check, score, verify
from grader.scoring.shape import Task
from grader.statistics.skill import Floors as Stated

SEED: Final = b"causal-exams floors"
"""The root of every twin, which everybody knows."""
NAME: Final = "twin/floors"
"""The name in place of a split's in the keys of a twin; no split can have it."""
ROUNDS: Final = 2
"""Rounds in which instances are added for variants that still have too few tasks."""
PART: Final = 5
"""Instances of one job."""
_DIGITS: Final = 6
SAMPLE: Final = 200
"""Tasks of a variant that are answered, those whose instances' ids have the smallest hashes."""
SIGMAS: Final = 5.0
"""Means may differ from floors by so many standard errors: some hundred are compared."""
CEILING: Final = 0.8
"""Points that a constant answer may not reach, one standard error apart, where labels or sets are
asked: one answer would nearly always be right. For a number, zero is an honest guess."""
CEILING_TASKS: Final = 20
"""Tasks that a variant must have for the limit to hold."""

Points = dict[str, float]
"""A share of the points by the name of a constant answer."""


@dataclass(frozen=True, slots=True)
class TwinJob:
    """Some instances of a twin of one track, each with the variants to grade on it."""

    track: str
    wanted: tuple[tuple[InstanceSpec, frozenset[str]], ...]

    def __str__(self) -> str:
        return f"{self.track}/{NAME}/{self.wanted[0][0].index}"


GradeTwin = Callable[[TwinJob], list[list[tuple[str, Points]]]]
"""Builds the instances of a job and grades every constant on them."""


def measure_floors(
    config: ReleaseConfig, grade: GradeTwin, pool: Workers, reporter: Reporter
) -> dict[str, Any]:
    """Return the floors of a release's manifest: split to track to its ``rules`` and ``variants``.

    ``grade`` is :func:`grade_constants` for the track of a job, as a function at module level.
    Splits whose twins have the same settings share one. A track without floors is left out.
    """
    known: list[tuple[str, Any, dict[str, Any]]] = []
    found: dict[str, dict[str, Any]] = {}
    for split in config.splits:
        for name, settings in split.tracks:
            track = config.tracks[name]
            floors = track.floors
            if floors is None or not config.floor_tasks:
                continue
            twin = floors.twin(settings, config.floor_tasks)
            entry = next((entry for track, own, entry in known if (track, own) == (name, twin)), {})
            if not entry:
                points = _grade_twin(track, grade, twin, config.floor_tasks, pool, reporter)
                best = {key: _best_constant(tasks) for key, tasks in sorted(points.items())}
                entry = {"rules": track.grader.rules, "variants": best}
                known.append((name, twin, entry))
            found.setdefault(split.name, {})[name] = entry
    return found


def _grade_twin(
    track: Track, grade: GradeTwin, twin: Any, tasks: int, pool: Workers, reporter: Reporter
) -> dict[str, list[Points]]:
    """Build a twin and return the points of all constants on each of its tasks, by variant. Where
    tasks of an instance count together, the key of their floor has the points on each instance."""
    floors, name = track.floors, track.name
    assert floors is not None
    specs = list(track.plan(twin, NAME, SEED, False))
    specs.sort(key=lambda spec: hashlib.sha256(f"floors/{spec.index}".encode()).digest())
    found: dict[str, list[Points]] = {}
    counts: Counter[str] = Counter()
    for _ in range(ROUNDS):
        wanted = _instances_to_build(specs, floors, counts, tasks)
        specs = [spec for spec in specs if spec.index not in wanted]
        items = tuple(wanted.values())
        jobs = [TwinJob(name, items[k : k + PART]) for k in range(0, len(items), PART)]
        if not jobs:
            break
        with reporter.stage(f"{name}: floors", len(jobs)) as advance:
            for instances in pool.map(grade, jobs):
                for own in instances:
                    counts.update({key for key, _ in own})
                    for key, points in own:
                        found.setdefault(key, []).append(points)
                advance()
    return found


def _instances_to_build(
    specs: Sequence[InstanceSpec], floors: Floors, counts: Counter[str], tasks: int
) -> dict[int, tuple[InstanceSpec, frozenset[str]]]:
    """Return the instances to build, by index, each with the variants that it is built for: the
    first that are asked a variant, until it has ``tasks`` beside the ``counts`` that it has."""
    expected, found = counts.copy(), {}
    for spec in specs:
        asked = [key for key in floors.variants_of(spec) if expected[key] < tasks]
        if asked:
            found[spec.index] = spec, frozenset(asked)
            expected.update(asked)
    return found


def grade_constants(job: TwinJob, track: Track) -> list[list[tuple[str, Points]]]:
    """Build the instances of a job and grade every constant answer on their tasks. Return for each
    instance what :func:`constant_points` yields."""
    floors = track.floors
    assert floors is not None
    found = []
    for spec, keys in job.wanted:
        tasks = (one for one in tasks_of(track, track.build(spec)) if one[0].spec.key in keys)
        found.append([*constant_points(floors, tasks)])
    return found


def constant_points(
    floors: Floors,
    tasks: Iterable[tuple[Task, Truth]],
    stated: Mapping[str, str] | None = None,
) -> Iterator[tuple[str, Points]]:
    """Yield the key of a floor and the points of every constant, for each task of an instance and,
    where its tasks count together, for the instance at the end.

    With ``stated`` (name by key of a floor) only these constants are graded. Raises ``ValueError``
    for an answer that is not valid.
    """
    together: dict[str, list[Graded]] = {}
    whole = floors.whole[0] if floors.whole is not None else ""
    for task, truth in tasks:
        points, key = {}, task.spec.key
        for name, text in floors.constants(task, truth):
            if stated is not None and name not in (stated.get(key), stated.get(whole)):
                continue
            graded = graded_answer(task, truth, text)
            points[name] = graded[2].points
            together.setdefault(name, []).append(graded)
        yield key, points
    if floors.whole is not None:
        key, worth = floors.whole
        shares = ((name, worth(members)) for name, members in together.items())
        if known := {name: share for name, share in shares if share is not None}:
            yield key, known


def graded_answer(task: Task, truth: Truth, text: str) -> Graded:
    """Return truth, checked answer and score of the answer ``text``, as the grader makes them.
    Raises ``ValueError`` for an invalid answer, which no constant may be."""
    checked = verify(task, truth, check(task, RawAnswer(task.answer_file, text.encode("utf-8"))))
    if checked.status != "scored":
        raise ValueError(f"{task.task_id} ({task.spec.key}): {checked.message}")
    return truth, checked, score(task, truth, checked)


def tasks_of(track: Track, built: BuiltInstance) -> Iterator[tuple[Task, Truth]]:
    """Yield the tasks of a built instance with their truths, as the grader would read them."""
    truths = {str(row["task_id"]): row for row in built.rows[f"{track.name}_truth"]}
    labels = {str(row["instance_id"]): row for row in built.rows.get(f"{track.name}_labels", ())}
    for row in built.rows[track.name]:
        yield read_task(row, truths, labels, track.grader)


def _best_constant(tasks: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Return the ``answer`` with the largest mean of ``points`` (0 to 1), the first of equal ones,
    that mean, and the number of ``tasks``. Each of these has the points of every constant."""
    means = {name: math.fsum(one[name] for one in tasks) / len(tasks) for name in tasks[0]}
    answer = max(means, key=lambda name: round(means[name], 12))
    return {"answer": answer, "points": round(means[answer], _DIGITS), "tasks": len(tasks)}


@dataclass(frozen=True, slots=True)
class FloorRow:
    """The floor of a variant beside what its answer earns on the release. Points are 0 to 1.

    ``points`` is the floor: the mean of ``answer`` on ``tasks`` tasks of the twin. ``own`` is its
    mean on ``own_tasks`` tasks of ``own_instances`` of the release.
    """

    split: str
    variant: str
    answer: str
    points: float
    tasks: int
    own: float
    own_tasks: int
    own_instances: int


def check_floors(
    opened: ReleaseFolder, tracks: Mapping[str, Track], split: str
) -> tuple[list[FloorRow], list[str]]:
    """Return the floors of a split and the problems with them; both are empty if it has no
    floors."""
    manifest = opened.public.manifest
    stated = manifest.get("floors", {}).get(split, {})
    tasks = [task for task in opened.tasks(split, prompts=False) if task.track in stated]
    problems = dict.fromkeys(Stated.from_manifest(manifest, split, tasks, opened.tracks).notices)
    rows: list[FloorRow] = []
    for name in stated if not problems else ():
        floors, told = tracks[name].floors, stated[name]["variants"]
        assert floors is not None
        own = _sample([task for task in tasks if task.track == name])
        truths = opened.truths(split, own)
        instances: dict[str, list[tuple[Task, Truth]]] = defaultdict(list)
        for task in own:
            instances[task.instance_id].append((task, truths[task.task_id]))
        places = Counter(key for key, _ in {(task.spec.key, task.instance_id) for task in own})
        for key, points in sorted(_points(floors, told, instances.values(), problems).items()):
            mean, asked = math.fsum(points) / len(points), len(points)
            stands = told[key]["answer"], told[key]["points"], told[key]["tasks"]
            rows.append(FloorRow(split, key, *stands, mean, asked, places.get(key, asked)))
    pools = {task.spec.key: task.shape.pool for task in tasks}
    public = opened.has_public_truth(split)
    for row in rows:
        if public and (off := _distance(row)) > SIGMAS:
            problems[
                f"{row.variant}: '{row.answer}' earns {row.own:.4f} on {row.own_tasks} tasks, its "
                f"floor is {row.points:.4f}, {off:.1f} standard errors away; if nobody changed it, "
                "chance did: build with another seed, or more floor_tasks"
            ] = None
        limit = CEILING + math.sqrt(CEILING * (1 - CEILING) / row.own_tasks)
        is_choice = pools.get(row.variant) in ("pass", "f1")
        if is_choice and row.own_tasks >= CEILING_TASKS and row.own >= limit:
            problems[f"{row.variant}: '{row.answer}' is nearly always right"] = None
    return rows, list(problems)


def _points(
    floors: Floors,
    stated: Mapping[str, Any],
    instances: Iterable[Sequence[tuple[Task, Truth]]],
    problems: dict[str, None],
) -> dict[str, list[float]]:
    """Return the points (0 to 1) of the answers that the manifest's floors of a track, ``stated``,
    name: for each floor, by its key, a list over tasks or, where these count together, instances.
    Problems with an answer are added to ``problems`` as keys."""
    points: dict[str, list[float]] = defaultdict(list)
    answers = {key: floor["answer"] for key, floor in stated.items()}
    for tasks in instances:
        try:
            for key, known in constant_points(floors, tasks, answers):
                if answers.get(key) in known:
                    points[key].append(known[answers[key]])
                elif floors.whole is None or key != floors.whole[0]:
                    problems[f"{key}: no constant answer is '{answers.get(key)}'"] = None
        except (ValueError, GraderBug, UsageError) as error:
            # A truth that no answer can be held against.
            problems[str(error)] = None
    return points


def _sample(tasks: Sequence[Task]) -> list[Task]:
    """Return about ``SAMPLE`` tasks of each variant, from instances in the order of their ids'
    hashes. A variant gets all its tasks of an instance or none."""
    ranked = sorted(tasks, key=lambda t: hashlib.sha256(f"floor/{t.instance_id}".encode()).digest())
    kept: dict[str, list[Task]] = {}
    for task in ranked:
        found = kept.setdefault(task.spec.key, [])
        if len(found) < SAMPLE or found[-1].instance_id == task.instance_id:
            found.append(task)
    return [task for found in kept.values() for task in found]


def _distance(row: FloorRow) -> float:
    """Return how many standard errors, of two shares with one mean, lie between the floor and the
    mean on the release; infinite where the error is 0 and the means differ."""
    both = row.tasks + row.own_tasks
    mean = (row.points * row.tasks + row.own * row.own_tasks) / both
    alike = row.own_tasks / row.own_instances
    error = math.sqrt(mean * (1 - mean) * (1 / row.tasks + 1 / row.own_tasks) * alike)
    off = abs(row.own - row.points)
    return 0.0 if off <= 1e-6 else off / error if error else math.inf
