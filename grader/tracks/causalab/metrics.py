"""Metrics of a hypothesis against the mechanism: edges, skeleton, distance, roots, coefficients.

Precision and recall follow the paper's released scorer: an empty prediction has precision 1 only
when the truth is empty too, an empty truth has recall 1 only when nothing was predicted.
"""

from collections.abc import Collection, Set
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
