"""The reference solvers, exact or honest floors; the report, recomputed."""

import json
from dataclasses import replace
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
import pytest
from puzzles import FULL, MATCHED, Item, extra, items
from scipy.special import gammaln

from baselines.replayscm import (
    TABU,
    bdeu,
    learn_graph,
    majority,
    place_mechanisms,
    read_puzzle,
    structure_and_formulas,
    symbolic,
)
from builder.tracks.replayscm.determinacy import limits_by_roots
from builder.tracks.replayscm.search import extend_table, first_fit, smallest_fit
from builder.tracks.replayscm.synthesis import smallest_formulas
from builder.tracks.replayscm.tables import ObservedRows, sets_of, tabulate
from grader.pages import page as draw
from grader.reports.table import ScoreTable
from grader.scoring.model import Score
from grader.scoring.score import score_answer
from grader.tracks.replayscm.boolean import essential
from grader.tracks.replayscm.problem import parse_map
from grader.tracks.replayscm.report import add_intervals, extras
from grader.tracks.replayscm.tables import SPECIFICATION, rate

SOLVERS = {"symbolic": symbolic, "structure+dsl": structure_and_formulas, "majority": majority}


def test_an_exact_solver_is_train_exact_on_every_record_of_every_disclosure() -> None:
    """An exact train-consistent program exists for every item: missing it is a search bug. Unique
    means that whoever fits the training worlds has the program, and the search knows every
    separable alternative."""
    for item in items():
        result = item.grade(symbolic(item.task))
        assert extra(result)["train_exact"] == 1, (item.pool, item.task.task_id)
        if item.truth.target["level"] in ("certified", "cex") or item.task.family == "alternative":
            assert result.points == 1, (item.pool, result.message)


@cache
def small_answers() -> dict[str, tuple[Item, Any, Any]]:
    """Records of the smaller programs with the answers of both solvers, by task."""
    return {
        item.task.task_id: (item, symbolic(item.task), structure_and_formulas(item.task))
        for item in [item for item in items() if len(item.names) <= 7][::2]
    }


def test_structure_and_formulas_is_a_second_baseline() -> None:
    """The first fit to proposed parents, not the smallest program: it fits, and fails elsewhere."""
    results = {"induction": [], "alternative": []}  # type: ignore[var-annotated]
    for item, ours, theirs in small_answers().values():
        results[item.task.family].append((item, ours, theirs))
    for rows in results.values():
        assert sum(ours != theirs for _, ours, theirs in rows) >= len(rows) / 10
    graded = [extra(item.grade(theirs)) for item, _, theirs in results["induction"]]
    assert all(figures["train_exact"] for figures in graded if figures["acyclic"])
    assert np.mean([figures.get("train_exact", 0) for figures in graded]) >= 0.9
    assert np.mean([figures.get("heldout_exact", 0) for figures in graded]) < 0.95


def test_no_reference_solver_finds_an_alternative_at_cex() -> None:
    """CEx separates what either of them fits, the smallest function and the first."""
    seen = 0
    for item, *answers in small_answers().values():
        if item.truth.target["level"] == "cex":
            seen += 1
            for answer in answers:
                assert extra(item.grade(answer))["alternative"] == 0, item.pool
    assert seen >= 2


def test_the_first_fit_is_the_lowest_table_within_the_cap() -> None:
    """Not the smallest formula: an unseen pattern is 0 where a formula within the cap allows it."""
    rows = read_puzzle(items()[0].task).rows
    few = tabulate(ObservedRows(rows.values[:6], rows.clamped[:6]))
    smallest, sets = smallest_formulas(), sets_of(few.n)
    differ = 0
    for child in range(few.n):
        for k in range(len(sets.masks)):
            ones, zeros = int(few.ones[child, k]), int(few.zeros[child, k])
            if ones & zeros or len(sets.members[k]) > 3:
                continue
            tables = {
                extend_table(table, len(sets.members[k]))
                for table in range(1 << (1 << len(sets.members[k])))
                if table & ones == ones and not table & zeros
            }
            for cap in (1, 4, 10):
                within = [table for table in tables if smallest.sizes[table] <= cap]
                found = first_fit(few, child, k, cap)
                assert (found.table if found else None) == min(within, default=None)
            differ += found is not None and found.table != smallest_fit(few, child, k).table
    assert differ > 10


def test_proposals_are_placed_by_rank_and_only_on_what_stands() -> None:
    """Two variables that propose each other alone make no program; a second proposal mends it."""
    item = next(item for item in items() if item.pool == "Hid-Full")
    puzzle = read_puzzle(item.task)
    setting = puzzle.setting
    assert setting is not None
    gold = {
        int(child[1:]) - 1: sum(1 << int(name[1:]) - 1 for name in essential(formula))
        for child, formula in parse_map(item.truth.target["gold"]).items()
    }
    right = place_mechanisms(puzzle, setting, {v: [mask] for v, mask in gold.items()}, 15)
    assert right is not None
    assert {v: sum(1 << p for p in c.members) for v, c in right.choices.items()} == gold
    circle = {v: [1 << u] for v, u in zip(gold, [*gold][1:] + [*gold][:1], strict=True)}
    assert place_mechanisms(puzzle, setting, circle, 15) is None
    mended = place_mechanisms(puzzle, setting, {v: [*circle[v], gold[v]] for v in gold}, 15)
    assert mended is not None and mended.choices.keys() == gold.keys()
    assert place_mechanisms(puzzle, setting, {v: [mask] for v, mask in gold.items()}, 1) is None


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_answers_legally_and_deterministically(name: str) -> None:
    """A reference row with invalid answers, or one that moves, is no reference."""
    for item in [item for item in items() if len(item.names) <= 7][::5]:
        answer = SOLVERS[name](item.task)
        assert item.grade(answer).status == "scored"
        assert json.dumps(answer) == json.dumps(SOLVERS[name](item.task))


def test_constants_solve_almost_nothing() -> None:
    points = [item.grade(majority(item.task)).points for item in items()]
    assert np.mean(points) < 0.1


@pytest.mark.parametrize("seed", range(6))
def test_the_search_ends_where_no_single_change_helps(seed: int) -> None:
    """A local optimum among the allowed acyclic graphs, by networkx on scores drawn at random."""
    setting = read_puzzle(items()[seed].task).setting
    if setting is None:
        setting = next(iter(limits_by_roots(6)))
    n = max(v for v in setting.allowed) + 1
    scores = np.random.default_rng(seed).normal(size=(n, len(sets_of(n).masks)))
    index = {int(mask): k for k, mask in enumerate(sets_of(n).masks)}
    found = learn_graph(setting, scores, TABU, 500)

    def value(graph: dict[int, int]) -> float:
        if any(mask not in index or mask & ~setting.allowed[v] for v, mask in graph.items()):
            return -np.inf
        edges = [(u, v) for v, mask in graph.items() for u in range(n) if mask >> u & 1]
        if not nx.is_directed_acyclic_graph(nx.DiGraph(edges)):
            return -np.inf
        return float(sum(scores[v, index[mask]] for v, mask in graph.items()))

    best = value(found)
    assert np.isfinite(best)
    for v in setting.allowed:
        for u in range(n):
            flipped = {**found, v: found[v] ^ (1 << u)}
            assert value(flipped) <= best + 1e-3
            if found[v] >> u & 1 and u in found:
                assert value({**flipped, u: found[u] | 1 << v}) <= best + 1e-3


def test_bdeu_is_the_published_score() -> None:
    """Heckerman, Geiger and Chickering (1995), written out again for one parent set."""
    item: Item = items()[0]
    puzzle = read_puzzle(item.task)
    scores = bdeu(puzzle.rows)
    sets = sets_of(puzzle.n)
    for child, k in ((0, 1 + puzzle.n), (1, 0), (puzzle.n - 1, 40)):
        members = sets.members[k]
        if child in members:
            continue
        q = 2 ** len(members)
        expected = 0.0
        rows = puzzle.rows.values[~puzzle.rows.clamped[:, child]]
        for pattern in range(q):
            bits = [pattern >> place & 1 for place in range(len(members))]
            chosen = rows[(rows[:, list(members)] == bits).all(axis=1)]
            counts = [int((chosen[:, child] == value).sum()) for value in (0, 1)]
            expected += gammaln(1 / q) - gammaln(1 / q + sum(counts))
            expected += sum(gammaln(1 / (2 * q) + c) - gammaln(1 / (2 * q)) for c in counts)
        assert scores[child, k] == pytest.approx(expected)


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
        assert rates["points"] == pytest.approx(np.mean([100 * row.points for row in members]))


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
        figures = extra(row)
        if figures["matched"] and row.structure in ("Ord-Full", "Block"):
            exact = figures.get("train_exact", 0)
            by_program.setdefault(row.instance_id, {})[row.structure] = exact
    expected = [pair["Ord-Full"] - pair["Block"] for pair in by_program.values()]
    assert delta["delta"] == pytest.approx(sum(expected) / MATCHED)
    low, high = delta["interval"]
    assert low <= delta["delta"] <= high


def test_rates_over_one_to_five_cases_are_suppressed() -> None:
    """The paper's stars and dashes (section 5.1)."""
    assert [rate(0.5, n) for n in (0, 1, 5, 6)] == ["–", "*", "*", "0.500"]
    assert rate(None) == "–" and rate(0.25) == "0.250"


def test_the_page_shows_ladder_and_scatter_with_escaped_names(report: dict[str, Any]) -> None:
    tracks = {"replayscm": {**report, "attempted": 3}}
    submission = {"submission": {"system": "<b>bold</b>"}, "tracks": tracks}
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
    assert [r["share_of_changes"] for r in rows] == pytest.approx([1 / 3, 2 / 3, 0])
    assert (three["vars"], three["changed_rate"]) == (0, None)


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
    found = [extra(score)["parent_f1"] for score in scores if score.structure == "Ord-Ext"]
    assert found == [1.0] * MATCHED
