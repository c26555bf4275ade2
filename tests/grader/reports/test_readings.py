"""Eq. 2-4 of the CausalDS paper in both readings, against numbers worked by hand and Table 3."""

import statistics
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from score_rows import failed, row

from grader.reports.table import ScoreTable
from grader.scoring.model import Pool, Score
from grader.scoring.shape import LOSS_CAP


def readings(scores: Sequence[Score]) -> dict[str, dict[str, Any]]:
    with ScoreTable(scores) as table:
        lines = table.query("causalds/readings", LOSS_CAP)
    return {line.pop("reading"): line for line in lines if line["axis"] == "exam"}


def both(rows: Sequence[tuple[Pool, float]]) -> list[Score]:
    return [row(f"t{number:04}", pool, loss) for number, (pool, loss) in enumerate(rows)]


def test_equations_2_to_4_on_a_hand_example() -> None:
    """One of each pool, with a loss above the cap where the two readings part."""
    scores = both(
        [
            ("pass", 0.0), ("pass", 1.0), ("pass", 0.0), ("pass", 0.0),
            ("nrel_point", 0.1), ("nrel_point", 0.3), ("nrel_point", 50.0),
            ("nrel_interval", 2.0), ("nrel_interval", 30.0),
            ("f1", 0.0), ("f1", 0.5),
        ]
    )  # fmt: skip
    # PassRate 3/4. Points: median 0.3. Intervals: (2 + 10) / 2 = 6. S_NR = (3·0.3 + 2·6) / 5 = 2.58
    # Score = (4·0.25 + 5·2.58 + 2·0.25) / 11 = 14.4 / 11. Fixed: the mean of all capped losses,
    # with S_NR (0.1 + 0.3 + 10 + 2 + 10) / 5 = 4.48 and (1 + 22.4 + 0.5) / 11.
    for name, s_nr, score in (("fixed", 4.48, 23.9 / 11), ("paper", 2.58, 14.4 / 11)):
        reading = readings(scores)[name]
        assert reading["pass_rate"] == pytest.approx(0.75)
        assert reading["med_nrel_err"] == pytest.approx(2.0)
        assert reading["s_nr"] == pytest.approx(s_nr)
        assert reading["f1_loss"] == reading["med_f1_loss"] == pytest.approx(0.25)
        assert reading["causalds_score"] == pytest.approx(score)
        assert (reading["n_pass"], reading["n_nrel"], reading["n_f1"]) == (4, 5, 2)


def test_an_interval_is_capped_in_the_mean_but_not_in_the_papers_median() -> None:
    """The cap c belongs to Eq. 3; the median of Eq. 2 is over uncapped losses."""
    got = readings(both([("nrel_interval", 30.0), ("nrel_interval", 40.0), ("nrel_point", 20.0)]))
    assert got["paper"]["med_nrel_err"] == 30.0
    assert got["fixed"]["med_nrel_err"] == 10.0
    assert got["paper"]["s_nr"] == pytest.approx((20 + 2 * 10) / 3)
    assert got["fixed"]["s_nr"] == pytest.approx(10.0)


def test_the_readings_part_where_an_answer_abstains_or_is_missing() -> None:
    """An unwarranted abstention joins the paper's pass pool; a missing number leaves the paper."""
    scores = [
        # abstained, but identifiable
        row("t0", "nrel_point", 10.0, paper_pool="pass", paper_loss=1.0),
        failed("t1", "nrel_point"),
        row("t2", "nrel_point", 0.2),
        row("t3", "pass", 0.0),
    ]
    got = readings(scores)
    assert got["fixed"]["causalds_score"] == pytest.approx((0 + 10 + 10 + 0.2) / 4)
    assert (got["fixed"]["n_pass"], got["fixed"]["n_nrel"]) == (1, 3)
    assert got["paper"]["causalds_score"] == pytest.approx((2 * 0.5 + 1 * 0.2) / 3)
    assert (got["paper"]["n_pass"], got["paper"]["n_nrel"]) == (2, 1)


# Table 3: valid continuous answers, score, pass rate, median NRelErr, S_NR. The discrete pool is
# the share that rounds to the printed pass rate with the fewest extra abstention rows beyond 34;
# sketches are saturated for every model (A.10), so the median F1 loss is 0 over 27 tasks.
TABLE_3 = {
    "Claude Opus 4.8": (38, 0.2780, 28, 34, 0.566),
    "Gemini 3.1 Pro": (38, 0.3703, 26, 34, 0.754),
    "Qwen 3.6 35B": (31, 0.4474, 24, 38, 0.934),
    "Kimi K2.6": (38, 0.4754, 23, 35, 0.935),
    "GPT-5.5": (37, 0.5610, 28, 34, 1.324),
    "Gemma 4 26B": (39, 0.6442, 19, 34, 1.267),
}


@pytest.mark.parametrize("model", TABLE_3)
def test_table_3_scores_follow_from_their_components(model: str) -> None:
    """With N_r the valid numeric answers, every row of the published leaderboard recomputes."""
    valid, printed, right, asked, s_nr = TABLE_3[model]
    rows: list[tuple[Pool, float]] = [("pass", float(k >= right)) for k in range(asked)]
    rows += [("nrel_point", s_nr)] * valid + [("f1", 0.0)] * 27
    got = readings(both(rows))["paper"]
    assert (got["n_pass"], got["n_nrel"], got["n_f1"]) == (asked, valid, 27)
    # S_NR is printed to 3 digits: half a unit of its last place, weighted, plus that of the score.
    tolerance = 0.0005 * valid / (asked + valid + 27) + 0.00005
    assert got["causalds_score"] == pytest.approx(printed, abs=tolerance)


LOSSES = st.floats(0, 1e6) | st.sampled_from([0.0, 1.0, 10.0])
ROWS = st.lists(
    st.tuples(st.sampled_from(["nrel_point", "nrel_interval"]), LOSSES)
    | st.tuples(st.sampled_from(["pass"]), st.sampled_from([0.0, 1.0]))
    | st.tuples(st.sampled_from(["f1"]), st.floats(0, 1)),
    min_size=1,
    max_size=25,
)


@settings(max_examples=25, deadline=None)
@given(ROWS)
@example([("f1", 0.5)])  # a null median must not turn the score into null
def test_the_sql_agrees_with_the_statistics_module(rows: list[tuple[Pool, float]]) -> None:
    """Eq. 2-4 written twice: in SQL, and here with ``statistics``."""
    fixed, got = (readings(both(rows))[name] for name in ("fixed", "paper"))
    pools: dict[str, list[float]] = {}
    for pool, loss in rows:
        pools.setdefault(pool, []).append(loss)
    point, interval = pools.get("nrel_point", []), pools.get("nrel_interval", [])
    failed = pools.get("pass", [])
    f1 = statistics.median(pools["f1"]) if "f1" in pools else 0.0
    numeric = len(point) * (statistics.median(point) if point else 0.0)
    numeric += sum(min(loss, 10.0) for loss in interval)
    assert got["causalds_score"] == pytest.approx(
        (sum(failed) + numeric + len(pools.get("f1", [])) * f1) / len(rows), rel=1e-9, abs=1e-12
    )
    capped = [min(loss, 10.0 if "nrel" in pool else 1.0) for pool, loss in rows]
    assert fixed["causalds_score"] == pytest.approx(statistics.fmean(capped), rel=1e-9, abs=1e-12)
    for one in (fixed, got):
        assert (one["pass_rate"] is None) == (not failed)
        assert (one["s_nr"] is None) == (one["med_nrel_err"] is None) == (not point + interval)
    if point or interval:
        assert got["med_nrel_err"] == pytest.approx(statistics.median(point + interval))
        assert got["s_nr"] == pytest.approx(numeric / len(point + interval), abs=1e-12)
    if failed:
        assert got["pass_rate"] == pytest.approx(1 - statistics.fmean(failed))
    if "f1" in pools:
        assert got["med_f1_loss"] == pytest.approx(f1)


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 1)), min_size=1, max_size=20))
def test_slices_are_means_and_medians_of_their_tasks(rows: list[tuple[str, float]]) -> None:
    scores = [row(f"t{n}", "f1", loss, family=family) for n, (family, loss) in enumerate(rows)]
    with ScoreTable(scores) as table:
        lines = {line["level"]: line for line in table.query("slices") if line["axis"] == "family"}
    for family in {family for family, _ in rows}:
        losses = [loss for member, loss in rows if member == family]
        assert lines[family]["tasks"] == len(losses)
        assert lines[family]["med_f1_loss"] == pytest.approx(statistics.median(losses))
        assert lines[family]["points"] == pytest.approx(
            100 * statistics.fmean(1 - x for x in losses)
        )
