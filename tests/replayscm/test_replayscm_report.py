"""The report: pools add up, conditional rates are suppressed, deltas are paired, SQL is ours."""

import json
from typing import Any

import pytest
from puzzles import items

from baselines.analysts import PROMPT_ANALYSTS
from grader.aggregate import ScoreTable
from grader.model import Score
from grader.score import score
from grader.show.replayscm import pools_table, rate, sections
from grader.tracks.replayscm.report import extras
from grader.validate import check


@pytest.fixture(scope="module")
def scores() -> list[Score]:
    """``copy`` on every other record, nothing on the rest."""
    found = []
    for place, item in enumerate(items()):
        if place % 2:
            found.append(item.grade(PROMPT_ANALYSTS["symbolic", "replayscm"](item.task)))
        else:
            found.append(score(item.task, item.truth, check(item.task, None)))
    return found


@pytest.fixture(scope="module")
def report(scores: list[Score]) -> dict[str, Any]:
    with ScoreTable(scores) as table:
        return extras(table, scores)


def test_pool_rates_are_means_over_all_tasks(scores: list[Score], report: dict[str, Any]) -> None:
    """A missing answer must lower a rate: the mean is over records, not over answers."""
    for pool, rates in report["pools"].items():
        if pool.endswith("-Match"):
            continue
        members = [row for row in scores if row.structure == pool]
        assert rates["tasks"] == len(members)
        for key in ("train_exact", "train_world_exact", "heldout_world_exact", "heldout_exact"):
            if pool.startswith("Alt-") and key.startswith("heldout"):
                assert rates[key] is None
                continue
            values = [json.loads(row.extra_json).get(key) or 0 for row in members]
            assert rates[key] == pytest.approx(sum(values) / len(values))
        assert rates["points"] == pytest.approx(
            100 * sum(row.points for row in members) / len(members)
        )


def test_matched_pools_are_the_matched_part_of_the_full_ones(report: dict[str, Any]) -> None:
    """Ord-Match and Hid-Match are subsets, not further records."""
    pools = report["pools"]
    assert pools["Ord-Full"]["tasks"] == 6 and pools["Ord-Match"]["tasks"] == 5
    assert set(pools) - {"Ord-Match", "Hid-Match"} == {item.pool for item in items()}


def test_the_sanity_checks_of_b1_hold_in_aggregate(report: dict[str, Any]) -> None:
    """HeldoutExact = TrainExact x (HeldoutExact | TrainExact), and the inequalities."""
    for pool, rates in report["pools"].items():
        assert rates["train_exact"] <= rates["train_world_exact"] + 1e-12
        if not pool.startswith("Alt-") and rates["n_train_exact"]:
            assert rates["heldout_exact"] <= rates["train_exact"] + 1e-12
            product = rates["train_exact"] * rates["heldout_given_train"]
            assert rates["heldout_exact"] == pytest.approx(product)
            assert rates["heldout_exact_determined"] in (None, rates["train_exact_determined"])
        stages = [
            rates[s] for s in ("extracted_json", "schema", "keys", "parse", "legal", "acyclic")
        ]
        assert stages == sorted(stages, reverse=True)


def test_deltas_are_paired_by_program(scores: list[Score], report: dict[str, Any]) -> None:
    """Table D.1: first minus second over the programs that both pools hold."""
    (delta,) = [
        d for d in report["deltas"]
        if (d["first"], d["second"], d["metric"]) == ("Ord-Match", "Block", "train_exact")
    ]  # fmt: skip
    assert delta["programs"] == 5
    by_program: dict[str, dict[str, float]] = {}
    for row in scores:
        figures = json.loads(row.extra_json)
        if figures["matched"] and row.structure in ("Ord-Full", "Block"):
            by_program.setdefault(row.instance_id, {})[row.structure] = figures.get(
                "train_exact", 0
            )
    expected = [pair["Ord-Full"] - pair["Block"] for pair in by_program.values()]
    assert delta["delta"] == pytest.approx(sum(expected) / 5)
    low, high = delta["interval"]
    assert low <= delta["delta"] <= high


def test_rates_over_one_to_five_cases_are_suppressed() -> None:
    """The paper's stars and dashes (section 5.1)."""
    assert [rate(0.5, n) for n in (0, 1, 5, 6)] == ["–", "*", "*", "0.500"]
    assert rate(None) == "–" and rate(0.25) == "0.250"


def test_the_page_shows_ladder_and_scatter_with_escaped_names(report: dict[str, Any]) -> None:
    """The two plots of the track, with what a submitter typed kept as text."""
    submission = {
        "submission": {"system": "<b>bold</b>"},
        "tracks": {"replayscm": {**report, "attempted": 3}},
    }
    html = "".join(content for _, content in sections([submission]))
    assert html.count("<svg") == 3 and "Hid-Roots" in html and "<b>bold" not in html
    assert "paper: symbolic exact-search" in html
    assert pools_table({"pools": report["pools"]}).row_count == len(report["pools"])
    assert sections([{"submission": {"system": "x"}, "tracks": {}}]) == []
