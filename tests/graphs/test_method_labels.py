"""Method labels and the front-door criterion."""

import networkx as nx
import numpy as np
import pytest
from random_queries import graph_of, is_open, networkx_of, random_query

from builder.graphs.graph import LatentDAG
from builder.graphs.identification import frontdoor_sets, identification_method


@pytest.mark.parametrize(
    ("edges", "latent", "method", "why"),
    [
        ("Z>X Z>Y", "", "trivial_zero", "no directed path, although Z would be a valid set"),
        ("Y>X", "", "trivial_zero", "the reverse effect does not count"),
        ("X>M M>Y", "", "backdoor", "the empty set comes before the front door through M"),
        ("X>M M>Y U>X U>Y", "U", "frontdoor", "the textbook front door"),
        ("X>M1 M1>Y X>M2 M2>Y U>X U>Y", "U", "frontdoor", "two mediators together"),
        ("W>Z Z>X X>Y U1>W U1>X U2>W U2>Y", "U1 U2", "other_id", "napkin"),
        ("X>M M>Y U>X U>Y C>X C>M C>Y", "U", "other_id", "front door only given C"),
        ("X>Y U>X U>Y", "U", "none", "bow arc"),
        ("Z>X X>Y U>X U>Y", "U", "none", "a generic instrument"),
    ],
)
def test_the_first_label_that_applies_wins(edges, latent, method, why) -> None:
    """The order of the labels is the paper's; several criteria often hold at once."""
    assert identification_method(graph_of(edges, latent), "X", "Y") == method, why


def test_front_door_sets_agree_with_the_criterion_path_by_path() -> None:
    """The three conditions, checked on listed paths instead of cut graphs."""
    rng = np.random.default_rng(41)
    found = 0
    for _ in range(400):
        g, x, y = random_query(rng, nodes=(4, 7), latent=(1, 3))
        sets = set(frontdoor_sets(g, x, y))
        others = [v for v in g.observed_nodes if v not in (x, y)]
        for bits in range(1, 1 << len(others)):
            chosen = frozenset(v for i, v in enumerate(others) if bits >> i & 1)
            assert (chosen in sets) == _is_front_door(g, x, y, chosen), (g, x, y, chosen)
        found += len(sets)
    assert found > 20


def _is_front_door(g: LatentDAG, x: str, y: str, chosen: frozenset[str]) -> bool:
    peer = networkx_of(g)
    causal = list(nx.all_simple_paths(peer, x, y))
    if not causal or not all(chosen & set(path) for path in causal):
        return False
    skeleton = peer.to_undirected()

    def backdoor_open(a: str, b: str, given: set[str], avoid: frozenset[str]) -> bool:
        return any(
            peer.has_edge(path[1], a) and not avoid & set(path[1:-1]) and is_open(peer, path, given)
            for path in nx.all_simple_paths(skeleton, a, b)
        )

    # A path from m that runs through another member counts for that member only when it leaves
    # there by a back door, so paths are cut at the last member.
    return not any(backdoor_open(x, m, set(), frozenset()) for m in chosen) and not any(
        backdoor_open(m, y, {x}, chosen) for m in chosen
    )
