"""Reference solvers of the track replayscm: exact search, structure search, and constants.

A task is read as partial tables and the disclosed setting. ``symbolic`` takes all parent sets of at
most four variables, the smallest fitting function of each, and the best acyclic choice; ties are
broken lexicographically. Complete, so it always fits the training worlds.

``structure+dsl`` follows the paper's bnlearn+DSL row (Table H.1): a score-based graph search
proposes parents, an exact fitter the formulas, and the first program that fits is the answer;
nothing is minimised, neither over parent sets nor over functions. Graphs are learned by hill
climbing with a tabu list (pgmpy; Koller and Friedman 2009, section 18.4.3) on the BDeu score of
Heckerman, Geiger and Chickering (1995), with rows left out where the child was set by an
intervention (Cooper and Yoo 1999). The paper bounds its fitter by seconds too; ours is bounded by
AST size alone, so that an answer does not depend on the machine.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from baselines.taking import TrackSystems, from_prompts
from builder.graphs.bits import members
from builder.tracks.replayscm.determinacy import Setting, root_settings
from builder.tracks.replayscm.plan import Disclosure
from builder.tracks.replayscm.programs import HiddenProgram, assemble, name_of
from builder.tracks.replayscm.search import (
    FITTER_CAPS,
    Choice,
    Found,
    find_alternative,
    first_fit,
    search,
    search_with_roots,
)
from builder.tracks.replayscm.tables import Rows, Tables, bits, patterns, sets_of, tabulate
from grader.scoring.shape import Task
from grader.tracks.replayscm.boolean import parse, to_text
from grader.tracks.replayscm.problem import ROOTS, make_program, parse_map

Floats = NDArray[np.float64]

Graph = Mapping[int, int]
"""Child to its parents, as bits."""

Proposals = Mapping[int, Sequence[int]]
"""Child to parent sets (as bits), the best first."""

TABU: Final = 3
"""The search undoes none of its last so many moves. A longer list forbids the deletions that undo
an early wrong edge in graphs as small as these, and ends at worse scores."""

SEARCHES: Final = ((TABU, 4000), (0, 4000))
"""Length of the tabu list (0 is plain hill climbing) and most moves of each search."""

SAMPLE_SIZES: Final = (1.0, 10.0)
"""Equivalent sample sizes of the prior under which each search is run."""

HYPOTHESES: Final = 4
"""Root sets that are followed where roots are hidden: those whose learned graphs score best."""


@dataclass(frozen=True, slots=True)
class Puzzle:
    """One task. ``setting`` is ``None`` where the roots are hidden; variables are label numbers."""

    n: int
    rows: Rows
    tables: Tables
    setting: Setting | None
    disclosure: Disclosure
    reference: HiddenProgram | None


def read_puzzle(task: Task) -> Puzzle:
    """The task's public inputs as arrays, variables in the order of their labels."""
    inputs = task.inputs
    names, rows = inputs["variables"], _rows(inputs["variables"], inputs["worlds"])
    return Puzzle(
        len(names), rows, tabulate(rows), _setting(inputs), _disclosure(inputs), _reference(inputs)
    )


def _rows(names: Sequence[str], worlds: Sequence[Mapping[str, Any]]) -> Rows:
    values = np.array(
        [[int(bit) for bit in row] for world in worlds for row in world["rows"]], dtype=np.int64
    )
    targets = [world["targets"] for world in worlds for _ in world["rows"]]
    clamped = np.array([[name in chosen for name in names] for chosen in targets], dtype=bool)
    return Rows(values, clamped)


def _disclosure(inputs: Any) -> Disclosure:
    if inputs["roots"] is None:
        return "hidden_roots"
    if inputs["order"] is not None:
        return "ordered"
    return "hidden" if inputs["blocks"] is None else "block"


def _setting(inputs: Any) -> Setting | None:
    """Roots and, for each other variable, those it may mention."""
    if inputs["roots"] is None:
        return None
    names, roots = inputs["variables"], set(inputs["roots"])
    allowed = {}
    for place, name in enumerate(names):
        if name in roots:
            continue
        if inputs["order"] is not None:
            may = set(inputs["order"][: inputs["order"].index(name)])
        elif inputs["blocks"] is not None:
            own = next(k for k, block in enumerate(inputs["blocks"]) if name in block)
            may = {other for block in inputs["blocks"][: own + 1] for other in block} - {name}
        else:
            may = set(names) - {name}
        allowed[place] = bits(map(names.index, may))
    return Setting(bits(map(names.index, roots)), allowed)


def _reference(inputs: Any) -> HiddenProgram | None:
    """The supplied program, in the disclosed order or in one that its mechanisms allow."""
    if not inputs.get("reference"):
        return None
    program = make_program(inputs["roots"], parse_map(inputs["reference"]))
    labels = inputs["order"] or [*program.roots, *program.order]
    order = tuple(int(name[1:]) - 1 for name in labels)
    formulas = {int(name[1:]) - 1: parse(text) for name, text in inputs["reference"].items()}
    return assemble(order, dict.fromkeys(formulas, ()), formulas)


def symbolic(task: Task) -> dict[str, Any]:
    """The answer to one task."""
    puzzle = read_puzzle(task)
    if puzzle.reference is not None:
        return other_program(puzzle)
    found = (
        search_with_roots(puzzle.tables)
        if puzzle.setting is None
        else search(puzzle.tables, puzzle.setting)
    )
    return as_answer(task, found)


def other_program(puzzle: Puzzle, *, first: bool = False) -> dict[str, Any]:
    """The smallest separable flip of an unseen pattern, or the ``first`` by variable and parents.

    The reference itself if there is none.
    """
    assert puzzle.reference is not None
    answer = find_alternative(
        puzzle.reference, puzzle.tables, puzzle.disclosure, smallest=not first
    )
    return answer if answer is not None else unchanged(puzzle)


def unchanged(puzzle: Puzzle) -> dict[str, Any]:
    """The reference as an answer: legal, and worth nothing."""
    assert puzzle.reference is not None
    roots = [name_of(v) for v in puzzle.reference.roots]
    return {
        "mechanisms": puzzle.reference.mechanisms(),
        "intervention": {"variable": roots[0], "value": 1},
        "witness": dict.fromkeys(roots[1:], 0),
    }


def as_answer(task: Task, found: Found | None) -> dict[str, Any]:
    """A found program in the answer's form; a failure is an answer of the form without content."""
    if found is None:
        return {"mechanisms": {}, "roots": []}
    mechanisms = {name: to_text(formula) for name, formula in found.formulas().items()}
    answer: dict[str, Any] = {"mechanisms": mechanisms}
    if task.shape.name == "roots_mechanisms":
        answer["roots"] = [name_of(v) for v in found.roots]
    return answer


def majority(task: Task) -> dict[str, Any]:
    """Every mechanism a constant: the value its variable has more often where it is not set.

    Roots are the disclosed ones, or the first three variables.
    """
    puzzle = read_puzzle(task)
    if puzzle.reference is not None:
        return unchanged(puzzle)
    setting, (values, clamped) = puzzle.setting, (puzzle.rows.values, puzzle.rows.clamped)
    roots = [v for v in range(puzzle.n) if setting is None or setting.roots >> v & 1][:ROOTS]
    first, mechanisms = name_of(roots[0]), {}
    for v in range(puzzle.n):
        if v not in roots:
            free = values[~clamped[:, v], v]
            operator = "iff" if 2 * int(free.sum()) >= len(free) else "xor"
            mechanisms[name_of(v)] = f"({operator} {first} {first})"
    answer: dict[str, Any] = {"mechanisms": mechanisms}
    if task.shape.name == "roots_mechanisms":
        answer["roots"] = [name_of(v) for v in roots]
    return answer


def structure_and_formulas(task: Task) -> dict[str, Any]:
    """The answer to one task; an Alternative-SCM task needs no structure to be proposed."""
    puzzle = read_puzzle(task)
    if puzzle.reference is not None:
        return other_program(puzzle, first=True)
    runs = (first_program(puzzle, setting) for setting in _hypotheses(puzzle))
    return as_answer(task, next((found for found in runs if found is not None), None))


def first_program(puzzle: Puzzle, setting: Setting) -> Found | None:
    """The first program that fits: on a learned graph, then on any parents."""
    attempts = (place(puzzle, setting, *proposed) for proposed in _proposed(puzzle, setting))
    return next((found for found in attempts if found is not None), None)


def _proposed(puzzle: Puzzle, setting: Setting) -> Iterator[tuple[Proposals, int]]:
    """Yield proposals with the largest AST size of a mechanism on them."""
    for size in SAMPLE_SIZES:
        scores = bdeu(puzzle.rows, size)
        for options in SEARCHES:
            graph = climb(setting, scores, *options)
            yield {child: [mask] for child, mask in graph.items()}, FITTER_CAPS[0]
    ranked = _by_score(setting, bdeu(puzzle.rows))
    yield from ((ranked, cap) for cap in FITTER_CAPS)


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


def climb(setting: Setting, scores: Floats, tabu: int = TABU, moves: int = 500) -> dict[int, int]:
    """Child to its parents (as bits) in the graph where the search ends, after ``moves`` at most.

    It begins without edges. None of the last ``tabu`` moves is undone, and only edges that the
    disclosure allows are considered. Variables are numbers, so that equal gains are told apart in
    the same order in every process.
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


def _by_score(setting: Setting, scores: Floats) -> Proposals:
    """All allowed parent sets of each child, the best score first."""
    masks = sets_of(len(scores)).masks
    return {
        child: [int(m) for m in masks[np.argsort(-scores[child], kind="stable")]
                if not int(m) & ~allowed]
        for child, allowed in setting.allowed.items()
    }  # fmt: skip


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


SYSTEMS: Final = TrackSystems(
    naive=from_prompts(majority),
    informed=from_prompts(symbolic),
    own={
        "symbolic": ("exact search, smallest train-exact program", from_prompts(symbolic)),
        "structure+dsl": (
            "BDeu hill climbing for parents, an exact fitter for formulas",
            from_prompts(structure_and_formulas),
        ),
        "majority": (
            "every mechanism its variable's most frequent value",
            from_prompts(majority),
        ),
    },
)
