"""What the reference solvers score on a balanced exam that the builder made."""

from collections.abc import Iterable, Mapping

import pytest
from built_exam import build

from baselines.__main__ import main
from grader.exam import choose_exam
from grader.io.release import Release
from grader.model import Score
from grader.pipeline import grade
from grader.tracks import VARIANTS

DATA_FAMILIES = sorted(
    {v.family for v in VARIANTS if v.track == "causalds" and v.shape.input_mode == "data"}
)
SOLVERS = ("gold", "empty", "constant", "random", "naive", "informed", "double-sampling")

EFFECTS = frozenset({"effect_estimate", "counterfactual_effect", "mediation_effect"})
NUMBERS = frozenset({"ate_point", "ate_uq_95", "effect_point", "effect_uq_95"})

Scores = Mapping[str, tuple[Score, ...]]


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Scores:
    """Each solver's scores, graded from the folder it wrote."""
    folder = tmp_path_factory.mktemp("balanced")
    release = build(folder)
    exam = choose_exam(Release.open(release), "dev", "balanced")
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


def test_measurements_keep_every_analyst_well_below_gold_in_prediction(scores: Scores) -> None:
    """A single row's outcome is not to be had from noisy measurements, however well one reads."""
    for name in ("informed", "double-sampling"):
        below = mean(scores[name], family="prediction", view="proxy")
        assert below < mean(scores["gold"], family="prediction", view="proxy") - 20


def test_measurements_keep_informed_below_gold_where_they_hide_an_effect(scores: Scores) -> None:
    """Identifiable numbers asked under measurements, against such numbers on clean data."""

    def effects(name: str, view: str) -> float:
        return mean(
            score
            for score in scores[name]
            if score.view == view
            and score.family in EFFECTS
            and score.variant in NUMBERS
            and not score.should_abstain
        )

    assert effects("informed", "clean") > 95
    assert effects("informed", "proxy") < effects("gold", "proxy") - 10
    assert effects("double-sampling", "proxy") > effects("informed", "proxy") - 1
