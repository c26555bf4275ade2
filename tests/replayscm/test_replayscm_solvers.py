"""The reference solvers: exact where exactness is possible, and honest floors."""

import json

import networkx as nx
import numpy as np
import pytest
from puzzles import Item, extra, items
from scipy.special import gammaln

from baselines.replayscm.climb import climb
from baselines.replayscm.floors import copy, majority
from baselines.replayscm.problem import read_puzzle
from baselines.replayscm.structure import bdeu, structure_and_formulas
from baselines.replayscm.symbolic import symbolic
from builder.replayscm.make.determinacy import root_settings
from builder.replayscm.make.tables import sets_of

SOLVERS = {
    "symbolic": symbolic,
    "structure+dsl": structure_and_formulas,
    "majority": majority,
    "copy": copy,
}


@pytest.mark.parametrize("name", ("symbolic", "structure+dsl"))
def test_an_exact_solver_is_train_exact_on_every_record_of_every_disclosure(name: str) -> None:
    """An exact train-consistent program exists for every item: missing it is a search bug."""
    for item in items():
        figures = extra(item.grade(SOLVERS[name](item.task)))
        assert figures["train_exact"] == 1, (item.pool, item.task.task_id)


def test_symbolic_is_held_out_exact_on_every_certified_record() -> None:
    """Unique means that whoever fits the training worlds has the program."""
    certified = [item for item in items() if item.truth.target["level"] in ("certified", "cex")]
    for item in certified:
        result = item.grade(symbolic(item.task))
        assert result.points == 1, (item.pool, result.message)


def test_symbolic_solves_alternatives() -> None:
    """The audit knows every separable flip."""
    for item in items():
        if item.task.family == "alternative":
            assert item.grade(symbolic(item.task)).points == 1


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_answers_legally_and_deterministically(name: str) -> None:
    """A reference row with invalid answers, or one that moves, is no reference."""
    for item in items()[:14]:
        answer = SOLVERS[name](item.task)
        assert item.grade(answer).status == "scored"
        assert json.dumps(answer) == json.dumps(SOLVERS[name](item.task))


@pytest.mark.parametrize("name", ("majority", "copy"))
def test_the_floors_solve_almost_nothing(name: str) -> None:
    """A floor that scores says that the exam is empty."""
    points = [item.grade(SOLVERS[name](item.task)).points for item in items()]
    assert np.mean(points) < 0.1


@pytest.mark.parametrize("seed", range(6))
def test_the_search_ends_where_no_single_change_helps(seed: int) -> None:
    """A local optimum among the allowed acyclic graphs, by networkx on scores drawn at random."""
    setting = read_puzzle(items()[seed].task).setting
    if setting is None:
        setting = next(iter(root_settings(6)))
    n = max(v for v in setting.endogenous) + 1
    scores = np.random.default_rng(seed).normal(size=(n, len(sets_of(n).masks)))
    index = {int(mask): k for k, mask in enumerate(sets_of(n).masks)}
    found = climb(setting, scores)

    def value(graph: dict[int, int]) -> float:
        if any(mask not in index or mask & ~setting.allowed[v] for v, mask in graph.items()):
            return -np.inf
        edges = [(u, v) for v, mask in graph.items() for u in range(n) if mask >> u & 1]
        if not nx.is_directed_acyclic_graph(nx.DiGraph(edges)):
            return -np.inf
        return float(sum(scores[v, index[mask]] for v, mask in graph.items()))

    best = value(found)
    assert np.isfinite(best)
    for v in setting.endogenous:
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
