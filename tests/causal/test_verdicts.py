"""Every verdict on motifs, grafts and random graphs, by definition and by others' programs."""

import networkx as nx
import numpy as np
import pytest
from graph_shapes import single_grafts
from verdicts import QUESTIONS, Query, compare, named_queries, queries

from builder.causal.growth import HOSTS, confounded
from builder.causal.motifs import MOTIFS


def test_every_verdict_of_a_small_run_is_proved() -> None:
    """The same run at full size is the evidence behind the labels."""
    tally = compare(queries(60, 2))
    assert len(named_queries()) == 267
    assert {question for question, *_ in tally.counts} == {one.label for one in QUESTIONS}
    assert tally.disagreements == []


def test_a_query_depends_on_its_number_alone() -> None:
    """A disagreement in a long run must be found again without repeating the run."""
    short = [query for query, _ in queries(3, 7)]
    long = [query for query, _ in queries(5, 7)]
    assert long[: len(short)] == short


def test_grafts_are_listed_once_and_none_is_lost() -> None:
    """A hash shared by two different graphs would leave one of them unchecked."""
    kept = [_drawn(query) for query in named_queries()]
    plain = [grown for name in HOSTS for grown in single_grafts(MOTIFS[name])]
    for motif in plain[::5]:
        for grown in (motif, confounded(motif)):
            one = _drawn((grown.graph, grown.treatment, grown.outcome))
            same = [nx.is_isomorphic(one, other, node_match=dict.__eq__) for other in kept]
            assert same.count(True) == 1


def _drawn(query: Query) -> "nx.DiGraph[str]":
    graph, x, y = query
    drawn: nx.DiGraph[str] = nx.DiGraph()
    for node in graph.nodes:
        drawn.add_node(node, x=node == x, y=node == y, latent=node in graph.latent)
    drawn.add_edges_from(graph.edges)
    return drawn


@pytest.mark.slow
def test_every_verdict_on_20000_graphs_is_proved() -> None:
    """The published count: each yes by its value, each no by twin models."""
    tally = compare(queries(20_000, 1))
    assert tally.disagreements == []
    assert tally.worst_error < 1e-9
    assert np.isfinite(tally.smallest_gap)
