"""Reference solvers of the track replayscm: exact search, structure search, and constants.

``symbolic`` takes all parent sets of at most four variables, the smallest fitting function of each,
and the best acyclic choice, ties broken lexicographically: it always fits the training worlds.

``structure+dsl`` follows the paper's bnlearn+DSL row (Table H.1): a score-based graph search
proposes parents, an exact fitter the formulas, and the first program that fits is the answer.
Graphs are learned by hill climbing with a tabu list (pgmpy; Koller and Friedman 2009, section
18.4.3) on the BDeu score of Heckerman, Geiger and Chickering (1995), with rows left out where the
child was set by an intervention (Cooper and Yoo 1999). The paper bounds its fitter by seconds too;
ours is bounded by AST size alone, so that an answer does not depend on the machine.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from baselines.exam import TrackSystems, from_prompts
from builder.graphs.graph import members
from builder.tracks.replayscm.determinacy import ParentLimits, limits_by_roots
from builder.tracks.replayscm.plan import Disclosure
from builder.tracks.replayscm.programs import HiddenProgram, assemble, name_of
from builder.tracks.replayscm.search import (
    FITTER_CAPS,
    Choice,
    FittedProgram,
    find_alternative,
    first_fit,
    smallest_program,
    smallest_program_and_roots,
)
from builder.tracks.replayscm.tables import (
    ObservedRows,
    PartialTables,
    bits,
    patterns,
    sets_of,
    tabulate,
)
from grader.scoring.shape import Task
from grader.tracks.replayscm.boolean import to_text
from grader.tracks.replayscm.problem import ROOTS, make_program, read_problem

Floats = NDArray[np.float64]

Proposals = Mapping[int, Sequence[int]]
"""Child to parent sets (as bits), the best first."""

TABU: Final = 3
"""The search undoes none of its last so many moves. A longer list ends at worse scores."""

SEARCHES: Final = ((TABU, 4000), (0, 4000))
"""Length of the tabu list (0 is plain hill climbing) and most moves of each search."""

SAMPLE_SIZES: Final = (1.0, 10.0)
"""Equivalent sample sizes of the prior under which each search is run."""

HYPOTHESES: Final = 4
"""Root sets that are followed where roots are hidden: those whose learned graphs score best."""


@dataclass(frozen=True, slots=True)
class Puzzle:
    """One task; its ``n`` variables are numbered from 0 in the order of their labels.

    ``rows`` are those of all training worlds, ``tables`` what they show of every function.
    ``setting`` has the disclosed roots and possible parents, None where the roots are hidden.
    ``reference`` is the program to differ from in an Alternative-SCM task, else None.
    """

    n: int
    rows: ObservedRows
    tables: PartialTables
    setting: ParentLimits | None
    disclosure: Disclosure
    reference: HiddenProgram | None


def read_puzzle(task: Task) -> Puzzle:
    """Return the task's public inputs as arrays, variables in the order of their labels."""
    problem = read_problem(task.inputs)
    setting: ParentLimits | None = None
    disclosure: Disclosure = "hidden_roots"
    names = problem.names
    if problem.roots is not None:
        allowed = {
            place: bits(map(names.index, problem.possible_parents(name)))
            for place, name in enumerate(names)
            if name not in problem.roots
        }
        setting = ParentLimits(bits(map(names.index, problem.roots)), allowed)
        disclosure = "ordered" if problem.order else "block" if problem.blocks else "hidden"
    worlds = [world for world in task.inputs["worlds"] for _ in world["rows"]]
    values = [[int(bit) for bit in row] for world in task.inputs["worlds"] for row in world["rows"]]
    clamped = [[name in world["targets"] for name in names] for world in worlds]
    rows = ObservedRows(np.array(values, dtype=np.int64), np.array(clamped, dtype=bool))
    reference: HiddenProgram | None = None
    if problem.reference and problem.roots is not None:
        # In the disclosed order, or in one that the mechanisms allow.
        program = make_program(problem.roots, problem.reference)
        labels = problem.order or (*program.roots, *program.order)
        formulas = {int(name[1:]) - 1: formula for name, formula in problem.reference.items()}
        order = tuple(int(name[1:]) - 1 for name in labels)
        reference = assemble(order, dict.fromkeys(formulas, ()), formulas)
    return Puzzle(len(names), rows, tabulate(rows), setting, disclosure, reference)


def symbolic(task: Task) -> dict[str, Any]:
    """Answer a task with the smallest program that fits every training row."""
    puzzle = read_puzzle(task)
    if puzzle.reference is not None:
        return other_program(puzzle)
    if puzzle.setting is None:
        return as_answer(task, smallest_program_and_roots(puzzle.tables))
    return as_answer(task, smallest_program(puzzle.tables, puzzle.setting))


def other_program(puzzle: Puzzle, *, first: bool = False) -> dict[str, Any]:
    """Answer with the reference after one flip, at an unseen pattern, that an experiment can show.

    It is the one of least AST size, or with ``first`` the first. Without one return the reference.
    """
    assert puzzle.reference is not None
    reference, tables = puzzle.reference, puzzle.tables
    answer = find_alternative(reference, tables, puzzle.disclosure, smallest=not first)
    return answer if answer is not None else reference_answer(puzzle)


def reference_answer(puzzle: Puzzle) -> dict[str, Any]:
    """Answer with the reference itself, its first root set to 1, witness zeros: worth nothing."""
    assert puzzle.reference is not None
    roots = [name_of(v) for v in puzzle.reference.roots]
    return {
        "mechanisms": puzzle.reference.mechanisms(),
        "intervention": {"variable": roots[0], "value": 1},
        "witness": dict.fromkeys(roots[1:], 0),
    }


def as_answer(task: Task, found: FittedProgram | None) -> dict[str, Any]:
    """Return a program as an answer; for None one without mechanisms and roots."""
    if found is None:
        return {"mechanisms": {}, "roots": []}
    mechanisms = {name: to_text(formula) for name, formula in found.formulas().items()}
    return _answer(task, mechanisms, found.roots)


def _answer(task: Task, mechanisms: dict[str, str], roots: Sequence[int]) -> dict[str, Any]:
    if task.shape.name != "roots_mechanisms":
        return {"mechanisms": mechanisms}
    return {"mechanisms": mechanisms, "roots": [name_of(v) for v in roots]}


def majority(task: Task) -> dict[str, Any]:
    """Answer with constants, the commoner value where unset; an alternative with its reference."""
    puzzle = read_puzzle(task)
    if puzzle.reference is not None:
        return reference_answer(puzzle)
    setting, (values, clamped) = puzzle.setting, (puzzle.rows.values, puzzle.rows.clamped)
    roots = [v for v in range(puzzle.n) if setting is None or setting.roots >> v & 1][:ROOTS]
    first, mechanisms = name_of(roots[0]), {}
    for v in range(puzzle.n):
        if v not in roots:
            free = values[~clamped[:, v], v]
            operator = "iff" if 2 * int(free.sum()) >= len(free) else "xor"
            mechanisms[name_of(v)] = f"({operator} {first} {first})"
    return _answer(task, mechanisms, roots)


def structure_and_formulas(task: Task) -> dict[str, Any]:
    """Answer with the first program that fits; an Alternative-SCM task needs no learned graph."""
    puzzle = read_puzzle(task)
    if puzzle.reference is not None:
        return other_program(puzzle, first=True)
    attempts = (
        place_mechanisms(puzzle, setting, *proposal)
        for setting in _hypotheses(puzzle)
        for proposal in _proposals(puzzle, setting)
    )
    return as_answer(task, next((found for found in attempts if found is not None), None))


def _proposals(puzzle: Puzzle, setting: ParentLimits) -> Iterator[tuple[Proposals, int]]:
    """Yield (parent sets by child, largest AST size of a mechanism), learned graphs first.

    After them come all allowed parent sets of each child, the highest score first.
    """
    for size in SAMPLE_SIZES:
        scores = bdeu(puzzle.rows, size)
        for options in SEARCHES:
            graph = learn_graph(setting, scores, *options)
            yield {child: [mask] for child, mask in graph.items()}, FITTER_CAPS[0]
    scores, masks = bdeu(puzzle.rows), sets_of(puzzle.n).masks
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = {
        child: [int(mask) for mask in masks[order[child]] if not mask & ~allowed]
        for child, allowed in setting.allowed.items()
    }
    yield from ((ranked, cap) for cap in FITTER_CAPS)


def _hypotheses(puzzle: Puzzle) -> list[ParentLimits]:
    """Return the disclosed setting alone, or settings of the best-scoring root sets, best first."""
    if puzzle.setting is not None:
        return [puzzle.setting]
    scores = bdeu(puzzle.rows)

    def score(setting: ParentLimits) -> float:
        graph = learn_graph(setting, scores)
        roots = sum(scores[root, 0] for root in members(setting.roots))
        index = _index(puzzle.n)
        return float(roots + sum(scores[child, index[mask]] for child, mask in graph.items()))

    return sorted(limits_by_roots(puzzle.n), key=score, reverse=True)[:HYPOTHESES]


def learn_graph(
    setting: ParentLimits, scores: Floats, tabu: int = TABU, moves: int = 500
) -> dict[int, int]:
    """Return the graph where hill climbing ends after at most ``moves``: child to parents, as bits.

    It begins without edges and climbs ``scores`` of :func:`bdeu` over the edges that are allowed;
    none of the last ``tabu`` moves is undone. Variables are numbers, so that equal gains are told
    apart in the same order in every process.
    """
    # Seconds of imports that other solvers do without.
    import pandas as pd
    from pgmpy.base import DAG
    from pgmpy.causal_discovery import ExpertKnowledge, HillClimbSearch
    from pgmpy.structure_score import BaseStructureScore

    class StoredScore(BaseStructureScore):  # type: ignore[misc]
        """A score that looks local scores up in ``scores``, shape (variables, parent sets)."""

        def _local_score(self, variable: int, parents: tuple[int, ...]) -> float:
            return float(scores[variable, index[sum(1 << p for p in parents)]])

    n, index = len(scores), _index(len(scores))
    pairs = permutations(range(n), 2)
    forbidden = {(a, b) for a, b in pairs if not setting.allowed.get(b, 0) >> a & 1}
    begin = DAG()
    begin.add_nodes_from(range(n))
    names = pd.DataFrame(np.zeros((2, n)), columns=range(n))
    climb = HillClimbSearch(
        scoring_method=StoredScore(names),
        tabu_length=tabu,
        max_iter=moves,
        max_indegree=max(map(len, sets_of(n).members)),
        expert_knowledge=ExpertKnowledge(forbidden_edges=forbidden),
        return_type="dag",
        show_progress=False,
        start_dag=begin,
    )
    climb.fit(names)
    graph = dict.fromkeys(setting.allowed, 0)
    for parent, child in climb.causal_graph_.edges():
        graph[child] |= 1 << parent
    return graph


def place_mechanisms(
    puzzle: Puzzle, setting: ParentLimits, proposals: Proposals, cap: int
) -> FittedProgram | None:
    """Return a program that fits on proposed parents, or None. ``cap`` bounds AST sizes."""
    index, choices, known = _index(puzzle.n), dict[int, Choice](), setting.roots
    fits = {
        v: [
            (mask, fitted)
            for mask in proposed
            if (fitted := first_fit(puzzle.tables, v, index[mask], cap))
        ]
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
    return FittedProgram(tuple(members(setting.roots)), choices, total)


def _index(n: int) -> dict[int, int]:
    """Return the place of each candidate parent set in ``sets_of(n)``, by the mask of its bits."""
    return {int(mask): k for k, mask in enumerate(sets_of(n).masks)}


def bdeu(rows: ObservedRows, sample_size: float = 1.0) -> Floats:
    """Return BDeu scores (n, sets) over rows where the variable is not set.

    A higher score is better. ``sample_size`` is the equivalent sample size of the prior.
    """
    n = rows.values.shape[1]
    sets, pattern = sets_of(n), patterns(rows)
    result = np.zeros((n, len(sets.masks)))
    cells = np.array([1 << len(members) for members in sets.members])
    shape = len(cells), int(cells.max())
    offsets = np.arange(shape[0]) * shape[1]
    prior, half = sample_size / cells, sample_size / (2 * cells)
    for v in range(n):
        counts = []
        for value in (0, 1):
            chosen = ~rows.clamped[:, v] & (rows.values[:, v] == value)
            places = (pattern[chosen] + offsets).ravel()
            counts.append(np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape))
        # Patterns that never occur contribute nothing, those that a set does not have neither.
        terms = gammaln(prior)[:, None] - gammaln(prior[:, None] + counts[0] + counts[1])
        terms += sum(gammaln(half[:, None] + c) - gammaln(half)[:, None] for c in counts)
        result[v] = terms.sum(axis=1)
    return result


SYSTEMS: Final = TrackSystems(
    naive=from_prompts(majority),
    informed=from_prompts(symbolic),
    own={
        "symbolic": ("exact search, smallest train-exact program", from_prompts(symbolic)),
        "structure+dsl": (
            "BDeu hill climbing for parents, an exact fitter for formulas",
            from_prompts(structure_and_formulas),
        ),
        "majority": ("every mechanism its variable's commonest value", from_prompts(majority)),
    },
)
