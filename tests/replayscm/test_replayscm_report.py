"""The report: pools add up, conditional rates are suppressed, deltas are paired, SQL is ours."""

import json
from dataclasses import replace
from typing import Any

import pytest
from puzzles import FULL, MATCHED, items

from baselines.replayscm import symbolic
from grader.io.schemas import first_problem
from grader.pages import page as draw
from grader.reports.table import ScoreTable
from grader.scoring.model import Score
from grader.scoring.score import score_answer
from grader.tracks.replayscm.report import add_intervals, extras
from grader.tracks.replayscm.tables import SPECIFICATION, rate


@pytest.fixture(scope="module")
def scores() -> list[Score]:
    """``copy`` on every other record, nothing on the rest."""
    found = []
    for place, item in enumerate(items()):
        if place % 2:
            found.append(item.grade(symbolic(item.task)))
        else:
            found.append(score_answer(item.task, item.truth, None))
    return found


@pytest.fixture(scope="module")
def report(scores: list[Score]) -> dict[str, Any]:
    with ScoreTable(scores) as table:
        found = extras(table)
    add_intervals(found, scores)
    return found


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
    pools = report["pools"]
    assert pools["Ord-Full"]["tasks"] == FULL and pools["Ord-Match"]["tasks"] == MATCHED
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
        if (d["first"], d["second"], d["metric"], d["subset"])
        == ("Ord-Match", "Block", "train_exact", "all")
    ]  # fmt: skip
    assert delta["programs"] == MATCHED
    by_program: dict[str, dict[str, float]] = {}
    for row in scores:
        figures = json.loads(row.extra_json)
        if figures["matched"] and row.structure in ("Ord-Full", "Block"):
            by_program.setdefault(row.instance_id, {})[row.structure] = figures.get(
                "train_exact", 0
            )
    expected = [pair["Ord-Full"] - pair["Block"] for pair in by_program.values()]
    assert delta["delta"] == pytest.approx(sum(expected) / MATCHED)
    low, high = delta["interval"]
    assert low <= delta["delta"] <= high


def test_the_members_fit_the_reports_schema(report: dict[str, Any]) -> None:
    track = {
        "points": 1.0, "points_interval": None, "tasks": 4, "attempted": 3, "readings": {},
        "slices": {}, "metrics": {}, **report,
    }  # fmt: skip
    problem = first_problem("report", json.loads(json.dumps({"tracks": {"replayscm": track}})))
    assert problem is not None and "tracks" not in problem, "only the report's own members lack"


def test_rates_over_one_to_five_cases_are_suppressed() -> None:
    """The paper's stars and dashes (section 5.1)."""
    assert [rate(0.5, n) for n in (0, 1, 5, 6)] == ["–", "*", "*", "0.500"]
    assert rate(None) == "–" and rate(0.25) == "0.250"


def submitted(report: dict[str, Any]) -> dict[str, Any]:
    track = {**report, "attempted": 3}
    return {"submission": {"system": "<b>bold</b>"}, "tracks": {"replayscm": track}}


def test_the_page_shows_ladder_and_scatter_with_escaped_names(report: dict[str, Any]) -> None:
    submission = submitted(report)
    html = draw.page("title", "", SPECIFICATION.of_reports([submission]), "")
    assert html.count("<svg") == 5 and "Hid-Roots" in html and "<b>bold" not in html
    assert html.count("supplied program") >= 2
    determined, pools, by_place = SPECIFICATION.in_terminal(submission)
    assert len(pools.rows) == len(report["pools"]) and by_place.rows
    share = report["determination"][0]["share"]
    assert report["determination"][0]["determined"] and f"{100 * share:.1f}%" in determined.rows[0]
    assert SPECIFICATION.of_reports([{"submission": {"system": "x"}, "tracks": {}}]) == []


def row(program: str, pool: str, **extra: float) -> Score:
    """A score row of a made-up answer."""
    blank = score_answer(items()[0].task, items()[0].truth, None)
    figures = json.dumps({"matched": 1, "determined": 0, "unique": 0, **extra})
    return replace(blank, task_id=f"{program}/{pool}", instance_id=program, structure=pool,
                   extra_json=figures)  # fmt: skip


def query(name: str, *rows: Score) -> list[dict[str, Any]]:
    with ScoreTable(rows) as table:
        table.run("replayscm/marks")
        return table.query(f"replayscm/{name}")


def test_edits_are_counted_by_depth_of_the_supplied_program() -> None:
    """Table G.5 on two alternatives and one failure, by hand."""
    first = {"vars_depth_1": 3, "vars_depth_2": 1, "vars_depth_3": 0, "changed_depth_1": 1,
             "changed_depth_2": 1, "changed_depth_3": 0, "moved_depth_1": 1, "moved_depth_2": 0,
             "moved_depth_3": 0}  # fmt: skip
    rows = query(
        "edits",
        row("a", "Alt-Ord", alternative=1, **first),
        row("b", "Alt-Ord", alternative=1, **{**first, "changed_depth_1": 0, "moved_depth_1": 0}),
        row("c", "Alt-Ord", alternative=0),
    )
    one, two, three = rows
    assert [r["depth"] for r in rows] == ["1", "2", "3+"]
    assert (one["vars"], one["n_changed"], one["changed_rate"]) == (6, 1, pytest.approx(1 / 6))
    assert (one["parents_and_mechanism_share"], two["mechanism_only_share"]) == (1.0, 1.0)
    assert (one["share_of_changes"], two["share_of_changes"]) == (
        pytest.approx(1 / 3), pytest.approx(2 / 3),
    )  # fmt: skip
    assert (three["vars"], three["changed_rate"], three["share_of_changes"]) == (0, None, 0.0)


def test_a_supplied_program_is_compared_with_induction_of_the_same_one() -> None:
    """Table G.1 conditions on TrainExact, whatever became of the held-out worlds (b, c)."""
    (found,) = query(
        "supplied",
        row("a", "Ord-Full", train_exact=1, heldout_exact=1), row("a", "Alt-Ord", joint=1),
        row("b", "Ord-Full", train_exact=1, heldout_exact=0), row("b", "Alt-Ord", joint=1),
        row("c", "Ord-Full", train_exact=0, heldout_exact=0), row("c", "Alt-Ord", joint=1),
        row("d", "Ord-Full"), row("d", "Alt-Ord", joint=0),
        row("e", "Ord-Full", train_exact=1), row("f", "Alt-Ord", joint=1),
    )  # fmt: skip
    assert found == {
        "induction": "Ord-Match", "alternative": "Alt-Ord", "programs": 4,
        "train_exact": 0.5, "joint": 0.75, "n_train_failed": 2, "joint_if_train_failed": 0.5,
    }  # fmt: skip


def test_alternatives_found_are_compared_over_programs_solved_on_both_sides() -> None:
    """Tables F.13 and F.14 on three programs by hand."""
    (found,) = query(
        "discovery",
        row("a", "Hid-Full", train_exact=1, alternative=1), row("a", "Hid-Ext", train_exact=1),
        row("b", "Hid-Full", train_exact=1, alternative=1),
        row("b", "Hid-Ext", train_exact=1, alternative=1),
        row("c", "Hid-Full"), row("c", "Hid-Ext", train_exact=1, alternative=1),
    )  # fmt: skip
    assert (found["less"], found["more"], found["programs"]) == ("Hid-Match", "Hid-Ext", 3)
    assert (found["found_less"], found["delta"]) == (pytest.approx(2 / 3), pytest.approx(0))
    assert (found["n_solved_both"], found["found_less_if_solved"]) == (2, 1.0)
    assert (found["found_more_if_solved"], found["delta_if_solved"]) == (0.5, -0.5)


def test_structure_is_compared_where_both_answers_run() -> None:
    """Table F.10 over built records: the difference over the programs that both pools answered."""
    scores = [item.grade({"mechanisms": dict(item.truth.target["gold"])})
              if item.pool in ("Ord-Full", "Hid-Ext", "Ord-Ext") else item.grade("nothing")
              for item in items()]  # fmt: skip
    with ScoreTable(scores) as table:
        found = extras(table)
    add_intervals(found, scores)
    deltas = {(d["first"], d["second"], d["metric"]): d for d in found["deltas"]
              if d["subset"] == "all"}  # fmt: skip
    same_answers = deltas["Ord-Ext", "Hid-Ext", "parent_shd"]
    assert same_answers["delta"] == 0 and same_answers["programs"] == MATCHED
    assert ("Hid-Match", "Hid-Ext", "parent_shd") not in deltas, "no answer ran in one of them"
    shd = [
        json.loads(score.extra_json)["parent_f1"]
        for score in scores
        if score.structure == "Ord-Ext"
    ]
    assert shd == [1.0] * MATCHED
