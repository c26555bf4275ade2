"""The search for induced subgraphs finds what networkx finds, and nothing else."""

import networkx as nx
import numpy as np
import pytest
from networkx.algorithms.isomorphism import DiGraphMatcher

from builder.graphs.graph import LatentDAG
from builder.graphs.motifs import MOTIFS, PLANTED, random_graft
from builder.stories.knowledge import Domain, domains
from builder.stories.naming import matches, pattern
from builder.stories.types import Kind

AUXILIARY = {"chain": 1.0, "collider": 1.0, "triangle": 1.0}


def _kinds(graph: LatentDAG, binary: str) -> dict[str, Kind]:
    return {node: "binary" if node == binary else "continuous" for node in graph.nodes}


def _by_networkx(graph: LatentDAG, kinds: dict[str, Kind], domain: Domain) -> set[frozenset[str]]:
    """Names of all matches, as (node=name) pairs, by the general matcher."""
    host: nx.DiGraph[str] = nx.DiGraph(list(domain.mechanism_clauses))
    for concept in domain.concepts:
        host.add_node(concept.name, kinds=concept.kinds, latent=concept.latent)
    wanted: nx.DiGraph[str] = nx.DiGraph(list(graph.edges))
    for node in graph.nodes:
        wanted.add_node(node, kind=kinds[node], latent=node in graph.latent)
    matcher = DiGraphMatcher(
        host,
        wanted,
        node_match=lambda there, here: (
            here["kind"] in there["kinds"] and (there["latent"] or not here["latent"])
        ),
    )
    return {
        frozenset(f"{node}={name}" for name, node in match.items())
        for match in matcher.subgraph_isomorphisms_iter()
    }


def _found(graph: LatentDAG, kinds: dict[str, Kind], domain: Domain, order: list[int]) -> list:
    """Names of all matches that the search finds, as (node=name) pairs."""
    shape = pattern(graph, tuple(kinds[node] for node in graph.nodes))
    return [
        frozenset(
            f"{node}={domain.concepts[i].name}" for node, i in zip(shape.nodes, match, strict=True)
        )
        for match in matches(shape, domain, order)
    ]


@pytest.mark.parametrize("name", [*MOTIFS, *PLANTED])
def test_the_search_finds_exactly_the_induced_matches_of_a_motif(name: str) -> None:
    """A match that is not induced tells a non-edge that its domain contradicts."""
    motif = {**MOTIFS, **PLANTED}[name]
    kinds = _kinds(motif.graph, motif.treatment)
    for domain in domains()[:2]:
        found = _found(motif.graph, kinds, domain, [*range(len(domain.concepts))])
        assert len(found) == len(set(found))
        assert set(found) == _by_networkx(motif.graph, kinds, domain)


def test_grafted_graphs_are_found_too_in_any_order_of_search() -> None:
    """Larger graphs are where a pruning mistake would show."""
    rng = np.random.default_rng(5)
    for _ in range(4):
        grown = random_graft(rng, MOTIFS["confounding"], AUXILIARY, 1)
        kinds = _kinds(grown.graph, grown.outcome)
        domain = domains()[int(rng.integers(len(domains())))]
        order = rng.permutation(len(domain.concepts)).tolist()
        found = _found(grown.graph, kinds, domain, order)
        assert set(found) == _by_networkx(grown.graph, kinds, domain)


def test_a_graph_that_no_domain_holds_has_no_match() -> None:
    """Nothing must be found where there is nothing: a clique of six occurs in no domain."""
    names = tuple("abcdef")
    clique = LatentDAG(names, tuple((a, b) for a in names for b in names if a < b))
    shape = pattern(clique, ("continuous",) * 6)
    assert not any(list(matches(shape, domain)) for domain in domains()[:5])
