"""Figures of a session: metrics of a hypothesis against the mechanism (edges, skeleton, distance,
roots, coefficients), and from verified readings its trajectory, use of evidence, early stopping.

Precision and recall follow the paper's released scorer: an empty prediction has precision 1 only
when the truth is empty too, an empty truth has recall 1 only when nothing was predicted.

A property's base differs between crystals, so only the manipulator (and a given chain's crystal)
says something about its parents. What the base is after an intervention depends on the mode:
``shift`` makes it the value set, ``pin`` some new constant, and under ``do`` the property follows
its parents no more.

Shift and pin interventions keep a node's parents, so the equivalence class is the one for general
interventions (Yang, Katcoff & Uhler 2018): two graphs are equivalent when they have the same
skeleton and v-structures after every intervention is added as a node of its own that points at its
target. With observational data and single targets that says: same skeleton, same v-structures,
and the same orientation of every edge that touches a target (the criterion of Hauser & Bühlmann
2012, so hard interventions give the same class).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from typing import Any, Final

from grader.laboratory.episode import Episode
from grader.laboratory.hypothesis import Hypothesis
from grader.laboratory.model import ROUNDING

Edge = tuple[str, str]

RELATIVE_TOLERANCE: Final = 1e-3
REFERENCE_TOLERANCE: Final = 1e-6


def rates(hits: int, predicted: int, true: int) -> tuple[float, float, float]:
    """Return precision, recall and F1 from counts: of elements in both, predicted, and true."""
    precision = hits / predicted if predicted else float(not true)
    recall = hits / true if true else float(not predicted)
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0


def f1(predicted: Set[Any], true: Set[Any]) -> float:
    """Return the F1 of one set against another."""
    return rates(len(predicted & true), len(predicted), len(true))[2]


def shd(predicted: Set[Edge], true: Set[Edge]) -> int:
    """Return the structural Hamming distance of acyclic graphs: missing, extra and reversed edges
    count 1 each."""
    return len({frozenset(edge) for edge in predicted ^ true})


def roots(edges: Collection[Edge], target: str) -> set[str]:
    """Return the ancestors of ``target`` that have no parent; none if ``target`` has no parent."""
    ancestors: set[str] = set()
    waiting = [target]
    while waiting:
        node = waiting.pop()
        new = {parent for parent, child in edges if child == node} - ancestors
        ancestors |= new
        waiting += new
    return ancestors - {child for _, child in edges}


def reading_slack(episode: Episode, parent: str, power: int) -> float:
    """Return the absolute error of a coefficient that the rounding of readings causes.

    It is that of the best single-parent experiment over the parent's declared range: two readings
    at its ends for a line, three equally spaced ones for a parabola, each ±0.005.
    """
    spans = {name: high - low for name, (low, high) in episode.ranges.items()}
    span = spans.get(parent) or min(spans.values())
    if episode.family == "linear":
        return 2 * ROUNDING / span
    return 8 * ROUNDING / (span * span if power == 2 else span)


def tolerance(episode: Episode, parent: str, power: int, value: float) -> float:
    """Return how far a coefficient may be from its true ``value``: relative 1e-3 and rounding."""
    return RELATIVE_TOLERANCE * abs(value) + reading_slack(episode, parent, power)


def coefficient_f1(episode: Episode, hypothesis: Hypothesis) -> float:
    """Return the F1 of the terms of the target's equation that are within :func:`tolerance`.

    A declared term whose coefficient is unknown (null) counts as predicted and wrong, one that is
    declared zero is no term.
    """
    true = {
        (term.parent, power): value
        for term in episode.model.equations[episode.target]
        for power, value in ((1, term.linear), (2, term.quadratic))
        if value
    }
    declared = {
        (parent, power): value
        for parent, pair in hypothesis.terms.items()
        for power, value in enumerate(pair, start=1)
        if value != 0
    }
    hits = sum(
        value is not None
        and term in true
        and abs(value - true[term]) <= tolerance(episode, *term, true[term])
        for term, value in declared.items()
    )
    return rates(hits, len(declared), len(true))[2]


def reference_coefficient_f1(episode: Episode, hypothesis: Hypothesis) -> float:
    """Return the F1 of linear coefficients within 1e-6, as the released scorer does: every declared
    one counts as predicted, null and zero ones too."""
    true = {t.parent: t.linear for t in episode.model.equations[episode.target]}
    declared = {
        parent: linear
        for parent, (linear, quadratic) in hypothesis.terms.items()
        if linear != 0 or not quadratic
    }
    hits = sum(
        value is not None and parent in true and abs(value - true[parent]) <= REFERENCE_TOLERANCE
        for parent, value in declared.items()
    )
    return rates(hits, len(declared), len(true))[2]


def hypothesis_metrics(episode: Episode, hypothesis: Hypothesis) -> dict[str, Any]:
    """Return all metrics of a hypothesised graph and target equation, over all pairs of nodes.
    ``base_error`` is absolute, None without a base."""
    edges, base = hypothesis.edges, hypothesis.base
    true, target = episode.edges, episode.target
    precision, recall, edge_f1 = rates(len(edges & true), len(edges), len(true))
    into = [{edge for edge in side if edge[1] == target} for side in (edges, true)]
    return {
        "edge_precision": precision,
        "edge_recall": recall,
        "edge_f1": edge_f1,
        "skeleton_f1": f1(set(map(frozenset, edges)), set(map(frozenset, true))),
        "shd": shd(edges, true),
        "freq_edge_f1": f1(*into),
        "root_f1": f1(roots(edges, target), roots(true, target)),
        "graph_exact": int(edges == true),
        "coefficient_f1": coefficient_f1(episode, hypothesis),
        "coefficient_f1_reference": reference_coefficient_f1(episode, hypothesis),
        "base_error": None if base is None else abs(base - episode.model.base),
    }


def prediction_metrics(episode: Episode, prediction: float | None) -> dict[str, Any]:
    """Return ``accurate``, ``exact`` (1 or 0) and ``error``; 0, 0, None without one."""
    if prediction is None:
        return {"accurate": 0, "exact": 0, "error": None}
    error = abs(prediction - episode.frequency)
    # The target is rounded to two decimals, and so is the comparison: 105.0 against 100.0 ± 5.
    within = round(error, 9) <= episode.tolerance
    return {"accurate": int(within), "exact": int(error <= ROUNDING + 1e-9), "error": error}


MAX_NODES: Final = 5
"""Classes are enumerated up to here."""


@lru_cache(maxsize=4096)
def class_size(nodes: int, edges: frozenset[Edge], targets: frozenset[str]) -> int | None:
    """Return how many directed acyclic graphs are equivalent to ``edges``, (parent, child) of one
    of them, where each of ``targets`` is set alone, beside observation; None beyond
    :data:`MAX_NODES` nodes. All directions of the edges that are not fixed are gone through."""
    if nodes > MAX_NODES:
        return None
    skeleton = frozenset(frozenset(edge) for edge in edges)
    colliders = _v_structures(edges, skeleton)
    fixed = {edge for edge in edges if not targets.isdisjoint(edge)}
    fixed |= {(a, c) for a, _, c in colliders} | {(b, c) for _, b, c in colliders}
    free = sorted(edges - fixed)
    count = 0
    for choice in range(1 << len(free)):
        turned = {(b, a) if choice >> k & 1 else (a, b) for k, (a, b) in enumerate(free)}
        graph = frozenset(fixed | turned)
        if _acyclic(graph) and _v_structures(graph, skeleton) == colliders:
            count += 1
    return count


def _v_structures(
    edges: frozenset[Edge], skeleton: frozenset[frozenset[str]]
) -> frozenset[tuple[str, str, str]]:
    """Return (a, b, c) with a < b for every a → c ← b whose ends are not adjacent."""
    return frozenset(
        (a, b, child)
        for (a, child), (b, other) in combinations(sorted(edges), 2)
        if child == other and frozenset((a, b)) not in skeleton
    )


def _acyclic(edges: Iterable[Edge]) -> bool:
    """Return whether the directed edges, (parent, child), form no cycle."""
    sorter = TopologicalSorter[str]()
    for parent, child in edges:
        sorter.add(child, parent)
    try:
        sorter.prepare()
    except CycleError:
        return False
    return True


Reading = Mapping[str, float]
Setting = tuple[str, float, Reading]
"""An intervention and what was then read: (property, value, reading)."""

_SLOP: Final = 1e-6
"""Floating-point error of a residual norm, relative to the norm allowed."""


Equation = tuple[Reading, float | None, int, float]
"""One reading as an equation for a property: the property's base if known, the number of an unknown
base, which equations of one number share, and the error allowed."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The readings an agent saw: the episode's own, and one after each of ``settings``."""

    episode: Episode
    settings: Sequence[Setting]

    def explained_by(self, node: str, parents: Sequence[str]) -> bool:
        """Return whether some coefficients of ``parents`` fit every reading of property ``node``.

        Rows are divided by their allowance. The true coefficients then miss none by more than 1, so
        the least-squares solution has a residual norm of at most the root of their number.
        """
        rows = list(self._equations(node))
        if not rows:
            return True
        import numpy as np

        powers = (1, 2) if self.episode.family == "quadratic" else (1,)
        constants = sorted({constant for _, base, constant, _ in rows if base is None})
        matrix = np.array(
            [
                [
                    *(reading[parent] ** power for power in powers for parent in parents),
                    *(float(base is None and constant == c) for c in constants),
                ]
                for reading, base, constant, _ in rows
            ]
        ).reshape(len(rows), -1)
        sides = np.array([reading[node] - (base or 0.0) for reading, base, *_ in rows])
        allowances = np.array([allowance for *_, allowance in rows])
        matrix, sides = matrix / allowances[:, None], sides / allowances
        # Columns of one length: squares of readings are thousands of times the readings.
        lengths = np.sqrt((matrix**2).sum(axis=0))
        matrix /= np.where(lengths > 0, lengths, 1.0)
        solution = np.linalg.lstsq(matrix, sides, rcond=None)[0]
        norm = float(np.linalg.norm(matrix @ solution - sides))
        return bool(norm <= len(rows) ** 0.5 * (1 + _SLOP))

    def _equations(self, node: str) -> Iterator[Equation]:
        """Yield a node's equations from the given chain, which starts at the first record, and from
        the agent's own session. Two crystals share no unknown base."""
        public, hidden, mode = self.episode.public, self.episode.disturbance, self.episode.mode
        shifted = ROUNDING
        if hidden is not None and node in hidden.nodes:
            shifted = 2 * ROUNDING + hidden.largest_shift
        crystals = [(public["opening"], self.settings, shifted)]
        if public["chain"]:
            chain = [(s["set"]["name"], s["set"]["value"], s["reading"]) for s in public["chain"]]
            crystals.insert(0, (public["records"][0], chain, ROUNDING))
        constant = 0
        for first, settings, allowance in crystals:
            base: float | None = None
            constant += 1
            if first is not None:
                yield first, None, constant, ROUNDING
            for name, value, reading in settings:
                if name == node:
                    if mode == "do":
                        break
                    base = value if mode == "shift" else None
                    constant += 1
                yield reading, base, constant, allowance


def trajectory(episode: Episode, steps: Sequence[tuple[int, Hypothesis]]) -> list[dict[str, Any]]:
    """Return a row of metrics, with its ``step``, for the last hypothesis stated at each step, by
    step. ``steps`` are (interventions made so far, hypothesis) in the order given."""
    return [
        {"step": step, **hypothesis_metrics(episode, hypothesis)}
        for step, hypothesis in sorted(dict(steps).items())
    ]


def equivalence_sizes(evidence: Evidence) -> list[int | None]:
    """Return the size of the interventional equivalence class for each number of interventions from
    0 on, None for graphs of more than ``MAX_NODES`` nodes.

    Where the agent is told that the target acts on nothing, every edge at it is known to point at
    it, just as every edge at a property whose effect when set is seen. A reading shows its last
    intervention against the reading before it: the first one on a crystal nobody read before shows
    nothing by itself. Properties set in a given chain are seen from the beginning.
    """
    episode, public = evidence.episode, evidence.episode.public
    known = frozenset(step["set"]["name"] for step in public["chain"])
    known |= set() if public["frequency_may_be_parent"] else {episode.target}
    named, first = [name for name, _, _ in evidence.settings], int(public["opening"] is None)
    return [
        class_size(len(episode.nodes), episode.edges, known.union(named[first:count]))
        for count in range(len(named) + 1)
    ]


def equation_fits(evidence: Evidence, hypothesis: Hypothesis) -> list[bool]:
    """Return, for each reading, given ones first, whether the hypothesised target equation fits it.

    It does not where the hypothesis predicts nothing. A residual is allowed the reading's rounding
    and what a coefficient within tolerance may cause, and the bound of a hidden disturbance where
    one can shift the target.
    """
    episode, hidden = evidence.episode, evidence.episode.disturbance
    given = [*episode.public["records"], *(step["reading"] for step in episode.public["chain"])]
    if episode.public["opening"] is not None:
        given.append(episode.public["opening"])
    slacks = [
        (parent, power, tolerance(episode, parent, power, value))
        for parent, pair in hypothesis.terms.items()
        for power, value in enumerate(pair, start=1)
        if value
    ]
    fits = []
    readings = [*given, *(reading for _, _, reading in evidence.settings)]
    for place, reading in enumerate(readings):
        predicted, bound = hypothesis.predict(reading), 2 * ROUNDING
        bound += sum(slack * abs(reading[parent]) ** power for parent, power, slack in slacks)
        if hidden is not None and place >= len(given) and episode.target in hidden.nodes:
            bound += hidden.largest_shift
        fits.append(predicted is not None and abs(reading[episode.target] - predicted) <= bound)
    return fits


def graph_fits(evidence: Evidence, hypothesis: Hypothesis) -> bool:
    """Return whether each property has some equation over the hypothesised graph that fits."""
    return all(
        evidence.explained_by(node, sorted(a for a, b in hypothesis.edges if b == node))
        for node in evidence.episode.names
    )


def diagnose(evidence: Evidence, hypothesis: Hypothesis, *, committed: bool) -> dict[str, Any]:
    """Return the figures of budget, equivalence, consistency and premature stopping.

    A hypothesis is consistent if its own target equation fits every reading and each property has
    some equation over its graph that does. It is premature to commit (to predict), with budget
    left, to one that is not, or while the interventions made leave other graphs equivalent to the
    true one. ``premature`` is None without a prediction, and where nothing can be set.
    """
    budget, used = evidence.episode.budget, len(evidence.settings)
    fits = equation_fits(evidence, hypothesis)
    graph_ok = graph_fits(evidence, hypothesis)
    consistent = graph_ok and all(fits)
    class_size = equivalence_sizes(evidence)[-1]
    undone = not consistent or (class_size is not None and class_size > 1)
    return {
        "budget": budget,
        "used": used,
        "budget_share": used / budget if budget else None,
        "class_size": class_size,
        "consistency": sum(fits) / len(fits) if fits else None,
        "consistent": int(consistent),
        "graph_consistent": int(graph_ok),
        "premature": int(used < budget and undone) if committed and budget else None,
    }
