"""``python -m benchmarks.measurement``: what the observation layer costs, scene by scene.

    python -m benchmarks.measurement release --scenes 40

Reference solvers answer every question for a number about some scenes of a release with public
truth, under each of the three views. Targets that are not identifiable are left out. The table
gives mean points and the median loss. Exit code 1 unless measurements cost ``informed`` more than
chance would, and ``double-sampling`` less.
"""

import argparse
import hashlib
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import pandas as pd
from rich.console import Console
from rich.table import Table

from baselines.release import OpenedExam, open_exam
from baselines.systems import answers, find_system
from baselines.writing import text_of
from grader.errors import UsageError
from grader.io.pipe import exit_with
from grader.io.release import Release
from grader.model import RawAnswer
from grader.score import score_answer

SOLVERS: Final = ("naive", "informed", "double-sampling")
WIDTH: Final = 110
VIEWS: Final = ("clean", "proxy", "proxy_hard")
KINDS: Final[Mapping[str, str]] = {
    "prediction.point_predictor": "predictions",
    "prediction.prediction_interval": "prediction intervals",
    "association.effect_size_point": "associations",
    "association.delta_point": "associations",
    "collider_phenomenon.induced_association_strength_point": "associations",
    "effect_estimate.ate_point": "effects",
    "effect_estimate.ate_uq_95": "effect intervals",
    "counterfactual_effect.effect_point": "effects",
    "counterfactual_effect.effect_uq_95": "effect intervals",
    "mediation_effect.effect_point": "effects",
    "mediation_effect.effect_uq_95": "effect intervals",
}
"""Variants that ask for a number, by the row of the table they belong to."""


def results(release: Path, split: str, count: int) -> pd.DataFrame:
    """Every solver's scores on the numbers asked of ``count`` scenes, drawn by hashes of ids.

    Columns: solver, kind, view, scene, points, loss.
    """
    exam = _numbers(open_exam(release, split, "all"), count)
    truths = Release.open(release).truths(split, list(exam.tasks))
    rows = []
    for solver in SOLVERS:
        for task, answer in answers(find_system(solver), exam):
            truth = truths[task.task_id]
            if truth.should_abstain:
                continue
            raw = RawAnswer(task.answer_file, text_of(answer).encode())
            found = score_answer(task, truth, raw)
            kind, scene = KINDS[task.spec.key], task.instance_id
            rows.append((solver, kind, task.view, scene, found.points, found.loss))
    return pd.DataFrame(rows, columns=["solver", "kind", "view", "scene", "points", "loss"])


def _numbers(exam: OpenedExam, count: int) -> OpenedExam:
    views = defaultdict(set)
    asked = [task for task in exam.tasks if task.track == "causalds" and task.spec.key in KINDS]
    for task in asked:
        views[task.instance_id].add(task.view)
    matched = [scene for scene, found in views.items() if found == set(VIEWS)]
    if not matched:
        raise UsageError("no scene of this split is asked about under all three views")
    order = sorted(matched, key=lambda scene: hashlib.sha256(scene.encode()).digest())
    kept = set(order[:count])
    return replace(exam, tasks=tuple(task for task in asked if task.instance_id in kept))


def cost(found: pd.DataFrame, solver: str, kind: str) -> tuple[float, float]:
    """Points that ``proxy_hard`` costs beside ``clean``: the mean over scenes and its error."""
    asked = found[(found.solver == solver) & (found.kind == kind)]
    points = asked.pivot_table("points", index="scene", columns="view")
    gaps = 100 * (points["clean"] - points["proxy_hard"]).dropna()
    return float(gaps.mean()), float(gaps.sem())


def table(found: pd.DataFrame) -> Table:
    """Mean points (median loss) by kind of question, solver and view."""
    title = "Points (median loss)"
    shown = Table("asked for", "solver", *VIEWS, "proxy_hard costs", title=title)
    by_cell = found.groupby(["kind", "solver", "view"]).agg({"points": "mean", "loss": "median"})
    for kind in dict.fromkeys(KINDS.values()):
        for solver in SOLVERS:
            cells = (by_cell.loc[kind, solver, view] for view in VIEWS)
            mean, error = cost(found, solver, kind)
            texts = (f"{100 * cell.points:.1f} ({cell.loss:.3f})" for cell in cells)
            shown.add_row(kind, solver, *texts, f"{mean:.1f} ± {error:.1f}")
    return shown


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer, score, print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measurement")
    parser.add_argument("release", type=Path)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--scenes", type=int, default=40)
    chosen = parser.parse_args(arguments)
    try:
        found = results(chosen.release, chosen.split, chosen.scenes)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    Console(width=WIDTH).print(table(found))
    bitten, doubt = cost(found, "informed", "effect intervals")
    healed, _ = cost(found, "double-sampling", "effect intervals")
    return 0 if bitten > max(3 * doubt, 2 * healed) else 1


if __name__ == "__main__":
    exit_with(main)
