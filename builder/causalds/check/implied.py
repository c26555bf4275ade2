"""What an implied story states, proved a second time.

Each statement is held against the graph by its definition, with plain networkx; that the graph is
the only one is proved by an encoding that shares nothing with the one that stories are made by
(:mod:`builder.reader.deduce`), on what was recorded here, and on what the text says where the
story is read (:mod:`builder.causalds.check.story`). Pairs that are told to make a difference are
simulated again.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import networkx as nx
import numpy as np

from builder.causalds.check.graph import Graph
from builder.causalds.check.hidden import Hidden
from builder.implied.reasoning import Step, proves
from builder.implied.statements import MOST, Statement
from builder.reader import deduce

_LEAST_EFFECT: Final = 0.03
"""Standard deviations that a told effect must at least have when it is simulated again: those told
have 0.05 in the build's own sample."""

_QUARTILE_OFF: Final = 0.03
"""By what share of the units quartiles of the build's sample of 4,096 may be off: more than four
standard errors."""


def read_statements(record: Mapping[str, Any]) -> list[Statement]:
    """The statements of a world row. Raises ``ValueError`` for a record that is none."""
    return [Statement.read(what) for what in record["statements"]]


def audit_implied(hidden: Hidden) -> list[str]:
    """The problems of the statements that a world row records, one line each."""
    return list(_problems(hidden))


def _problems(hidden: Hidden) -> Iterator[str]:
    graph = nx.relabel_nodes(hidden.graph, dict(hidden.names))
    latent = frozenset(hidden.names[node] for node in hidden.latent)
    statements = read_statements(hidden.record)
    if len(statements) > MOST:
        yield f"{len(statements)} statements, at most {MOST} are allowed"
    for statement in statements:
        if not satisfies(graph, latent, statement):
            yield f"{statement} is not true of the graph"
    measured = tuple(sorted(set(graph) - latent))
    found = deduce(measured, tuple(statement.what for statement in statements))
    if found.graphs != 1 or found.edges != set(graph.edges):
        yield "its statements do not leave the scene's graph alone"
    among = {(a, b) for a, b in graph.edges if a not in latent}
    proof = hidden.record["proof"]
    if proof is not None and not proves(map(Step.read, proof), measured, statements, among):
        yield "the proof that it states is none"
    if {s.names[0] for s in statements if s.kind == "reach"} != latent:
        yield "it does not say what every unmeasured variable acts on"
    if not any(s.kind == "closure" for s in statements):
        yield "it does not say that nothing unnamed acts on two variables"


def satisfies(graph: Graph, latent: frozenset[str], statement: Statement) -> bool:
    """Whether a statement is true of a graph over names, by its definition."""
    names, number = statement.names, statement.number
    match statement.kind:
        case "direct" | "not_direct":
            return graph.has_edge(*names) == (statement.kind == "direct")
        case "moves" | "still":
            return _path(graph, *names) == (statement.kind == "moves")
        case "before":
            return not _path(graph, names[1], names[0])
        case "only_through":
            a, b, m = names
            return _path(graph, a, b) and not _path(_without(graph, m), a, b)
        case "causes":
            return sum(v not in latent for v in graph.predecessors(names[0])) == number
        case "effects":
            return sum(v not in latent for v in graph.successors(names[0])) == number
        case "shared" | "unshared":
            a, b = names
            found = any(
                _path(_without(graph, b), c, a) and _path(_without(graph, a), c, b)
                for c in graph
                if c not in latent and c not in names
            )
            return found == (statement.kind == "shared")
        case "reach":
            return set(graph.successors(names[0])) == set(names[1:]) and names[0] in latent
        case "total":
            return sum(a not in latent for a, _ in graph.edges) == number
        case "closure":
            return not any(graph.in_degree(v) for v in latent)


def audit_moved(hidden: Hidden) -> Iterator[str]:
    """Pairs that are told to make a difference and, simulated again, hardly do."""
    if "statements" not in hidden.record:
        return
    nodes = {name: node for node, name in hidden.names.items()}
    for statement in read_statements(hidden.record):
        if statement.kind in ("moves", "only_through"):
            cause, effect = (nodes[name] for name in statement.names[:2])
            least = _LEAST_EFFECT * hidden.population.sd(effect).value
            found = [
                abs(hidden.population.ate(cause, effect, levels).value)
                for levels in _levels(hidden, cause)
            ]
            if max(found) < least:
                yield f"{statement}: an effect of {max(found):.3g} is too small to be told"


def _levels(hidden: Hidden, node: str) -> list[tuple[float, float]]:
    """0 and 1 of a binary variable; the quartiles of another, and what a sample may take for them:
    where a threshold lies beside a quartile, whether it is crossed hangs on that."""
    values = hidden.population.factual[node]
    if set(np.unique(values[:64])) <= {0.0, 1.0}:
        return [(0.0, 1.0)]
    lower = (0.25, 0.25 - _QUARTILE_OFF, 0.25 + _QUARTILE_OFF)
    cuts = np.quantile(values, [*lower, *(1.0 - share for share in lower)])
    return [(float(cuts[i]), float(cuts[i + 3])) for i in range(3)]


def _path(graph: Graph, a: str, b: str) -> bool:
    return bool(nx.has_path(graph, a, b))


def _without(graph: Graph, name: str) -> Graph:
    rest = graph.copy()
    rest.remove_node(name)
    return rest
