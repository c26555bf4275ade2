"""What the reference solvers score on a balanced exam that the builder made."""

from collections.abc import Iterable, Mapping

import pytest
from built_exam import build

from baselines.__main__ import main
from grader.model import Score
from grader.pipeline import Session
from grader.release import Release
from grader.spec import VARIANTS

DATA_FAMILIES = sorted(
    {v.family for v in VARIANTS if v.track == "causalds" and v.input_mode == "data"}
)
SOLVERS = ("gold", "empty", "constant", "random", "naive", "informed")

Scores = Mapping[str, tuple[Score, ...]]


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Scores:
    """Each solver's scores, graded from the folder it wrote."""
    folder = tmp_path_factory.mktemp("balanced")
    release = build(folder)
    session = Session(Release.open(release), "dev", "balanced")
    found = {}
    for name in SOLVERS:
        out = folder / name
        assert main([name, "--release", str(release), "--out", str(out)]) == 0
        found[name] = tuple(session.grade(out).scores)
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


def test_gold_is_worth_everything_and_nothing_is_worth_nothing(scores: Scores) -> None:
    """The two ends of the scale."""
    assert mean(scores["gold"]) == pytest.approx(100, abs=1e-6)
    assert mean(scores["empty"]) == 0
    assert {score.status for score in scores["empty"]} == {"missing"}


@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "empty"])
def test_every_solver_answers_every_variant_validly(scores: Scores, name: str) -> None:
    """An invalid answer of a reference solver is a mistake in it or in the prompt."""
    assert {f"{s.family}.{s.variant}" for s in scores[name]} == {
        v.key for v in VARIANTS if v.track == "causalds"
    }
    assert [s.message for s in scores[name] if s.status != "scored"] == []


@pytest.mark.parametrize("family", DATA_FAMILIES)
def test_informed_is_no_worse_than_naive_on_any_family_with_data(
    scores: Scores, family: str
) -> None:
    """Reading the graph must pay, or the exam does not measure causal reasoning."""
    assert mean(scores["informed"], family=family) >= mean(scores["naive"], family=family)


def test_informed_beats_naive_and_naive_beats_guessing(scores: Scores) -> None:
    """The order of the scale as a whole, by more than a handful of lucky tasks."""
    informed, naive = mean(scores["informed"]), mean(scores["naive"])
    assert informed > naive + 20
    assert naive > max(mean(scores["constant"]), mean(scores["random"])) + 5


def test_measurements_keep_informed_well_below_gold_where_their_noise_cannot_be_averaged(
    scores: Scores,
) -> None:
    """A single row's outcome is not to be had from noisy measurements, however well one reads."""
    below = mean(scores["informed"], family="prediction", view="proxy")
    assert below < mean(scores["gold"], family="prediction", view="proxy") - 20
