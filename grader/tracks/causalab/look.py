"""A causalab task with its world open: the true graph and its equations."""

from collections.abc import Mapping
from typing import Any

from grader.look import Graph, Kind, Look, proofs
from grader.model import Truth
from grader.shape import Task


def look(task: Task, truth: Truth, world: Mapping[str, Any]) -> Look:
    """The mechanism, which the truth row holds whole."""
    equations = truth.target["equations"]
    edges = [(term["parent"], child) for child, terms in equations.items() for term in terms]
    nodes = list(dict.fromkeys([*(a for a, _ in edges), *equations]))
    kinds: dict[str, Kind] = {"frequency": "outcome"} if "frequency" in equations else {}
    facts = [(child, _sum(terms)) for child, terms in sorted(equations.items()) if terms]
    return Look(Graph(nodes, edges, kinds), {}, facts, proofs(__file__)["session"])


def _sum(terms: list[Mapping[str, Any]]) -> str:
    """The right-hand side of an equation, without its base."""
    parts = []
    for term in terms:
        if term["linear"]:
            parts.append(f"{term['linear']:g}·{term['parent']}")
        if term["quadratic"]:
            parts.append(f"{term['quadratic']:g}·{term['parent']}²")
    return "base + " + " + ".join(parts)
