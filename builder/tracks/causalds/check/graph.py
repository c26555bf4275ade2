"""Derive graph truths a second way: by definition and brute force, with networkx.

Nothing here is shared with ``builder.graphs``. Adjustment sets come from trying every subset on the
proper back-door graph (van der Zander, Liskiewicz & Textor 2014), identifiability of the ATE from a
search for hedges (Shpitser & Pearl 2006, theorem 4) instead of the ID recursion.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations, pairwise
from typing import TypeAlias, cast

import networkx as nx

Graph: TypeAlias = "nx.DiGraph[str]"


def graph_of(edges: Iterable[tuple[str, str]], nodes: Iterable[str]) -> Graph:
    """Return the directed graph with these edges and nodes."""
    graph: Graph = nx.DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edges)
    return graph


def valid_adjustment_sets(
    graph: Graph, x: str, y: str, latent: frozenset[str]
) -> list[frozenset[str]]:
    """Return all valid adjustment sets, smallest first, by trying every observed subset."""
    on_paths = _causal_nodes(graph, x, y)
    forbidden = {v for node in on_paths for v in (node, *nx.descendants(graph, node))}
    first_edges = [(x, child) for child in graph.successors(x) if child in on_paths]
    back_door = _hide_parts(graph, [], first_edges).copy()  # a view is slower, and used often
    candidates = [v for v in graph if v not in latent and v not in (x, y)]
    return [
        chosen
        for chosen in _subsets(candidates)
        if not chosen & forbidden and nx.is_d_separator(back_door, {x}, {y}, set(chosen))
    ]


def minimal_sets(sets: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """Return the sets that contain no other of them, in their order."""
    found = list(sets)
    return [one for one in found if not any(other < one for other in found)]


def method_label(graph: Graph, x: str, y: str, latent: frozenset[str]) -> str:
    """Return the first identification label of the ATE that applies (paper 3.4), each by its
    definition: "trivial_zero", "backdoor", "frontdoor", "none" or "other_id"."""
    if not nx.has_path(graph, x, y):
        return "trivial_zero"
    if valid_adjustment_sets(graph, x, y, latent):
        return "backdoor"
    if _front_door(graph, x, y, latent):
        return "frontdoor"
    return "none" if has_hedge(graph, x, y, latent) else "other_id"


def has_hedge(graph: Graph, x: str, y: str, latent: frozenset[str]) -> bool:
    """Tell whether some hedge for P(y | do(x)) exists, so that it is not identifiable. A hedge is a
    pair of bidirected-connected sets F' inside F, X in F but not in F', where F' lies in An(Y) once
    edges into X are cut and every node of F reaches F' inside F. For each F' the largest candidate
    F is found by alternately shrinking to the ancestors of F' and to the district of F'."""
    directed, bidirected = project(graph, latent)
    cut = _hide_parts(directed, [], directed.in_edges(x))
    relevant = _reaching(cut, {y}) - {x}
    return any(
        x in _largest_forest(directed, bidirected, inner)
        for inner in _subsets(sorted(relevant))
        if inner and nx.is_connected(bidirected.subgraph(inner))
    )


def is_zero(graph: Graph, x: str, y: str, effect: str) -> bool:
    """Tell whether the graph makes "ate", "ett", "nde" or "nie" zero, as no path carries it."""
    if effect == "nde":
        return not graph.has_edge(x, y)
    if effect == "nie":
        return not mediators(graph, x, y)
    return not nx.has_path(graph, x, y)


def is_identifiable(
    graph: Graph, x: str, y: str, latent: frozenset[str], effect: str, *, binary_treatment: bool
) -> bool:
    """Tell whether "ate", "ett", "nde" or "nie" is identifiable. A structural zero is."""
    if is_zero(graph, x, y, effect):
        return True
    if effect in ("nde", "nie"):
        return _is_natural_identifiable(graph, x, y, latent)
    if effect == "ate" or binary_treatment:
        return not has_hedge(graph, x, y, latent)
    return _is_ett_identifiable(graph, x, y, latent)


def _is_ett_identifiable(graph: Graph, x: str, y: str, latent: frozenset[str]) -> bool:
    """Tell whether the effect of a treatment that is not binary on the treated is identifiable.

    It is unless X and one of its children share a district over An(Y) and An(X): one factor would
    need both values of X (Shpitser & Tchetgen Tchetgen 2016)."""
    directed, bidirected = project(graph, latent)
    kept = _reaching(directed, {x, y})
    district = nx.node_connected_component(bidirected.subgraph(kept), x)
    return not any(child in district for child in directed.successors(x) if child in kept)


def _is_natural_identifiable(graph: Graph, x: str, y: str, latent: frozenset[str]) -> bool:
    """Tell whether a natural effect along paths that exist is identifiable.

    Along the only kind of path it is the average effect. Else no chain of latent nodes may lead
    from X to Y, and no child of X share the district of Y over An(Y) without X (Shpitser 2013)."""
    if has_hedge(graph, x, y, latent):
        return False
    if not (graph.has_edge(x, y) and mediators(graph, x, y)):
        return True
    if nx.has_path(_hide_parts(graph.subgraph({x, y, *latent}), [], [(x, y)]), x, y):
        return False
    directed, bidirected = project(graph, latent)
    kept = _reaching(_hide_parts(directed, [x], []), {y})
    district = nx.node_connected_component(bidirected.subgraph(kept), y)
    return not any(child in district and child != y for child in directed.successors(x))


def mediators(graph: Graph, x: str, y: str) -> set[str]:
    """Return the nodes strictly inside directed paths from X to Y, latent ones included."""
    return _causal_nodes(graph, x, y) - {y}


def opens_path(graph: Graph, x: str, y: str, z: str) -> bool:
    """Tell whether `z` opens a blocked path from `x` to `y` that is not directed that way."""
    skeleton = graph.to_undirected()
    return any(
        not all(graph.has_edge(a, b) for a, b in pairwise(path))
        and not _is_open(graph, path, set())
        and _is_open(graph, path, {z})
        for path in nx.all_simple_paths(skeleton, x, y)
    )


def _is_open(graph: Graph, path: list[str], given: set[str]) -> bool:
    """Tell whether each collider is given or has a given descendant, and no other node is given."""
    for before, node, after in zip(path, path[1:], path[2:], strict=False):
        if graph.has_edge(before, node) and graph.has_edge(after, node):
            if not given & {node, *nx.descendants(graph, node)}:
                return False
        elif node in given:
            return False
    return True


def project(graph: Graph, latent: frozenset[str]) -> tuple[Graph, "nx.Graph[str]"]:
    """Return the latent projection over observed nodes: directed graph, then bidirected graph."""
    observed = [v for v in graph if v not in latent]
    directed = graph_of((), observed)
    bidirected: nx.Graph[str] = nx.Graph()
    bidirected.add_nodes_from(observed)
    for node in graph:
        hidden = graph.subgraph({node, *latent})
        inside = {node, *nx.descendants(hidden, node)}
        reached = sorted({child for v in inside for child in graph.successors(v)} - latent)
        if node in latent:
            bidirected.add_edges_from(combinations(reached, 2))
        else:
            directed.add_edges_from((node, other) for other in reached)
    return directed, bidirected


def _largest_forest(
    directed: Graph, bidirected: "nx.Graph[str]", inner: frozenset[str]
) -> set[str]:
    """Return the largest bidirected-connected set whose nodes reach ``inner`` inside it."""
    start = min(inner)
    kept = set(directed)
    while True:
        district = nx.node_connected_component(bidirected.subgraph(kept), start)
        shrunk = _reaching(directed.subgraph(district), set(inner))
        if shrunk == kept:
            return kept
        kept = shrunk


def _front_door(graph: Graph, x: str, y: str, latent: frozenset[str]) -> bool:
    """Tell whether a non-empty observed set meets the front-door criterion (Pearl 1995, def. 3)."""
    without_x_effects = _hide_parts(graph, [], graph.out_edges(x)).copy()
    candidates = [v for v in graph if v not in latent and v not in (x, y)]
    return any(
        chosen
        and not nx.has_path(_hide_parts(graph, chosen, []), x, y)
        and nx.is_d_separator(without_x_effects, {x}, set(chosen), set())
        and nx.is_d_separator(
            _hide_parts(graph, [], graph.out_edges(chosen)), set(chosen), {y}, {x}
        )
        for chosen in _subsets(candidates)
    )


def _hide_parts(graph: Graph, nodes: Iterable[str], edges: Iterable[tuple[str, str]]) -> Graph:
    """Return a view of the graph that hides some nodes and edges."""
    return cast(Graph, nx.restricted_view(graph, nodes, edges))


def _causal_nodes(graph: Graph, x: str, y: str) -> set[str]:
    """Return the nodes on directed paths from X to Y, X excluded."""
    return set(nx.descendants(graph, x) & _reaching(graph, {y}))


def _reaching(graph: Graph, targets: set[str]) -> set[str]:
    """Return the targets and their ancestors."""
    return targets.union(*(nx.ancestors(graph, target) for target in targets))


def _subsets(items: Iterable[str]) -> Iterator[frozenset[str]]:
    """Yield all subsets, the smallest first."""
    members = list(items)
    for size in range(len(members) + 1):
        yield from map(frozenset, combinations(members, size))
