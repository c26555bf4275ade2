"""``python -m benchmarks.skill_coverage``: how often the interval of skill holds the truth.

    python -m benchmarks.skill_coverage --exams 200

Builds one small exam under many seeds, answers each as a solver that is right in a stated share of
tasks and otherwise knows nothing, and grades it. The skill of all exams together is as good as the
solver's own, so each exam's 95% interval should hold it in 95% of cases. The floors of the exam are
measured once. Exit code 1 if fewer than 90% or more than 98% do.
"""

import argparse
import hashlib
import math
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from builder.floors.measure import measure_exams
from builder.gate.report import GateReport
from builder.release.build import build_release
from builder.release.config import load_config
from builder.release.engine import Workers
from builder.release.floors import floors_file, twins_of, write_floors
from builder.release.roots import read_roots
from builder.release.show.progress import Reporter
from builder.tracks import TRACKS
from grader.exam import Exam, choose_exam
from grader.floors import Floors
from grader.io.pipe import exit_with
from grader.io.release import Release
from grader.model import Truth
from grader.pipeline import grade
from grader.shape import Task

SPLIT: Final = """
name = "coverage"
version = "0.1.0"

[splits.dev]
truth = "public"
seed = "coverage {number}"

[splits.dev.causalds]
scenes = 24
composition = "full"
rows = {{ train = 50, test = 100 }}
treatment_binary = 0.5
outcome_binary = 0.4
views = ["clean"]

[splits.dev.exams.coverage]
causalds = {{ tasks = "all" }}
"""
EXAM: Final = "coverage"
RIGHT: Final = 0.4
WANTED: Final = (0.90, 0.98)


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """One small exam: its skill with interval, and the two sums that skill is the ratio of."""

    skill: float
    low: float
    high: float
    gained: float
    room: float


@dataclass(frozen=True, slots=True)
class Job:
    """A seed's number, and the folder in which its split file and the floors are."""

    number: int
    folder: Path


def write_split(folder: Path, number: int) -> Path:
    """The split file of one seed."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"coverage-{number}.toml"
    file.write_text(SPLIT.format(number=number), encoding="utf-8")
    return file


def rebuild(job: Job) -> Rebuilt:
    """Builds, answers and grades the exam of one seed."""
    config = load_config(write_split(job.folder, job.number))
    roots, _ = read_roots(config)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build_release(
            config, folder / "release", roots, lambda *_: GateReport(()), workers=1,
            reporter=Reporter(quiet=True),
        )  # fmt: skip
        opened = Release.open(folder / "release")
        exam = choose_exam(opened, "dev", EXAM)
        answers = folder / "answers"
        answers.mkdir()
        for task, text in half_known(exam):
            (answers / task.answer_file).write_text(text, encoding="utf-8")
        graded = grade(exam, answers)
    floors = Floors.of(opened.public.manifest, EXAM, exam.tasks)
    gained, room = [], []
    tasks = {task.task_id: task for task in exam.tasks}
    for row in graded.scores:
        floor = floors.of_task(tasks[row.task_id])
        assert floor is not None, floors.notices
        gained.append(row.points - floor)
        room.append(1 - floor)
    report: dict[str, Any] = graded.report
    low, high = report["skill_interval"]
    return Rebuilt(report["skill"], low, high, math.fsum(gained), math.fsum(room))


def half_known(exam: Exam) -> Iterator[tuple[Task, str]]:
    """The right answer in a share of the scenes' tasks, a constant one elsewhere. How much is known
    differs from scene to scene, as it does of real solvers."""
    for task in exam.tasks:
        truth = exam.truths[task.task_id]
        known = _uniform(task.instance_id) < _uniform(f"{task.task_id}/right") + RIGHT - 0.5
        yield task, task.shape.gold(task, truth) if known else _constant(task, truth)


def _uniform(text: str) -> float:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:6], "big") / 2**48


def _constant(task: Task, truth: Truth) -> str:
    rng = np.random.default_rng(0)
    return TRACKS[task.track].floors.answer("constant", task, truth, rng)


def coverage(exams: int, workers: int, folder: Path) -> tuple[float, float]:
    """The skill of all exams together, and the share of intervals that hold it."""
    first = write_split(folder, 0)
    config = load_config(first)
    reporter = Reporter()
    twins = {EXAM: twins_of(config.splits[0], config.splits[0].exams[0])}
    seed = "coverage floors"
    found = measure_exams(
        twins, seed, folder / "unfinished", tasks=200, workers=workers, reporter=reporter
    )
    write_floors(floors_file(first, EXAM).parent, EXAM, seed, twins[EXAM], found[EXAM])
    jobs = [Job(number, folder) for number in range(exams)]
    rebuilt = []
    with reporter.stage("small exams", exams) as advance, Workers(workers) as pool:
        for one in pool.map(rebuild, jobs):
            rebuilt.append(one)
            advance()
    truth = 100 * math.fsum(r.gained for r in rebuilt) / math.fsum(r.room for r in rebuilt)
    return truth, sum(one.low <= truth <= one.high for one in rebuilt) / exams


def main() -> int:
    """Print the coverage."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--exams", type=int, default=200, metavar="N")
    parser.add_argument("--workers", type=int, default=1, metavar="N")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        truth, share = coverage(options.exams, options.workers, Path(name))
    print(f"skill {truth:.1f}; {share:.1%} of {options.exams} intervals of 95% hold it")
    return 0 if WANTED[0] <= share <= WANTED[1] else 1


if __name__ == "__main__":
    exit_with(main)
