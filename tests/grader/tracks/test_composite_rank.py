"""Composite Rank, against the paper's Table 3 and numbers worked by hand."""

from typing import Any

import pytest

from grader.tracks.causalds.figures import axis_ranks, composite_ranks, leaderboard_ranks

TABLE_3 = {
    1: (28 / 34, 0.566, 0.200),
    2: (26 / 34, 0.754, 0.367),
    3: (24 / 38, 0.934, 0.567),
    4: (23 / 35, 0.935, 0.567),
    5: (28 / 34, 1.324, 0.533),
    6: (19 / 34, 1.267, 0.767),
}
"""By row: pass rate, S_NR and the printed Composite Rank. All F1 losses are 0."""


def reading(pass_rate: float | None, s_nr: float | None, f1: float | None) -> dict[str, Any]:
    return {"pass_rate": pass_rate, "s_nr": s_nr, "f1_loss": f1}


def test_all_six_rows_of_table_3_recompute_from_their_components() -> None:
    ranks = composite_ranks([reading(rate, s_nr, 0.0) for rate, s_nr, _ in TABLE_3.values()])
    for rank, (_, _, printed) in zip(ranks, TABLE_3.values(), strict=True):
        assert rank is not None and round(rank, 3) == printed


def test_ties_share_the_mean_of_their_places() -> None:
    """Places 1, 2 and 3 are shared at 2: (2 - 1) / 3; the fourth has 1."""
    ranks = composite_ranks([reading(rate, None, None) for rate in (0.9, 0.9, 0.9, 0.1)])
    assert ranks == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1.0])


def test_a_system_without_a_number_comes_last_in_its_column() -> None:
    """Otherwise leaving out all numbers would improve the rank."""
    given, none = reading(0.5, 9.0, 0.5), reading(0.5, None, 0.5)
    assert composite_ranks([given, none]) == pytest.approx([1 / 3, 2 / 3])


def test_one_system_and_none_have_no_rank() -> None:
    assert composite_ranks([reading(1.0, 0.0, 0.0)]) == [None]
    assert composite_ranks([]) == []
    assert composite_ranks([reading(None, None, None)] * 2) == [None, None]


def report(attempted: int, rates: dict[str, float]) -> dict[str, Any]:
    """A report with one pass rate over all and one for each view."""
    views = {
        view: {"readings": {"fixed": reading(rate, None, None)}}
        for view, rate in rates.items()
        if view != "all"
    }
    return {
        "tracks": {
            "causalds": {
                "attempted": attempted,
                "readings": {"fixed": reading(rates["all"], None, None), "paper": {}},
                "slices": {"view": views},
            }
        }
    }


def test_only_systems_that_answer_causalds_are_ranked() -> None:
    """An answer folder of another track would push everyone's places apart."""
    reports = [report(3, {"all": 0.5}), report(0, {"all": 0.0}), report(2, {"all": 0.7})]
    ranks = leaderboard_ranks(reports)
    assert [rank.get("fixed") for rank in ranks] == [1.0, None, 0.0]
    assert leaderboard_ranks([{"tracks": {"ccr": {}}}]) == [{}]


def test_a_slice_ranks_its_own_tasks() -> None:
    """Table 14: the order inside a view may be the reverse of the whole."""
    reports = [report(1, {"all": 0.9, "clean": 0.2}), report(1, {"all": 0.1, "clean": 0.8})]
    tracks = [one["tracks"]["causalds"] for one in reports]
    assert axis_ranks(tracks, "view", "fixed") == {"clean": [1.0, 0.0]}
