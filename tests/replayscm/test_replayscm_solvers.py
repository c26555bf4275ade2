"""The reference solvers: exact where exactness is possible, and honest floors."""

import json
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
import pytest
from puzzles import Item, extra, items
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
from grader.tracks.replayscm.boolean import essential
from grader.tracks.replayscm.problem import parse_map

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
