"""Slices, coverage, cost, ranks and their intervals, against numbers worked by hand."""

import json
import random
import statistics
from dataclasses import replace
from typing import Any

import pytest
from score_rows import failed, row

from grader.reports.table import ScoreTable, TrackResults, fill_usage, usage_means
from grader.scoring.model import Score
from grader.scoring.shape import LOSS_CAP
from grader.statistics import bootstrap
from grader.statistics.bootstrap import draw_instances, sum_by_instance
from grader.tracks.causalds.figures import (
    axis_ranks,
    composite_ranks,
    extend,
    interval,
    leaderboard_ranks,
    losses_by_reading,
    quality,
    score_by_reading,
    score_replicates,
)

SCORES = [
    row("t1", "pass", 0.0, view="clean", instance_id="a"),
    row("t2", "pass", 1.0, view="clean", instance_id="b"),
    row("t3", "nrel_point", 0.2, view="clean", instance_id="a", rung=2),
    row("t4", "nrel_point", 0.4, view="clean", instance_id="b", rung=2),
    row("t5", "nrel_interval", 3.0, view="clean", instance_id="c", rung=2),
    row("t6", "f1", 0.5, view="clean", instance_id="c", rung=2, structure="grafted_2"),
    row("t7", "nrel_point", 40.0, view="proxy_hard", instance_id="a", rung=2),
    failed("t8", "nrel_interval", view="proxy_hard", instance_id="b", rung=2),
]


def figures(scores: list[Score]) -> dict[str, Any]:
    track: dict[str, Any] = {"slices": {}}
    with ScoreTable(scores) as table:
        for line in table.query("slices"):
            del line["track"]
            track["slices"].setdefault(line.pop("axis"), {})[line.pop("level")] = line
        (track["usage"],) = table.query("usage")
        extend(track, TrackResults(table, scores, {}, {}))
    return track


def test_a_slice_is_read_as_its_tasks_alone_would_be() -> None:
    """Each level of each axis, failures and losses beyond the cap among them, against the whole of
    its own tasks."""
    slices = figures(SCORES)["slices"]
    assert set(slices["view"]) == {"clean", "proxy_hard"} and "grafted_2" in slices["structure"]
    for reading in slices["view"]["clean"]["readings"].values():
        assert reading["mean_nrel_err"] == pytest.approx((0.2 + 0.4 + 3.0) / 3), "in slices alone"
    for axis in ("view", "structure", "rung"):
        for level, part in slices[axis].items():
            own = [score for score in SCORES if str(getattr(score, axis)) == level]
            for reading, whole in figures(own)["readings"].items():
                del whole["causalds_score_interval"]  # the draws are of other instances
                found = part["readings"][reading]
                assert {key: found[key] for key in whole} == pytest.approx(whole), (level, reading)


def test_replicates_of_the_score_are_the_score_of_resampled_rows() -> None:
    """Weighted means and medians, against repeating the rows and asking the SQL."""
    scores = [score for score in SCORES if score.paper_pool]
    draws = draw_instances((score.instance_id for score in scores), 7, 25)
    losses = losses_by_reading(scores)
    names = ("fixed", "paper")
    both = zip(*(score_replicates(draws, losses[name], name) for name in names), strict=True)
    for weights, found in zip(draws.counts.T, both, strict=True):
        repeated = [
            replace(score, task_id=f"{score.task_id}/{k}")
            for score in scores
            for k in range(weights[draws.place[score.instance_id]])
        ]
        with ScoreTable(repeated) as table:
            expected = score_by_reading(TrackResults(table, repeated, {}, {}))
        assert found == pytest.approx([expected[name] for name in names])


def test_draws_take_whole_instances_and_repeat() -> None:
    draws = draw_instances("abcab", 3, 50)
    assert (draws.counts != draw_instances("abcab", 4, 50).counts).any()
    assert (draws.counts.sum(axis=0) == 3).all()
    values = [("a", 1.0), ("a", 0.0), ("b", 1.0)]
    expected = [(a + b) / (2 * a + b) for a, b, _ in draws.counts.T if a or b]
    assert draws.means(sum_by_instance(values)) == pytest.approx(expected)


def test_an_interval_needs_most_of_its_replicates() -> None:
    assert interval([None, None, 1.0]) is None
    assert interval([]) is None
    assert interval([2.0, 2.0, None]) == [2.0, 2.0]


def held(task: str, variant: str, nominal: float, coverage: float | None, width: float) -> Score:
    extra = json.dumps({} if coverage is None else {"normalised_width": width / 2})
    return row(
        task, "nrel_interval", 1.0, family="e", variant=variant, nominal_coverage=nominal,
        coverage=coverage, interval_width=None if coverage is None else width,
        extra_json=extra, instance_id=task,
    )  # fmt: skip


def test_coverage_and_width_stand_beside_what_was_promised() -> None:
    """Table 6: coverage over valid intervals, the count of them beside it."""
    scores = [
        held("t1", "ate", 0.95, 1.0, 1.0),
        held("t2", "ate", 0.95, 0.0, 2.0),
        held("t3", "ate", 0.95, 0.0, 6.0),
        held("t4", "ate", 0.95, None, 0.0),
        held("t5", "rows", 0.9, 0.85, 4.0),
    ]
    effect, rows = figures(scores)["calibration"]
    assert (effect["variant"], effect["nominal"]) == ("e.ate", 0.95)
    assert (effect["tasks"], effect["valid"]) == (4, 3)
    assert effect["coverage"] == pytest.approx(1 / 3)
    assert (effect["mean_width"], effect["median_width"]) == (3.0, 2.0)
    assert (effect["mean_normalised_width"], effect["median_normalised_width"]) == (1.5, 1.0)
    assert effect["coverage_interval"] == bootstrap.wilson(1, 3)
    assert rows["coverage"] == 0.85 and rows["coverage_interval"] is None


def test_wilsons_interval_is_the_solution_of_its_equation() -> None:
    """(p - x)^2 = z^2 x (1 - x) / n at both ends; 7 of 7 is no proof of certainty."""
    for successes, trials in ((1, 3), (7, 7), (0, 5), (40, 50), (1, 1)):
        share = successes / trials
        for bound in bootstrap.wilson(successes, trials) or ():
            variance = bound * (1 - bound) / trials
            assert (share - bound) ** 2 == pytest.approx(1.959963984540054**2 * variance, abs=1e-12)
    assert (bootstrap.wilson(7, 7) or [1.0])[0] < 0.7
    assert bootstrap.wilson(0, 0) is None


def test_the_detectable_difference_is_2_8_standard_errors() -> None:
    replicates = [float(x) for x in (1, 2, 3, 4, 10)]
    error = statistics.stdev(replicates)
    normal = statistics.NormalDist()
    factor = normal.inv_cdf(0.975) + normal.inv_cdf(0.8)
    shown = bootstrap.detectable_difference(replicates)
    assert shown == pytest.approx(factor * error, rel=1e-6)
    # Simulated: at that distance a two-sided 5% test fires 80% of the time.
    generator = random.Random(5)
    distance = shown / error
    fired = sum(abs(generator.gauss(distance, 1)) > 1.959964 for _ in range(20_000)) / 20_000
    assert fired == pytest.approx(0.8, abs=0.01)


USAGE = {
    "t1": {"task_id": "t1", "input_tokens": 900, "output_tokens": 100, "tool_calls": 3},
    "t2": {"task_id": "t2", "input_tokens": 3000, "cost_usd": 0.5, "seconds": -1},
    "elsewhere": {"task_id": "elsewhere", "input_tokens": 10**9},
}


def costs(scores: list[Score], usage: dict[str, Any]) -> dict[str, Any]:
    with ScoreTable(scores) as table:
        fill_usage(table, usage, scores)
        (line,) = table.query("usage")
    return line


def test_costs_are_totals_and_means_of_what_was_reported() -> None:
    scores = [row("t1", "pass", 0.0), row("t2", "pass", 0.0), failed("t3", "pass")]
    line = costs(scores, USAGE)
    assert (line["total_tokens"], line["tokens_per_task"]) == (4000, 2000)
    assert (line["calls_per_task"], line["seconds_per_task"]) == (3, None)
    assert (line["total_cost_usd"], line["tasks"], line["unmetered"]) == (0.5, 2, 0)
    found = quality(line, {"fixed": {"causalds_score": 0.2}})
    assert found == {"fixed": pytest.approx(5000)}
    assert usage_means(USAGE, ["t1", "t2", "t3"])["input_tokens"] == 1950


def test_tokens_for_quality_exist_only_for_a_whole_and_useful_run() -> None:
    """A system that meters half of its tasks, or scores 1, must not look efficient."""
    partly = costs([row("t1", "pass", 0.0), row("t9", "pass", 0.0)], USAGE)
    assert partly["unmetered"] == 1
    useless = costs([row("t1", "pass", 0.0)], USAGE)
    for line, score in ((partly, 0.2), (useless, 1.0), (useless, 1.4), (useless, None)):
        assert quality(line, {"fixed": {"causalds_score": score}}) == {"fixed": None}


def test_hostile_usage_reaches_no_total() -> None:
    bad = [True, -1, float("inf"), float("nan"), "9", None, [1], 1e16]
    usage = {f"t{k}": {"input_tokens": value} for k, value in enumerate(bad)}
    line = costs([row(name, "pass", 0.0) for name in usage], usage)
    assert line["total_tokens"] is None and line["unmetered"] == len(bad)


def test_table_18_recomputes() -> None:
    """1.77M tokens at 0.2780 are 2.45M per quality; likewise the cheapest and the dearest row."""
    rows = ((1.77, 0.2780, 2.45), (3.24, 0.6442, 9.10), (26.64, 0.4754, 50.78))
    for total, score, printed in rows:
        line = {"total_tokens": total, "unmetered": 0}
        found = quality(line, {"paper": {"causalds_score": score}})
        assert found["paper"] == pytest.approx(printed, abs=0.011)


def test_table_4_splits_the_pass_rate_by_who_abstains() -> None:
    """Its fourth row: 16 of 17 on content, 7 of 18 on abstention, 23 of 35 together.

    17 tasks ask for a label, 16 targets are not identifiable, and two numbers were declined.
    """
    scores = [row(f"c{k}", "pass", float(k == 0)) for k in range(17)]
    scores += [row(f"a{k}", "pass", float(k >= 7), should_abstain=True) for k in range(16)]
    scores += [
        row(f"d{k}", "nrel_point", 10.0, abstained=True, paper_pool="pass", paper_loss=1.0,
            points=0.0)
        for k in range(2)
    ]  # fmt: skip
    with ScoreTable(scores) as table:
        (line,) = table.query("tracks")
        rows = table.query("causalds/readings", LOSS_CAP)
        readings = {found["reading"]: found for found in rows if found["axis"] == "exam"}
    assert (line["paper_content_tasks"], line["paper_abstention_tasks"]) == (17, 18)
    assert round(100 * line["paper_content_pass_rate"], 1) == 94.1
    assert round(100 * line["paper_abstention_pass_rate"], 1) == 38.9
    assert round(100 * readings["paper"]["pass_rate"], 1) == 65.7
    # The pools of the fixed reading do not move: 33 pass/fail tasks, 2 numbers at the cap.
    assert line["abstention_pass_rate"] == 7 / 16 and readings["fixed"]["n_pass"] == 33


TABLE_3 = {
    1: (28 / 34, 0.566, 0.200),
    2: (26 / 34, 0.754, 0.367),
    3: (24 / 38, 0.934, 0.567),
    4: (23 / 35, 0.935, 0.567),
    5: (28 / 34, 1.324, 0.533),
    6: (19 / 34, 1.267, 0.767),
}
"""By row: pass rate, S_NR and the printed Composite Rank. All F1 losses are 0."""


def reading(
    pass_rate: float | None, s_nr: float | None = None, f1: float | None = None
) -> dict[str, Any]:
    return {"pass_rate": pass_rate, "s_nr": s_nr, "f1_loss": f1}


def test_all_six_rows_of_table_3_recompute_from_their_components() -> None:
    ranks = composite_ranks([reading(rate, s_nr, 0.0) for rate, s_nr, _ in TABLE_3.values()])
    for rank, (_, _, printed) in zip(ranks, TABLE_3.values(), strict=True):
        assert rank is not None and round(rank, 3) == printed


def test_ties_share_a_place_and_a_system_without_a_number_comes_last_in_its_column() -> None:
    """Places 1, 2 and 3 are shared at 2: (2 - 1) / 3. One system alone, and none, have no rank."""
    ranks = composite_ranks([reading(rate) for rate in (0.9, 0.9, 0.9, 0.1)])
    assert ranks == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1.0])
    given, none = reading(0.5, 9.0, 0.5), reading(0.5, None, 0.5)
    assert composite_ranks([given, none]) == pytest.approx([1 / 3, 2 / 3])
    assert composite_ranks([reading(1.0, 0.0, 0.0)]) == [None]
    assert composite_ranks([]) == []
    assert composite_ranks([reading(None)] * 2) == [None, None]


def ranked(attempted: int, rates: dict[str, float]) -> dict[str, Any]:
    views = {view: {"readings": {"fixed": reading(rate)}} for view, rate in rates.items()}
    whole = {**views.pop("all")["readings"], "paper": {}}
    own = {"attempted": attempted, "readings": whole, "slices": {"view": views}}
    return {"tracks": {"causalds": own}}


def test_only_systems_that_answer_causalds_are_ranked() -> None:
    """An answer folder of another track would push everyone's places apart."""
    ranks = leaderboard_ranks(
        [ranked(n, {"all": rate}) for n, rate in ((3, 0.5), (0, 0.0), (2, 0.7))]
    )
    assert [rank.get("fixed") for rank in ranks] == [1.0, None, 0.0]
    assert leaderboard_ranks([{"tracks": {"ccr": {}}}]) == [{}]


def test_a_slice_ranks_its_own_tasks() -> None:
    """Table 14: the order inside a view may be the reverse of the whole."""
    reports = [ranked(1, {"all": 0.9, "clean": 0.2}), ranked(1, {"all": 0.1, "clean": 0.8})]
    tracks = [one["tracks"]["causalds"] for one in reports]
    assert axis_ranks(tracks, "view", "fixed") == {"clean": [1.0, 0.0]}
