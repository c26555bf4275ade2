"""``python -m benchmarks.commonness``: whether pairs are easier that more is written about.

    python -m benchmarks.commonness release answers/mine answers/other

Stories that start from a causal pair of CauseNet could be answered from what everybody has read
(CausalDS A.12). The loss of every task, capped at 1, is regressed on the logarithm of the pair's
support in CauseNet, each against its like: tasks of one bundle, where an exam tells one problem
with several pairs, else of one variant. The interval resamples bundles, or scenes.
"""

import argparse
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from grader.answers.collect import read_submission
from grader.answers.submission import SubmissionLimits
from grader.commands.main import with_errors_told
from grader.errors import UsageError
from grader.io.process import exit_with
from grader.opening import open_release
from grader.pipeline import grade
from grader.release.exam import Split
from grader.release.release import ReleaseFolder
from grader.release.scenes import read_worlds
from grader.scoring.model import Score
from grader.statistics import bootstrap
from grader.statistics.bootstrap import draw_instances

CAP: Final = 1.0
"""The cap of a loss, as in the paper's diagnostic loss. What is missing or withheld costs it."""


@dataclass(frozen=True, slots=True)
class Case:
    """One task: its like in ``group``, resampled by ``cluster``; ln of support; loss cut to CAP."""

    group: str
    cluster: str
    commonness: float
    loss: float


@dataclass(frozen=True, slots=True)
class Slope:
    """The slope of loss on log support by least squares with an effect for each group.

    ``tasks``, ``groups`` and ``varied``, those with more than one support, are counts. ``rank`` is
    Spearman's correlation within groups. Figures are None where nothing varies.
    """

    tasks: int
    groups: int
    varied: int
    slope: float | None
    interval: list[float] | None
    rank: float | None


def cases(scores: Sequence[Score], supports: Mapping[str, int]) -> Iterator[Case]:
    """Yield a case a score with known support, grouped by bundle if these vary, else by variant."""
    known = [
        (score, supports[score.instance_id]) for score in scores if score.instance_id in supports
    ]
    pairs = {(score.bundle, support) for score, support in known if score.bundle}
    bundled = len(pairs) > len({bundle for bundle, _ in pairs})
    for score, support in known:
        group, cluster = f"{score.family}.{score.variant}", score.instance_id
        if bundled:
            group = cluster = score.bundle
        if group:
            yield Case(group, cluster, math.log(support), min(score.loss, CAP))


def regress(found: Sequence[Case]) -> Slope:
    """Return the slope of loss on log support within groups, with an interval that resamples
    ``found``'s clusters. It is None where no group has two supports."""
    supports = Counter(group for group, _ in {(case.group, case.commonness) for case in found})
    varied = sum(count > 1 for count in supports.values())
    if not varied:
        return Slope(len(found), len(supports), 0, None, None, None)
    _, group = np.unique([case.group for case in found], return_inverse=True)
    values = np.array([(case.commonness, case.loss) for case in found]).T

    def subtract_means(weights: NDArray[Any]) -> list[NDArray[np.float64]]:
        counts = np.maximum(np.bincount(group, weights), 1)
        return [row - (np.bincount(group, weights * row) / counts)[group] for row in values]

    def slope(weights: NDArray[Any]) -> float | None:
        commonness, loss = subtract_means(weights)
        spread = float((weights * commonness**2).sum())
        return None if spread < 1e-12 else float((weights * commonness * loss).sum()) / spread

    names = sorted({case.cluster for case in found})
    draws = draw_instances(names, bootstrap.seed_of(names))
    drawn = draws.counts[[draws.place[case.cluster] for case in found]].T
    slopes = [one for weights in drawn if (one := slope(weights)) is not None]
    ends = bootstrap.percentile_interval(slopes) if len(names) > 1 and slopes else None
    once = np.ones(len(found))
    commonness, loss = subtract_means(once)
    rank = float(spearmanr(commonness, loss).statistic) if loss.any() else None
    return Slope(len(found), len(supports), varied, slope(once), ends, rank)


def supports_of(release: ReleaseFolder, split: str, instances: Sequence[str]) -> dict[str, int]:
    """Return CauseNet's support of each instance's pair, or raise ``UsageError`` if of none."""
    found = {
        name: world["causenet"]["support"]
        for name, world in read_worlds(release, split, instances).items()
        if "causenet" in world
    }
    if not found:
        raise UsageError(
            f"{release.name}: no scene of {split} starts from a pair of CauseNet; build one with "
            'words = "llm" and llm.causenet = "causenet-precision.jsonl.bz2"'
        )
    return found


def line(system: str, found: Slope) -> str:
    """Return a system's line of the table, as text."""
    ends = "" if found.interval is None else "[{:+.3f}, {:+.3f}]".format(*found.interval)
    slope, rank = ("–" if x is None else f"{x:+.3f}" for x in (found.slope, found.rank))
    counted = f"{found.tasks:5} {found.varied:3}/{found.groups:<4}"
    return f"{system:<24} {counted} {slope:>7} {ends:<18} {rank:>7}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table with a line for each system."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("release", type=Path)
    parser.add_argument("answers", type=Path, nargs="+")
    parser.add_argument("--split")
    parser.add_argument("--exam")
    asked = parser.parse_args(arguments)

    def print_table() -> int:
        """Grade each folder of answers and print its slope; raises ``UsageError``."""
        split = Split.open(open_release(asked.release), asked.split, exam=asked.exam)
        print(f"{'system':<24} {'tasks':>5} groups   {'slope':>7} {'95% interval':<18} rank corr.")
        for folder in asked.answers:
            submission = read_submission(folder, split.tasks, SubmissionLimits())
            exam = split.choose_exam_for(frozenset(submission.answers))
            graded = grade(exam, submission, slice_intervals=False)
            instances = [task.instance_id for task in exam.tasks]
            known = supports_of(split.release, split.name, instances)
            print(line(folder.name, regress(list(cases(graded.scores, known)))))
        print("groups: with several supports, of all; below 0: commoner pairs are answered better")
        return 0

    return with_errors_told(print_table, "interrupted")


if __name__ == "__main__":
    exit_with(main)
