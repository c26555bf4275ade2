"""What the reference solvers score on a balanced exam that the builder made."""

from collections.abc import Iterable, Mapping
from typing import Final

import pytest
from ungated import build_ungated

from baselines.__main__ import main
from grader.opening import open_release
from grader.pipeline import grade
from grader.release.exam import choose_exam
from grader.scoring.model import Score
from grader.tracks import VARIANTS

pytestmark = pytest.mark.slow  # every build's gate has gold earn 100 and silence 0

DATA_FAMILIES = sorted(
    {v.family for v in VARIANTS if v.track == "causalds" and v.shape.input_mode == "data"}
)
SOLVERS = ("gold", "constant", "random", "naive", "informed", "double-sampling")

SPLITS: Final = """
name = "small"
version = "0.1.0"
floor_tasks = 0

[splits.dev]
truth = "public"
seed = "baselines 1"

[splits.dev.causalds]
scenes = 36
composition = "full"
rows = { train = 1500, test = 100 }
treatment_binary = 0.75
outcome_binary = 0.4
views = ["clean", "proxy"]

[splits.dev.exams.balanced]
causalds = { exam = "balanced.toml" }
"""
EXAM: Final = """
kind = "balanced"
tasks = 132
"""

Scores = Mapping[str, tuple[Score, ...]]


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Scores:
    """Each solver's scores in a release that asks every variant, in clean and measured views,
    graded from the folder it wrote."""
    folder = tmp_path_factory.mktemp("balanced")
    (folder / "balanced.toml").write_text(EXAM, encoding="utf-8")
    (folder / "small.toml").write_text(SPLITS, encoding="utf-8")
    release = build_ungated(folder / "small.toml", folder / "release")
    exam = choose_exam(open_release(release), "dev", "balanced")
    found = {}
    for name in SOLVERS:
        out = folder / name
        assert main([name, "--release", str(release), "--out", str(out)]) == 0
        found[name] = tuple(grade(exam, out).scores)
    return found


def mean(scores: Iterable[Score], **wanted: str) -> float:
    """Mean points, in percent, of the scores whose attributes are as ``wanted``."""
    points = [
        score.points
        for score in scores
        if all(getattr(score, name) == value for name, value in wanted.items())
    ]
    assert points
    return 100 * sum(points) / len(points)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_answers_every_variant_validly(scores: Scores, name: str) -> None:
    """An invalid answer of a reference solver is a mistake in it or in the prompt."""
    assert {f"{s.family}.{s.variant}" for s in scores[name]} == {
        v.key for v in VARIANTS if v.track == "causalds"
    }
    assert [s.message for s in scores[name] if s.status != "scored"] == []


@pytest.mark.parametrize("family", DATA_FAMILIES)
def test_informed_is_no_worse_than_naive_on_any_family_with_data(scores, family):
    """Reading the graph must pay, or the exam does not measure causal reasoning."""
    chance = 1 if family == "prediction" else 0
    assert mean(scores["informed"], family=family) >= mean(scores["naive"], family=family) - chance


def test_informed_beats_naive_and_naive_beats_guessing(scores: Scores) -> None:
    """The order of the scale as a whole, by more than a handful of lucky tasks."""
    informed, naive = mean(scores["informed"]), mean(scores["naive"])
    assert informed > naive + 20
    assert naive > max(mean(scores["constant"]), mean(scores["random"])) + 5


def test_measurements_keep_every_analyst_well_below_gold_in_prediction(scores: Scores) -> None:
    """A single row's outcome is not to be had from noisy measurements, however well one reads."""
    for name in ("informed", "double-sampling"):
        below = mean(scores[name], family="prediction", view="proxy")
        assert below < mean(scores["gold"], family="prediction", view="proxy") - 20
