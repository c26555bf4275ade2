"""Metric definitions by hand; the report: aggregates recomputed, missing answers counted."""

import json
from dataclasses import replace
from typing import Any

import pytest
from laboratories import (
    CHAIN,
    TARGET,
    chain_episode,
    grade,
    make_row,
    random_episode,
    task_and_truth,
)

from grader.laboratory.episode import Episode
from grader.laboratory.hypothesis import Hypothesis
from grader.laboratory.session import Laboratory, RefusedRequest
from grader.pages import page as draw
from grader.pages.terminal import TerminalTable, console
from grader.reports.table import ScoreTable, TrackResults
from grader.scoring.model import RawAnswer, Score, TrackSummary
from grader.scoring.score import check
from grader.statistics.bootstrap import wilson
from grader.tracks.causalab import shapes, summarise
from grader.tracks.causalab.metrics import rates, reading_slack, roots, shd, tolerance
from grader.tracks.causalab.tables import SPECIFICATION, accuracy_against_edges, session_page

TRUE = {("density", "moisture"), ("moisture", TARGET), ("density", TARGET)}
RIGHT = {"moisture": (3.0, 0.0), "density": (1.0, 0.0)}


def scored(edges, terms=RIGHT, episode=None, prediction=None) -> dict[str, Any]:
    hypothesis = Hypothesis(frozenset(edges), 20.0, terms)
    return shapes.score_hypothesis(episode or chain_episode(), hypothesis, prediction)


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
def test_precision_recall_and_f1_with_edge_cases(hits, predicted, true, precision, recall, f1):
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


@pytest.mark.parametrize(
    ("terms", "ours", "reference"),
    [
        ({**RIGHT, "moisture": (3 + 3.0e-3, 0.0)}, 1.0, 0.5),
        ({**RIGHT, "moisture": (3 + 3.2e-3, 0.0)}, 0.5, 0.5),
        ({**RIGHT, "density": (None, 0.0)}, 0.5, 0.5),
        ({**RIGHT, "ph": (2.0, 0.0)}, 0.8, 0.8),
        ({**RIGHT, "ph": (0.0, 0.0)}, 1.0, 0.8),  # no term for us, but one for the reference
        ({"moisture": (3.0, 0.0)}, 2 / 3, 2 / 3),
    ],
)
def test_unknown_and_superfluous_coefficients_cost_precision(terms, ours, reference):
    found = scored(TRUE, terms)
    assert found["coefficient_f1"] == pytest.approx(ours)
    assert found["coefficient_f1_reference"] == pytest.approx(reference)


def test_both_terms_of_a_quadratic_count_where_the_reference_sees_the_linear_one() -> None:
    equations = {TARGET: [("density", -1.5, 0.012), ("ph", -1.0, 0.008)]}
    episode = Episode.load(**make_row(equations, family="quadratic"))
    edges = {("density", TARGET), ("ph", TARGET)}
    right = {"density": (-1.5, 0.012), "ph": (-1.0, 0.008)}
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
        hypothesis = shapes.true_hypothesis(episode) if edges_right else None
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
        ('{"hypothesis": {"edges": [["density", "quark"]], "freq_equation": "base", '
         '"coefficients": {"base": 1}}}', "hypothesis"),
    ],
)  # fmt: skip
def test_a_bad_short_form_is_invalid_with_its_reason(answer: str | None, reason: str) -> None:
    task, truth = task_and_truth(make_row(CHAIN, budget=0, opening=False))
    result = grade(task, truth, answer)
    assert (result.reason, result.points) == (reason, 0.0)
    assert "\n" not in result.message and task.answer_file in result.message


def row_of(seed: int, suite: str, regime: str, **options: Any) -> dict[str, Any]:
    episode = random_episode(seed, 4, task_id=f"lab-{seed:016x}", **options)
    private = {**episode.private, "suite": suite, "regime": regime}
    return {"task_id": episode.task_id, "public": dict(episode.public), "private": private}


def answered(row: dict[str, Any], offset: float, known: bool, spent: int) -> Score:
    """A session with ``spent`` interventions and a prediction that is off by ``offset``."""
    episode = Episode.load(**row)
    task, truth = task_and_truth(row)
    session = Laboratory(episode)
    for k in range(spent):
        session.intervene(episode.names[k % 3], 13.0 * k)
    hypothesis = shapes.true_hypothesis(episode) if known else None
    session.predict(episode.frequency + offset, hypothesis)
    return grade(task, truth, session.transcript_text())


@pytest.fixture(scope="module")
def scores() -> list[Score]:
    """Two suites: one with a right, a wrong and a missing answer, one observed only."""
    missing = row_of(3, "main-4", "2o12i")
    found = [
        answered(row_of(1, "main-4", "2o12i"), 0, True, 3),
        answered(row_of(2, "main-4", "2o12i"), 50, False, 6),
        grade(*task_and_truth(missing), None),
    ]
    observed = row_of(4, "3o0i-4", "3o0i", records=3, budget=0, opening=False)
    task, truth = task_and_truth(observed)
    answer = {"prediction": 1.0, "hypothesis": shapes.true_hypothesis(Episode.load(**observed))}
    return [*found, grade(task, truth, json.dumps(answer))]


def summary_of(scores: list[Score]) -> TrackSummary:
    with ScoreTable(scores) as table:
        return summarise(TrackResults(table, scores, {}, {}))


def test_suites_have_one_denominator_and_wilson_intervals(scores: list[Score]) -> None:
    summary = summary_of(scores)
    suites = summary.members["suites"]
    assert list(suites) == ["3o0i-4 3o0i", "main-4 2o12i"]
    main_suite = suites["main-4 2o12i"]
    assert (main_suite["tasks"], main_suite["answered"]) == (3, 2)
    assert main_suite["accuracy"] == pytest.approx(1 / 3)
    assert main_suite["intervals"]["accuracy"] == wilson(1, 3)
    assert main_suite["edge_f1"] == pytest.approx(1 / 3)
    extras = [json.loads(score.extra_json) for score in scores]
    edges = [extra["true_edges"] for extra in extras[:3]]
    assert main_suite["shd"] == pytest.approx((0 + edges[1] + edges[2]) / 3)
    assert main_suite["budget_share"] == pytest.approx((3 / 12 + 6 / 12) / 2)
    assert main_suite["budget_share_accurate"] == 0.25
    assert main_suite["n_transcripts"] == 2 and main_suite["n_signed"] == 0
    observed = suites["3o0i-4 3o0i"]
    assert observed["n_transcripts"] == 0 and observed["budget_share"] is None
    assert (observed["accuracy"], observed["edge_f1"]) == (0, 1)
    assert extras[3]["premature"] is None and main_suite["n_stopping"] == 2
    assert (observed["n_stopping"], observed["premature"]) == (0, None), "no case of stopping"
    assert observed["intervals"]["premature"] is None


@pytest.mark.parametrize(
    "name",
    ["accurate", "exact", "edge_precision", "edge_recall", "edge_f1",
     "skeleton_f1", "freq_edge_f1", "root_f1", "coefficient_f1", "graph_exact"],
)  # fmt: skip
def test_aggregates_are_means_over_all_tasks(scores: list[Score], name: str) -> None:
    extras = [json.loads(score.extra_json) for score in scores]
    mean = sum(extra.get(name) or 0 for extra in extras) / len(extras)
    key = "accuracy" if name == "accurate" else name
    assert summary_of(scores).metrics[key] == pytest.approx(mean)


def _reports(scores: list[Score], name: str) -> list[dict[str, Any]]:
    summary = summary_of(scores)
    track = {"attempted": 3, "metrics": dict(summary.metrics), **summary.members}
    return [{"submission": {"system": name}, "tracks": {"causalab": track}}]


def test_the_pages_sections_are_escaped_and_say_what_replay_proves(scores: list[Score]) -> None:
    text = draw.page(
        "title", "", SPECIFICATION.of_reports(_reports(scores, "<script>alert(1)</script>")), ""
    )
    assert "<script>" not in text and "&lt;script&gt;" in text
    assert "possible session" in text and "--transcript-key" in text
    assert SPECIFICATION.of_reports([{"submission": {"system": "x"}, "tracks": {}}]) == []


def test_the_terminal_shows_every_suite(scores, capsys):
    console().print(*map(TerminalTable, SPECIFICATION.in_terminal(_reports(scores, "x")[0])))
    shown = capsys.readouterr().out
    assert "main-4 2o12i" in shown and "0.333" in shown and "possible" in shown


def test_an_arrow_leads_from_observed_to_mixed_of_one_size() -> None:
    """Figure 3: two observed regimes average to (0.9, 0.45), the mixed one is (0.8, 0.8)."""
    suites = {
        "3o0i-4 3o0i": {"accuracy": 1.0, "edge_f1": 0.5, "tasks": 10},
        "6o0i-4 6o0i": {"accuracy": 0.8, "edge_f1": 0.4, "tasks": 10},
        "3o6i-4 3o6i": {"accuracy": 0.8, "edge_f1": 0.8, "tasks": 10},
        "0o6i-4 0o6i": {"accuracy": 0.1, "edge_f1": 0.1, "tasks": 10},
        "main-6 2o20i": {"accuracy": 0.1, "edge_f1": 0.1, "tasks": 10},
    }
    (picture,) = accuracy_against_edges([{"system": "x", "suites": suites}])
    svg = picture.markup()
    assert svg.count('class="head"') == 1
    assert f'x1="{46 + 316 * 0.9:.1f}" y1="{12 + 316 * 0.55:.1f}"' in svg
    assert f'd="M{46 + 316 * 0.8:.1f} {12 + 316 * 0.2:.1f}L' in svg, "the tip of its head"
    assert svg.count("<circle") == len(suites) + 1


def test_a_session_is_drawn_with_both_graphs_and_its_metrics_by_step() -> None:
    row = make_row({"moisture": [("density", 2.0)], "frequency": [("moisture", 3.0)]})
    task, truth = task_and_truth(row)
    episode = Episode.load(**row)
    session = Laboratory(episode)
    wrong = {"edges": [["moisture", "density"]], "freq_equation": "base"}
    session.hypothesise({**wrong, "coefficients": {"base": None}})
    session.intervene("density", 40)
    session.predict(episode.frequency, shapes.true_hypothesis(episode))
    raw = RawAnswer("answer", session.transcript_text().encode())
    html = session_page(shapes.verify_checked(task, truth, check(task, raw)).answer.laboratory)
    assert html.count('rx="10.0"') == 6, "three nodes in each graph"
    assert html.count("density → moisture") == 2 and "dasharray" not in html
    assert html.count("all-edge F1, 0: 0.000") == html.count("all-edge F1, 1: 1.000") == 1
    assert "within ±5" in html and "density := 40" in html
    assert "<script" not in html and "://" not in html.replace("http://www.w3.org/2000/svg", "")


def test_parse_failures_stand_in_the_table_of_suites() -> None:
    """A step's third refused hypothesis is its parse failure (A.5), and costs no experiment."""
    row = row_of(1, "main-4", "2o12i")
    task, truth = task_and_truth(row)
    session = Laboratory(Episode.load(**row))
    for name in session.episode.controllable[:2]:
        for _ in range(3):
            with pytest.raises(RefusedRequest):
                session.hypothesise({"edges": []})
        session.intervene(name, 10)
    session.predict(1)
    score = grade(task, truth, session.transcript_text())
    sections = SPECIFICATION.of_reports(_reports([score], "x"))
    (table,) = next(one for one in sections if "by suite and regime" in one.title).blocks
    cells = dict(zip(table.head, table.rows[0], strict=True))
    assert cells["parse failures"] == "2"


def test_an_episode_is_refused_that_contradicts_itself() -> None:
    row = row_of(1, "main-4", "2o12i")
    task, truth = task_and_truth(row)
    shapes.check_truth(task, truth)
    with pytest.raises(ValueError, match="value"):
        shapes.check_truth(task, replace(truth, value=1.5))
    row["public"]["records"][0]["density"] += 1
    with pytest.raises(ValueError, match=r"records\[0\]"):
        shapes.check_truth(*task_and_truth(row))
