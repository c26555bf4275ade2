"""The numbers of a world row held against a second derivation, whether a task asks for them or not.

Zeros by construction are re-derived from the graph with networkx; where a zero also rests on the
form of the equations, the simulated units must agree with it.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import networkx as nx
import numpy as np

from builder.causalds.check import graph as audit_graph
from builder.causalds.check.numbers import Estimate, Population
from builder.scm import CORRELATION_BOUND, EFFECT_BOUND, PARTIAL_BOUND, SPREAD_BOUND

TOLERANCE: Final = 5.0
"""Published and re-estimated numbers may differ by this many combined standard errors."""

_ROUNDING: Final = 1e-8

Stored = Mapping[str, Any]
Bound = Callable[[float], float]


def compare(stored: Stored, found: Estimate | None, bound: Bound) -> Iterator[str]:
    """Problems of a stored ``value``, ``se`` and ``source``; ``found`` None: zero by the graph."""
    value, se, source = stored["value"], stored["se"], stored["source"]
    if value is None or se is None:
        yield "no value is published"
        return
    if found is None:
        if not (value == 0.0 and se == 0.0 and source == "structural_zero"):
            yield f"{value} ({source}), zero by the graph"
        return
    if source == "structural_zero":
        yield "called a structural zero, but the graph does not make it one"
    if not se <= bound(value):
        yield f"standard error {se:g} above its bound {bound(value):g}"
    if not np.isfinite(value) or abs(value - found.value) > _allowed(value, se, found.se):
        yield f"published {value:.6g}, found {found.value:.6g} ± {found.se:.2g}"


def _allowed(value: float, *errors: float) -> float:
    return TOLERANCE * math.hypot(*errors) + _ROUNDING * (1 + abs(value))


def effect_bound(value: float) -> float:
    """The largest standard error that an effect may have."""
    return EFFECT_BOUND * (1 + abs(value))


def audit_quantities(
    record: Stored, graph: audit_graph.Graph, latent: frozenset[str], population: Population
) -> Iterator[str]:
    """Problems of ``record["quantities"]``, each named; ``record`` is the parsed ``world_json``.

    Worked out once for a population: the views of a scene share their numbers.
    """
    if "quantities" not in population.found:
        problems = tuple(_derived(record, graph, latent, population))
        population.found["quantities"] = problems
    yield from population.found["quantities"]


def _derived(
    record: Stored, graph: audit_graph.Graph, latent: frozenset[str], population: Population
) -> Iterator[str]:
    x, y = record["treatment"], record["outcome"]
    told = record["quantities"]
    observed = {v for v in graph if v not in latent} - {x, y}
    for kind in ("partial", "change"):
        if set(told[kind]) != observed:
            yield f"{kind} correlations are given {sorted(told[kind])}, not {sorted(observed)}"
            return
    for name, problems in (
        ("association", _marginal(told["association"], graph, x, y, population)),
        ("outcome_sd", compare(told["outcome_sd"], population.sd(y), lambda v: SPREAD_BOUND * v)),
        *((f"partial given {z}", _partial(told["partial"][z], record, graph, z, population))
          for z in sorted(observed)),
        *((f"change given {z}", _change(told["change"][z], graph, (x, y, z), population))
          for z in sorted(observed)),
        *((name, _effect(told[name], name, record, graph, latent, population))
          for name in ("ate", "ett", "nde", "nie")),
    ):  # fmt: skip
        yield from (f"{name}: {text}" for text in problems)


def _marginal(
    stored: Stored, graph: audit_graph.Graph, x: str, y: str, population: Population
) -> Iterator[str]:
    zero = nx.is_d_separator(graph, {x}, {y}, set())
    yield from compare(
        stored, None if zero else population.correlation(x, y), lambda v: CORRELATION_BOUND
    )


def _partial(
    stored: Stored, record: Stored, graph: audit_graph.Graph, z: str, population: Population
) -> Iterator[str]:
    x, y = record["treatment"], record["outcome"]
    found = population.partial(x, y, z)
    free = audit_graph.independent(graph, x, y, z) or audit_graph.independent(graph, y, x, z)
    given = bool(nx.is_d_separator(graph, {x}, {y}, {z}))
    if free or (given and _lines(record, graph, (x, y, z))):
        yield from compare(stored, None, lambda v: PARTIAL_BOUND)
    elif given and stored["source"] == "structural_zero":
        # A zero that only the equations make does not follow from the graph, so the simulated
        # units must agree with it.
        if abs(found.value) > _allowed(0.0, found.se):
            yield f"called a structural zero, found {found.value:.4g} ± {found.se:.2g}"
        yield from compare(stored, None, lambda v: PARTIAL_BOUND)
    else:
        yield from compare(stored, found, lambda v: PARTIAL_BOUND)


def _lines(record: Stored, graph: audit_graph.Graph, targets: tuple[str, ...]) -> bool:
    """Whether all that bears on the targets is a line in its parents with noise of one size."""
    needed = {a for target in targets for a in (target, *nx.ancestors(graph, target))}
    return all(
        not node["parents"]
        or (
            node["noise"] is not None
            and node["noise"].get("spread") is None
            and node["mechanism"] == "linear_additive"
        )
        for node in record["world"]["nodes"]
        if node["name"] in needed
    )


def _change(
    stored: Stored, graph: audit_graph.Graph, triple: tuple[str, str, str], population: Population
) -> Iterator[str]:
    x, y, z = triple
    orders = ((x, y, z), (y, x, z), (z, x, y))
    zero = any(audit_graph.independent(graph, *order) for order in orders)
    found = None if zero else population.change(*triple)
    yield from compare(stored, found, lambda v: PARTIAL_BOUND)


def _effect(
    stored: Stored | None,
    name: str,
    record: Stored,
    graph: audit_graph.Graph,
    latent: frozenset[str],
    population: Population,
) -> Iterator[str]:
    x, y = record["treatment"], record["outcome"]
    levels = (float(record["levels"][0]), float(record["levels"][1]))
    binary = record["variables"][x]["kind"] == "binary"
    identifiable = audit_graph.identifiable(graph, x, y, latent, name, binary_treatment=binary)
    if not identifiable or stored is None:
        if (stored is None) is identifiable:
            yield f"{'missing' if stored is None else 'given'}, derived " + (
                "identifiable" if identifiable else "not identifiable"
            )
        return
    if audit_graph.is_zero(graph, x, y, name):
        found = None
    elif name in ("nde", "nie"):
        between = tuple(sorted(audit_graph.mediators(graph, x, y)))
        found = population.natural(name, x, y, between, levels)
    else:
        found = (population.ate if name == "ate" else population.ett)(x, y, levels)
    yield from compare(stored, found, effect_bound)
