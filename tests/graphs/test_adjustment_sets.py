"""Adjustment sets and forbidden controls, against paths."""

from itertools import chain, combinations

import networkx as nx
import numpy as np
import pytest
from random_queries import is_open, networkx_of, random_query

from builder.graphs.graph import LatentDAG
from builder.graphs.identification import (
    adjustable,
    forbidden_controls,
    minimal_adjustment_sets,
    valid_adjustment_sets,
)
from builder.graphs.motifs import MOTIFS

# motif -> valid sets, forbidden controls
EXPECTED = {
    "chain": ([set()], {"M"}),
    "mediation": ([set()], {"M"}),
    "confounding": ([{"Z"}], set()),
    "fork": ([{"Z"}], set()),
    "collider": ([set()], {"Z"}),
    "arrowhead": ([set(), {"V1"}], {"V2"}),
    "diamond": ([set()], {"M1", "M2"}),
    "diamondcut": ([{"V1"}, {"V2"}, {"V1", "V2"}], set()),
    "frontdoor": ([], {"Z"}),
    "iv": ([], {"Z"}),
    "double_nc": ([], {"Z", "W"}),
    "triangle": ([set()], {"V3"}),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_motif_sets_are_the_textbook_ones(name: str) -> None:
    """The published benchmark lists mediators as valid controls in a quarter of its scenes."""
    motif = MOTIFS[name]
    query = (motif.graph, motif.treatment, motif.outcome)
    valid, forbidden = EXPECTED[name]
    assert [set(s) for s in valid_adjustment_sets(*query)] == valid
    assert forbidden_controls(*query) == forbidden


def test_a_descendant_of_a_mediator_is_in_no_valid_set() -> None:
    """Conditioning on the mediator's effect removes part of the causal path."""
    g = LatentDAG(("X", "M", "Y", "D"), (("X", "M"), ("M", "Y"), ("M", "D")))
    assert valid_adjustment_sets(g, "X", "Y") == (frozenset(),)
    assert forbidden_controls(g, "X", "Y") == {"M", "D"}


def test_sets_agree_with_the_definition_path_by_path() -> None:
    """Brute force over paths and subsets: no cleverness shared with the code."""
    rng = np.random.default_rng(20)
    for _ in range(250):
        g, x, y = random_query(rng)
        others = [v for v in g.observed_nodes if v not in (x, y)]
        candidates = chain.from_iterable(combinations(others, k) for k in range(len(others) + 1))
        expected = _valid_by_definition(g, x, y, [frozenset(c) for c in candidates])
        valid = valid_adjustment_sets(g, x, y)
        assert len(valid) == len(set(valid))
        assert set(valid) == expected, (g, x, y)
        assert adjustable(g, x, y) == bool(expected)
        minimal = {s for s in expected if not any(other < s for other in expected)}
        assert set(minimal_adjustment_sets(g, x, y)) == minimal
        assert forbidden_controls(g, x, y) == set(others) - set().union(*expected)
        if y in g.descendants(x):
            beyond = g.descendants(g.mediators(x, y) | {y})
            assert not any(s & beyond for s in valid)


def _valid_by_definition(
    g: LatentDAG, x: str, y: str, candidates: list[frozenset[str]]
) -> set[frozenset[str]]:
    peer = networkx_of(g)
    causal = [tuple(path) for path in nx.all_simple_paths(peer, x, y)]
    on_causal = {node for path in causal for node in path[1:]}
    forbidden = on_causal.union(*(nx.descendants(peer, node) for node in on_causal))
    others = [
        path
        for path in map(tuple, nx.all_simple_paths(peer.to_undirected(), x, y))
        if path not in causal
    ]
    return {
        z
        for z in candidates
        if not z & forbidden and not any(is_open(peer, path, z) for path in others)
    }
