"""``python -m benchmarks.frontier``: what systems and shortcuts earn in frontier exams of causalds.

    python -m benchmarks.frontier --each 10 --exams 6 --out measured
    python -m benchmarks.frontier --release release --split dev

The first builds private exams that ask so many tasks of every variant of
``splits/exams/frontier.toml``, each under a secret drawn for it and with the gate, and pools them;
a variant counts as often as the frontier exam asks it. An interrupted run goes on where it was.
The second takes the frontier exam of a release that is built. Exit code 1 if a limit is missed: the
reference that is told the graph earns at least 85, ``informed`` at most 60, the best combination of
shortcuts, chosen on ``dev``, at most 20, and no shortcut more than 30 on a variant.
"""

import argparse
import json
import os
import re
import secrets
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from baselines.release import OpenedExam, open_exam
from baselines.shortcuts import chosen, for_the_gate
from baselines.systems import answers, find_system
from baselines.writing import text_of
from benchmarks.timing import MAIN, ROOT
from builder.causalds.make.prior import PRIOR, SIDES
from builder.release.floors import FOLDER
from grader.exam import choose_exam
from grader.floors import Floors
from grader.io.pipe import exit_with
from grader.io.release import Release
from grader.model import RawAnswer
from grader.score import score_answer
from grader.shape import Task

TRACK: Final = "causalds"
EXAM: Final = "frontier"
MODEL: Final = MAIN.parent / "exams" / "frontier.toml"
VARIABLE: Final = "CAUSAL_EXAMS_FRONTIER_SECRET"
SYSTEMS: Final = ("gold", "logician", "informed", "naive")
PARROT: Final = "parrot"
TOGETHER: Final = "best combination"
SPLIT: Final = """
name = "frontier-measured"
version = "0.1.0"

[splits.test]
truth = "private"
secret_env = "{variable}"

[splits.test.causalds]
scenes = {scenes}
composition = "full"
rows = {{ train = {train}, test = {test} }}
treatment_binary = {treatment_binary}
outcome_binary = {outcome_binary}
outcome_measured = {outcome_measured}
views = ["clean", "proxy", "proxy_hard"]

[splits.test.exams.frontier]
causalds = {{ exam = "frontier.toml" }}
"""
LIMITS: Final = {"logician": (85.0, 100.0), "informed": (-np.inf, 60.0), TOGETHER: (-np.inf, 20.0)}
MOST_OF_A_RULE: Final = 30.0
_DRAWS: Final = 2000
Interval = tuple[float, float, float]
"""A figure and the ends of its interval."""


@dataclass(frozen=True, slots=True)
class Sat:
    """A task of an exam, and the points of whoever answered it: gaps are answers left out.
    ``prior``: whether an effect agrees with its reasons, "" of what is none."""

    instance: str
    variant: str
    abstain: bool
    floor: float
    ceiling: float
    points: Mapping[str, float]
    prior: str = ""


def asked() -> dict[str, int]:
    """How many tasks of each variant the frontier exam asks."""
    table = tomllib.loads(MODEL.read_text(encoding="utf-8"))["variants"]
    return {f"{family}.{name}": n for family, row in table.items() for name, n in row.items()}


def write_split(folder: Path, each: int) -> Path:
    """The private split of ``splits/main.toml`` with a frontier exam of ``each`` tasks a variant,
    as a configuration in ``folder``."""
    variants, scenes = asked(), each * len(asked())
    exam = re.sub(r"(?m)^tasks = \d+$", f"tasks = {scenes}", MODEL.read_text(encoding="utf-8"))
    for name in {key.partition(".")[2] for key in variants}:
        exam = re.sub(rf"(?m)^{name} = \d+$", f"{name} = {each}", exam)
    (folder / "frontier.toml").write_text(exam, encoding="utf-8")
    if not (folder / FOLDER).exists():
        (folder / FOLDER).symlink_to(MAIN.parent / FOLDER)
    table = tomllib.loads(MAIN.read_text(encoding="utf-8"))["splits"]["test"]["causalds"]
    shares = ("treatment_binary", "outcome_binary", "outcome_measured")
    settings = {**table["rows"], **{key: table[key] for key in shares}}
    file = folder / "split.toml"
    file.write_text(SPLIT.format(variable=VARIABLE, scenes=scenes, **settings), encoding="utf-8")
    return file


def build(folder: Path, each: int, number: int) -> Path:
    """The release of one exam; unfinished ones are gone on with, under the secret they have."""
    release, kept = folder / f"release-{number}", folder / f"secret-{number}"
    if not kept.exists():
        kept.touch(mode=0o600)
        kept.write_text(secrets.token_hex(32), encoding="utf-8")
    if not release.is_dir():
        command = [sys.executable, "build_dataset.py", "build", str(write_split(folder, each))]
        subprocess.run(
            [*command, "--out", str(release.resolve()), "--workers", "1"],
            cwd=ROOT,
            env=os.environ | {VARIABLE: kept.read_text(encoding="utf-8")},
            check=True,
        )
    return release


def sit(release: Path, split: str | None) -> list[Sat]:
    """The points of systems and rules in the frontier exam of a release."""
    private = release / "private"
    exam = open_exam(release, split, EXAM, private if private.is_dir() else None)
    exam = OpenedExam(
        exam.release, exam.split, exam.name, tuple(t for t in exam.tasks if t.track == TRACK),
        exam.path, exam.private,
    )  # fmt: skip
    opened = Release.open(release, exam.private)
    truths = choose_exam(opened, exam.split, EXAM, reveal=True).truths
    floors = Floors.of(opened.public.manifest, EXAM, exam.tasks)
    points: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for who, task, text in _answered(exam, release, exam.private):
        raw = RawAnswer(task.answer_file, text.encode("utf-8"))
        points[task.task_id][who] = score_answer(task, truths[task.task_id], raw).points
    found = []
    for task in exam.tasks:
        floor, truth = floors.of_task(task), truths[task.task_id]
        assert floor is not None, floors.notices
        worth = (task.spec.key, truth.should_abstain, floor, truth.ceiling)
        prior = truth.target.get(PRIOR, "")
        found.append(Sat(task.instance_id, *worth, points[task.task_id], prior))
    return found


def _answered(
    exam: OpenedExam, release: Path, private: Path | None
) -> Iterator[tuple[str, Task, str]]:
    for name in (*SYSTEMS, PARROT):
        for task, answer in answers(find_system(name), exam):
            yield name, task, text_of(answer)
    best = chosen()
    shown = Release(Release.open(release).public, None)
    asked = [task.task_id for task in exam.tasks if task.track == TRACK]
    for rule, task, text in for_the_gate().answers(shown, private, exam.split, asked):
        yield rule, task, text
        if best.get((TRACK, task.spec.key)) == rule:
            yield TOGETHER, task, text


def kept(release: Path, split: str | None) -> list[Sat]:
    """What :func:`sit` finds, kept beside the release."""
    file = release.with_name(f"{release.name}-{split or 'test'}.points.json")
    if not file.exists():
        file.write_text(json.dumps([asdict(one) for one in sit(release, split)]), encoding="utf-8")
    return [Sat(**one) for one in json.loads(file.read_text(encoding="utf-8"))]


def skill(who: str, tasks: Sequence[Sat], weights: Mapping[str, float]) -> Interval:
    """Skill with the ends of its 95% interval, from resampled instances; ``weights`` by variant.
    What is left unanswered counts as answered by the floor's policy."""
    instances = list(dict.fromkeys(task.instance for task in tasks))
    value, *drawn = _skills(_sums(who, tasks, weights, instances))
    return (value, *map(float, np.nanquantile(drawn, [0.025, 0.975])))


def gap(who: str, tasks: Sequence[Sat], weights: Mapping[str, float]) -> Interval:
    """The parrot gap: skill on effects that agree with their reasons minus that on effects that
    conflict with them, both of the same resampled instances."""
    sides = [[task for task in tasks if task.prior == side] for side in SIDES]
    instances = list(dict.fromkeys(task.instance for side in sides for task in side))
    agrees, conflicts = (_skills(_sums(who, side, weights, instances)) for side in sides)
    value, *drawn = agrees - conflicts
    return (value, *map(float, np.nanquantile(drawn, [0.025, 0.975])))


def _sums(
    who: str, tasks: Sequence[Sat], weights: Mapping[str, float], instances: Sequence[str]
) -> NDArray[np.float64]:
    """What is gained above the floor and the room above it, by instance, shape (instances, 2)."""
    place = {name: i for i, name in enumerate(instances)}
    found = np.zeros((len(instances), 2))
    for task in tasks:
        worth = task.points.get(who, task.floor), task.ceiling
        found[place[task.instance]] += [weights[task.variant] * (one - task.floor) for one in worth]
    return found


def _skills(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """The skill, at most 100, then its replicates; the same draws for as many instances."""
    rows = np.random.default_rng(0).integers(0, len(sums), (_DRAWS, len(sums)))
    drawn = np.concatenate([sums.sum(axis=0)[None], sums[rows].sum(axis=1)])
    room = np.where(drawn[:, 1] > 0, drawn[:, 1], np.nan)  # a draw may have none of a side
    return np.minimum(100 * drawn[:, 0] / room, 100.0)


def report(tasks: Sequence[Sat], weights: Mapping[str, float]) -> bool:
    """Prints the tables; whether every limit holds."""
    good = True
    print(f"{len(tasks)} tasks of {len({task.instance for task in tasks})} scenes")
    for who in (*SYSTEMS, TOGETHER):
        value, low, high = skill(who, tasks, weights)
        least, most = LIMITS.get(who, (-np.inf, np.inf))
        good &= least <= value <= most
        print(f"| {who} | {value:.1f} [{low:.1f}, {high:.1f}] |")
    if {task.prior for task in tasks} >= {*SIDES}:
        for who in (PARROT, "informed", "logician"):
            value, low, high = gap(who, tasks, weights)
            print(f"| parrot gap of {who} | {value:.1f} [{low:.1f}, {high:.1f}] |")
    print(f"| variant | tasks | abstain | floor | {' | '.join(SYSTEMS)} | largest shortcut |")
    by_variant: defaultdict[str, list[Sat]] = defaultdict(list)
    for task in tasks:
        by_variant[task.variant].append(task)
    for variant, own in sorted(by_variant.items()):
        rules = {who for task in own for who in task.points} - {*SYSTEMS, PARROT, TOGETHER}
        found = {rule: skill(rule, own, weights) for rule in sorted(rules)}
        rule = max(found, key=lambda name: found[name][0], default=None)
        told = "none"
        if rule is not None:
            value, low, high = found[rule]
            good &= value <= MOST_OF_A_RULE
            told = f"{rule} {value:.0f} [{low:.0f}, {high:.0f}]"
        earned = " | ".join(f"{skill(who, own, weights)[0]:.0f}" for who in SYSTEMS)
        due = sum(task.abstain for task in own) / len(own)
        print(f"| {variant} | {len(own)} | {due:.0%} | {own[0].floor:.2f} | {earned} | {told} |")
    return good


def main(arguments: Sequence[str] | None = None) -> int:
    """Build or open, sit, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frontier")
    parser.add_argument("--each", type=int, default=10, help="tasks of each variant in an exam")
    parser.add_argument("--exams", type=int, default=6, help="exams, each under its own secret")
    parser.add_argument("--out", type=Path, default=Path("frontier-measured"))
    parser.add_argument(
        "--release", type=Path, nargs="+", help="releases that are built, in place of these"
    )
    parser.add_argument("--split", help="its split")
    given = parser.parse_args(arguments)
    if given.release is not None:
        found = [one for release in given.release for one in kept(release, given.split)]
    else:
        given.out.mkdir(parents=True, exist_ok=True)
        releases = [build(given.out, given.each, number) for number in range(1, given.exams + 1)]
        found = [one for release in releases for one in kept(release, None)]
    there = Counter(one.variant for one in found)
    wanted = asked()
    return 0 if report(found, {key: wanted[key] / n for key, n in there.items()}) else 1


if __name__ == "__main__":
    exit_with(main)
