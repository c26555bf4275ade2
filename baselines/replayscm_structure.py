"""``structure+dsl``: a score-based graph search proposes parents, an exact fitter the formulas.

After the paper's bnlearn+DSL row (Table H.1). A later stage answers only what the earlier ones did
not, and the first program that fits is the answer: nothing is minimised, neither over parent sets
nor over functions. Graphs are learned by hill climbing with a tabu list (pgmpy; Koller and Friedman
2009, section 18.4.3) on the BDeu score of Heckerman, Geiger and Chickering (1995), with rows left
out where the child was set by an intervention (Cooper and Yoo 1999). The paper bounds its fitter by
seconds too; ours is bounded by AST size alone, so that an answer does not depend on the machine.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from baselines.replayscm import Puzzle, as_answer, other_program, read_puzzle
from builder.graphs.bits import members
from builder.tracks.replayscm.determinacy import Setting, root_settings
from builder.tracks.replayscm.search import FITTER_CAPS, Choice, Found, first_fit
from builder.tracks.replayscm.tables import Rows, bits, patterns, sets_of
from grader.scoring.shape import Task
from grader.tracks.replayscm.problem import MAX_PARENTS

Floats = NDArray[np.float64]

Graph = Mapping[int, int]
"""Child to its parents, as bits."""

Proposals = Mapping[int, Sequence[int]]
"""Child to parent sets (as bits), the best first."""

TABU: Final = 3
"""The search undoes none of its last so many moves. A longer list forbids the deletions that undo
an early wrong edge in graphs as small as these, and ends at worse scores."""

HYPOTHESES: Final = 4
"""Root sets that are followed where roots are hidden: those whose learned graphs score best."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the portfolio.

    ``searches`` are pairs (length of the tabu list, most moves), 0 being plain hill climbing; each
    runs at every equivalent sample size of ``sample_sizes``, and the first of all ``restarts``
    times more from random graphs. ``caps`` are AST caps of the fitter, tried in turn. With
    ``proposals``, parents may be put together from different graphs, and with ``replicates`` from
    the arcs of graphs learned from so many bootstrap samples of the rows.
    """

    searches: tuple[tuple[int, int], ...]
    sample_sizes: tuple[float, ...] = (1.0, 10.0)
    restarts: int = 8
    caps: tuple[int, ...] = FITTER_CAPS[:1]
    proposals: bool = False
    replicates: int = 0


STAGES: Final = (
    Stage(((TABU, 500),), (1.0,), restarts=0),
    Stage(((TABU, 2000), (0, 2000))),
    Stage(((TABU, 2000), (0, 2000)), proposals=True),
    Stage(((TABU, 4000), (0, 5000)), caps=FITTER_CAPS, proposals=True, replicates=96),
)
"""Table H.1, where parents are at most five and in the end six: here at most the disclosed four."""


def structure_and_formulas(task: Task) -> dict[str, Any]:
    """The answer to one task; an Alternative-SCM task needs no structure to be proposed."""
    puzzle = read_puzzle(task)
    if puzzle.reference is not None:
        return other_program(puzzle, first=True)
    hypotheses = _hypotheses(puzzle)
    # Bootstrap samples are by far the dearest, so they are drawn for the best root set alone.
    runs = (
        run_stage(puzzle, stage if rank == 0 else replace(stage, replicates=0), setting)
        for stage in STAGES
        for rank, setting in enumerate(hypotheses)
    )
    return as_answer(task, next((found for found in runs if found is not None), None))


def _hypotheses(puzzle: Puzzle) -> list[Setting]:
    """The disclosed roots, or the best root sets by the score of a graph learned under each."""
    if puzzle.setting is not None:
        return [puzzle.setting]
    scores = bdeu(puzzle.rows)

    def score(setting: Setting) -> float:
        graph = climb(setting, scores)
        roots = sum(scores[root, 0] for root in members(setting.roots))
        index = _index(puzzle.n)
        return float(roots + sum(scores[child, index[mask]] for child, mask in graph.items()))

    return sorted(root_settings(puzzle.n), key=score, reverse=True)[:HYPOTHESES]


def run_stage(puzzle: Puzzle, stage: Stage, setting: Setting) -> Found | None:
    """The first program that fits: learned graphs first, then what the proposals put together."""
    attempts = (
        place(puzzle, setting, proposals, cap)
        for proposals in _proposed(puzzle, stage, setting)
        for cap in stage.caps
    )
    return next((found for found in attempts if found is not None), None)


def _proposed(puzzle: Puzzle, stage: Stage, setting: Setting) -> Iterator[Proposals]:
    graphs: list[Graph] = []
    for graph in _graphs(puzzle, stage, setting):
        graphs.append(graph)
        yield {child: [mask] for child, mask in graph.items()}
    if stage.proposals:
        yield _from_graphs(setting, graphs)
    if stage.replicates:
        yield _from_bootstrap(puzzle, setting, stage.replicates)


def _graphs(puzzle: Puzzle, stage: Stage, setting: Setting) -> Iterator[Graph]:
    for size in stage.sample_sizes:
        scores = bdeu(puzzle.rows, size)
        for search in stage.searches:
            yield climb(setting, scores, *search)
    rng = np.random.default_rng(0)
    for _ in range(stage.restarts):
        start = _random_graph(rng, setting)
        yield climb(setting, bdeu(puzzle.rows), *stage.searches[0], start)


def _random_graph(rng: np.random.Generator, setting: Setting) -> Graph:
    """Up to three allowed parents for each variable, in a random order of the variables."""
    known, graph = setting.roots, dict[int, int]()
    for child in rng.permutation(list(setting.allowed)).tolist():
        before = list(members(setting.allowed[child] & known))
        count = int(rng.integers(min(len(before), 3) + 1))
        graph[child] = bits(rng.choice(before, count, replace=False).tolist() if count else ())
        known |= 1 << child
    return graph


def climb(
    setting: Setting, scores: Floats, tabu: int = TABU, moves: int = 500, start: Graph | None = None
) -> dict[int, int]:
    """Child to its parents (as bits) in the graph where the search ends, after ``moves`` at most.

    It begins at ``start`` (a child left out has no parents), by default without edges. None of the
    last ``tabu`` moves is undone, and only edges that the disclosure allows are
    considered. Variables are numbers, so that equal gains are told apart in the same order in every
    process.
    """
    # Seconds of imports that other solvers do without.
    import pandas as pd
    from pgmpy.base import DAG
    from pgmpy.causal_discovery import ExpertKnowledge, HillClimbSearch
    from pgmpy.structure_score import BaseStructureScore

    class Stored(BaseStructureScore):  # type: ignore[misc]
        """Local scores looked up in a table of shape (variables, candidate parent sets)."""

        def _local_score(self, variable: int, parents: tuple[int, ...]) -> float:
            return float(scores[variable, index[sum(1 << p for p in parents)]])

    n, index = len(scores), _index(len(scores))
    allowed = {
        (parent, child)
        for child in setting.allowed
        for parent in range(n)
        if setting.allowed[child] >> parent & 1
    }
    forbidden = {(a, b) for a in range(n) for b in range(n) if a != b} - allowed
    begin = DAG()
    begin.add_nodes_from(range(n))
    begin.add_edges_from((p, child) for child, mask in (start or {}).items() for p in members(mask))
    names = pd.DataFrame(np.zeros((2, n)), columns=range(n))
    search = HillClimbSearch(
        scoring_method=Stored(names),
        tabu_length=tabu,
        max_iter=moves,
        max_indegree=max(map(len, sets_of(n).members)),
        expert_knowledge=ExpertKnowledge(forbidden_edges=forbidden),
        return_type="dag",
        show_progress=False,
        start_dag=begin,
    )
    search.fit(names)
    graph = dict.fromkeys(setting.allowed, 0)
    for parent, child in search.causal_graph_.edges():
        graph[child] |= 1 << parent
    return graph


def _from_graphs(setting: Setting, graphs: Sequence[Graph]) -> Proposals:
    """The parents in each graph, then all of them changed by one variable."""
    proposals: dict[int, list[int]] = {}
    for child, allowed in setting.allowed.items():
        learned = [graph[child] for graph in graphs]
        changed = [mask ^ 1 << other for mask in learned for other in members(allowed)]
        unique = dict.fromkeys(learned + changed)
        proposals[child] = [mask for mask in unique if mask.bit_count() <= MAX_PARENTS]
    return proposals


def _from_bootstrap(puzzle: Puzzle, setting: Setting, replicates: int) -> Proposals:
    """All parent sets by how likely they are when every arc stands with its bootstrap support."""
    rng = np.random.default_rng(0)
    sets, rows = sets_of(puzzle.n), puzzle.rows
    support = np.zeros((puzzle.n, puzzle.n))
    for _ in range(replicates):
        drawn = rng.integers(len(rows.values), size=len(rows.values))
        graph = climb(setting, bdeu(Rows(rows.values[drawn], rows.clamped[drawn])))
        for child, mask in graph.items():
            support[child, list(members(mask))] += 1 / replicates
    holds = sets.masks[:, None] >> np.arange(puzzle.n) & 1 == 1
    likely = np.clip(support, 0.5 / replicates, 1 - 0.5 / replicates)
    proposals = {}
    for child, allowed in setting.allowed.items():
        logs = np.where(holds, np.log(likely[child]), np.log1p(-likely[child])).sum(axis=1)
        order = np.argsort(-logs, kind="stable")
        proposals[child] = [int(m) for m in sets.masks[order] if not int(m) & ~allowed]
    return proposals


def place(puzzle: Puzzle, setting: Setting, proposals: Proposals, cap: int) -> Found | None:
    """A program whose mechanisms fit the training rows, each on proposed parents placed before it.

    The proposal that ranks highest among those that can be placed comes next. ``cap`` is the
    largest AST size of a mechanism.
    """
    index, choices, known = _index(puzzle.n), dict[int, Choice](), setting.roots
    fits = {
        v: [(mask, fitted) for mask in proposed if (fitted := _fitted(puzzle, v, index[mask], cap))]
        for v, proposed in proposals.items()
    }
    while len(choices) < len(fits):
        ready = [
            (rank, v, choice)
            for v, proposed in fits.items()
            if v not in choices
            for rank, (mask, choice) in enumerate(proposed)
            if not mask & ~known
        ]
        if not ready:
            return None
        _, v, choice = min(ready)
        choices[v] = choice
        known |= 1 << v
    total = sum(choice.size for choice in choices.values())
    return Found(tuple(members(setting.roots)), choices, total)


def _fitted(puzzle: Puzzle, child: int, k: int, cap: int) -> Choice | None:
    """The first function over a parent set that fits the rows; ``None`` without one."""
    if puzzle.tables.zeros[child, k] & puzzle.tables.ones[child, k]:
        return None
    return first_fit(puzzle.tables, child, k, cap)


def _index(n: int) -> dict[int, int]:
    """The number of each candidate parent set, by its bits."""
    return {int(mask): k for k, mask in enumerate(sets_of(n).masks)}


def bdeu(rows: Rows, sample_size: float = 1.0) -> Floats:
    """BDeu of every variable over every candidate parent set, shape (n, sets).

    ``sample_size`` is the equivalent sample size of the prior.
    """
    n = rows.values.shape[1]
    sets = sets_of(n)
    pattern = patterns(rows)
    result = np.zeros((n, len(sets.masks)))
    width = 1 << max(len(members) for members in sets.members)
    offsets = np.arange(len(sets.masks)) * width
    cells = np.array([1 << len(members) for members in sets.members], dtype=np.float64)
    prior, half = sample_size / cells, sample_size / (2 * cells)
    for v in range(n):
        counts = []
        for value in (0, 1):
            chosen = ~rows.clamped[:, v] & (rows.values[:, v] == value)
            places = (pattern[chosen] + offsets).ravel()
            counts.append(
                np.bincount(places, minlength=width * len(offsets)).reshape(len(offsets), width)
            )
        # Patterns that never occur contribute nothing, those that a set does not have neither.
        terms = gammaln(prior)[:, None] - gammaln(prior[:, None] + counts[0] + counts[1])
        terms += sum(gammaln(half[:, None] + c) - gammaln(half)[:, None] for c in counts)
        result[v] = terms.sum(axis=1)
    return result
