"""Metric definitions, each on cases worked by hand."""

import json
from typing import Any

import pytest
from causalab_episodes import CHAIN, TARGET, chain_episode, make_row
from lab_tasks import grade, task_and_truth

from grader.laboratory.episode import Episode
from grader.laboratory.hypothesis import Hypothesis
from grader.laboratory.session import Laboratory
from grader.tracks.causalab.metrics import rates, reading_slack, roots, shd, tolerance
from grader.tracks.causalab.shapes import score_hypothesis, true_hypothesis

TRUE = {("density", "moisture"), ("moisture", TARGET), ("density", TARGET)}
RIGHT = {"moisture": (3.0, 0.0), "density": (1.0, 0.0)}


def scored(
    edges: set[tuple[str, str]],
    terms: dict[str, tuple[float | None, float | None]] | None = None,
    base: float | None = 20.0,
    episode: Episode | None = None,
    prediction: float | None = None,
) -> dict[str, Any]:
    hypothesis = Hypothesis(frozenset(edges), base, RIGHT if terms is None else terms)
    return score_hypothesis(episode or chain_episode(), hypothesis, prediction)


@pytest.mark.parametrize(
    ("hits", "predicted", "true", "precision", "recall", "f1"),
    [
        (2, 4, 3, 0.5, 2 / 3, 4 / 7),
        (0, 0, 0, 1, 1, 1),
        (0, 0, 3, 0, 0, 0),
        (0, 2, 0, 0, 0, 0),
        (0, 2, 3, 0, 0, 0),
    ],
)
def test_precision_recall_and_f1_with_their_edge_cases(
    hits: int, predicted: int, true: int, precision: float, recall: float, f1: float
) -> None:
    assert rates(hits, predicted, true) == pytest.approx((precision, recall, f1))


def test_a_perfect_hypothesis_has_perfect_metrics() -> None:
    found = scored(TRUE)
    for name in ("edge_f1", "skeleton_f1", "freq_edge_f1", "root_f1",
                 "coefficient_f1", "coefficient_f1_reference"):  # fmt: skip
        assert found[name] == 1.0, name
    assert (found["shd"], found["base_error"], found["graph_exact"]) == (0, 0.0, 1)


def test_a_reversed_edge_costs_direction_but_not_the_skeleton() -> None:
    found = scored({("moisture", "density"), ("moisture", TARGET), ("density", TARGET)})
    assert found["edge_f1"] == pytest.approx(2 / 3)
    assert (found["skeleton_f1"], found["shd"], found["freq_edge_f1"]) == (1.0, 1, 1.0)
    assert found["root_f1"] == 0.0, "moisture instead of density"


@pytest.mark.parametrize(
    ("predicted", "distance"),
    [
        (set(), 3),
        ({("a", "b"), ("b", "c"), ("a", "c")}, 0),
        ({("b", "a"), ("b", "c"), ("a", "c")}, 1),
        ({("a", "b"), ("b", "a"), ("b", "c"), ("a", "c")}, 1),  # both ways: one extra
        ({("b", "a"), ("c", "b"), ("c", "a")}, 3),
        ({("a", "b"), ("a", "d")}, 3),
    ],
)
def test_the_structural_distance_counts_a_reversal_once(predicted, distance):
    assert shd(predicted, {("a", "b"), ("b", "c"), ("a", "c")}) == distance


def test_roots_are_the_ancestors_of_the_target_without_parents() -> None:
    edges = {("a", "b"), ("b", TARGET), ("c", "d"), ("e", TARGET)}
    assert roots(edges, TARGET) == {"a", "e"}, "c does not reach the target"
    assert roots({("a", "b")}, TARGET) == frozenset()
    assert roots({("a", TARGET), (TARGET, "a")}, TARGET) == frozenset(), "a circle has no root"


def test_the_coefficient_tolerance_is_relative_plus_what_rounding_does() -> None:
    """0.01 over a range of 100 is 1e-4 of a line's slope; 3 may be off by 3.1e-3."""
    episode = chain_episode()
    assert reading_slack(episode, "moisture", 1) == pytest.approx(1e-4)
    assert tolerance(episode, "moisture", 1, 3.0) == pytest.approx(3.1e-3)
    for error, right in ((3.0e-3, 1.0), (3.2e-3, 0.5)):
        terms: dict[str, tuple[float | None, float | None]] = {
            **RIGHT,
            "moisture": (3 + error, 0.0),
        }
        assert scored(TRUE, terms)["coefficient_f1"] == right
        assert scored(TRUE, terms)["coefficient_f1_reference"] == 0.5


def test_unknown_and_superfluous_coefficients_cost_precision() -> None:
    unknown: dict[str, tuple[float | None, float | None]] = {**RIGHT, "density": (None, 0.0)}
    assert scored(TRUE, unknown)["coefficient_f1"] == 0.5
    extra = {**RIGHT, "ph": (2.0, 0.0)}
    assert scored(TRUE, extra)["coefficient_f1"] == pytest.approx(0.8)
    only = {"moisture": (3.0, 0.0)}
    assert scored(TRUE, only)["coefficient_f1"] == pytest.approx(2 / 3)


def test_a_declared_zero_is_no_term_for_us_but_one_for_the_reference() -> None:
    found = scored(TRUE, {**RIGHT, "ph": (0.0, 0.0)})
    assert found["coefficient_f1"] == 1.0
    assert found["coefficient_f1_reference"] == pytest.approx(0.8)


def test_both_terms_of_a_quadratic_count_where_the_reference_sees_the_linear_one() -> None:
    equations = {TARGET: [("density", -1.5, 0.012), ("ph", -1.0, 0.008)]}
    episode = Episode.load(**make_row(equations, family="quadratic"))
    edges = {("density", TARGET), ("ph", TARGET)}
    right: dict[str, tuple[float | None, float | None]] = {
        "density": (-1.5, 0.012), "ph": (-1.0, 0.008),
    }  # fmt: skip
    assert scored(edges, right, episode=episode)["coefficient_f1"] == 1.0
    wrong = {**right, "ph": (-1.0, 0.016)}
    found = scored(edges, wrong, episode=episode)
    assert (found["coefficient_f1"], found["coefficient_f1_reference"]) == (0.75, 1.0)
    # A square may be off by 1e-3 of itself and by what rounding does over the range.
    assert reading_slack(episode, "density", 2) == pytest.approx(4e-6)
    assert reading_slack(episode, "density", 1) == pytest.approx(4e-4)


@pytest.mark.parametrize(
    ("offset", "accurate", "exact"),
    [(0, 1, 1), (0.004, 1, 1), (0.01, 1, 0), (5, 1, 0), (-5, 1, 0), (5.01, 0, 0), (-5.01, 0, 0)],
)
def test_accuracy_is_symmetric_and_exactness_beside_it(offset, accurate, exact):
    episode = chain_episode()
    found = scored(TRUE, episode=episode, prediction=episode.frequency + offset)
    assert (found["accurate"], found["exact"]) == (accurate, exact)
    assert found["error"] == pytest.approx(abs(offset))


def test_points_are_half_accuracy_and_half_edge_f1_never_exactness() -> None:
    row = make_row(CHAIN)
    task, truth = task_and_truth(row)
    episode = Episode.load(**row)
    for offset, edges_right, points in ((4.9, True, 1.0), (9, True, 0.5), (4.9, False, 0.5)):
        session = Laboratory(episode)
        hypothesis = true_hypothesis(episode) if edges_right else None
        session.predict(episode.frequency + offset, hypothesis)
        result = grade(task, truth, session.transcript_text())
        assert result.points == points and result.loss == 1 - points


def test_gold_has_all_points_with_and_without_interventions() -> None:
    for options in ({}, {"budget": 0, "opening": False}, {"chain": [("density", 4.0)]}):
        task, truth = task_and_truth(make_row(CHAIN, **options))
        result = grade(task, truth, task.shape.gold(task, truth))
        assert (result.status, result.points, result.loss) == ("scored", 1.0, 0.0), result.message


def test_the_short_form_is_for_tasks_without_interventions() -> None:
    free, truth = task_and_truth(make_row(CHAIN, budget=0, opening=False))
    answer = free.shape.gold(free, truth)
    assert json.loads(answer).keys() == {"prediction", "hypothesis"}
    refused = grade(*task_and_truth(make_row(CHAIN)), answer)
    assert (refused.status, refused.reason) == ("invalid", "transcript")
    assert "without a transcript" in refused.message


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "no_answer"),
        ("", "empty"),
        ("{}", "schema"),
        ("[]", "not_object"),
        ("7", "not_object"),
        ('{"prediction": null}', "schema"),
        ('{"prediction": null, "hypothesis": null}', "schema"),
        ('{"prediction": 1, "guess": 2}', "schema"),
        ('{"prediction": "1", "hypothesis": {}}', "schema"),
        ('{"prediction": NaN, "hypothesis": {}}', "non_finite"),
        ('{"hypothesis": {"edges": []}}', "hypothesis"),
        (
            '{"hypothesis": {"edges": [{"from":"density","to":"quark"}], '
            '"freq_equation": "base", "coefficients": {"base": 1}}}',
            "hypothesis",
        ),
    ],
)
def test_a_bad_short_form_is_invalid_with_its_reason(answer: str | None, reason: str) -> None:
    task, truth = task_and_truth(make_row(CHAIN, budget=0, opening=False))
    result = grade(task, truth, answer)
    assert (result.reason, result.points) == (reason, 0.0)
    assert "\n" not in result.message and task.answer_file in result.message
