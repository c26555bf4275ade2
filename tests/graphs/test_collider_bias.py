"""Which controls open a blocked path."""

import networkx as nx
import numpy as np
import pytest
from random_queries import graph_of, is_open, networkx_of, random_query

from builder.graphs.graph import LatentDAG
from builder.graphs.identification import opens_collider_bias

# edges, latent nodes, control, answer, why
CASES = [
    ("X>V2 V1>V2 X>Y V1>Y V2>Y", "", "V2", True, "X -> V2 <- V1 -> Y opens"),
    ("X>V2 V1>V2 X>Y V1>Y V2>Y", "", "V1", False, "V1 is no collider"),
    ("X>V2 V1>V2 X>Y V1>Y V2>Y V2>D", "", "D", True, "through a descendant of the collider"),
    ("U1>X U1>Z U2>Z U2>Y X>Y", "U1 U2", "Z", True, "M-bias"),
    ("X>Z Y>Z", "", "Z", True, "common effect"),
    ("X>Y X>V3 Y>V3", "", "V3", True, "common effect of cause and outcome"),
    ("X>M M>Y M>D", "", "D", False, "over-control only"),
    ("X>M M>Y M>D", "", "M", False, "over-control only"),
    ("Z>X Z>Y X>Y", "", "Z", False, "closes a path, opens none"),
    ("X>Y Y>D", "", "D", False, "selection on the outcome alone opens no path"),
    ("X>M M>Y U>M U>Y", "U", "M", True, "the mediator is a collider on X -> M <- U -> Y"),
]


@pytest.mark.parametrize(("edges", "latent", "z", "answer", "why"), CASES)
def test_named_cases(edges: str, latent: str, z: str, answer: bool, why: str) -> None:
    """The published benchmark deletes causal edges first and so misses the first three."""
    assert opens_collider_bias(graph_of(edges, latent), "X", "Y", z) is answer, why


def test_answers_agree_with_the_definition_path_by_path() -> None:
    """Lists every path and applies the definition literally."""
    rng = np.random.default_rng(30)
    seen = {True: 0, False: 0}
    for _ in range(400):
        g, x, y = random_query(rng)
        for z in g.observed_nodes:
            if z not in (x, y):
                expected = _by_definition(g, x, y, z)
                assert opens_collider_bias(g, x, y, z) is expected, (g, x, y, z)
                seen[expected] += 1
    assert min(seen.values()) > 100


@pytest.mark.parametrize(
    ("z", "message"),
    [("U", "'U' is latent"), ("X", "treatment or the outcome"), ("Q", "unknown node 'Q'")],
)
def test_impossible_controls_are_refused(z: str, message: str) -> None:
    """Controlling for something nobody measured is no question to ask."""
    g = LatentDAG(("U", "X", "Y"), (("U", "X"), ("U", "Y")), frozenset("U"))
    with pytest.raises(ValueError, match=message):
        opens_collider_bias(g, "X", "Y", z)


def _by_definition(g: LatentDAG, x: str, y: str, z: str) -> bool:
    peer = networkx_of(g)
    causal = {tuple(path) for path in nx.all_simple_paths(peer, x, y)}
    for path in map(tuple, nx.all_simple_paths(peer.to_undirected(), x, y)):
        if path not in causal and is_open(peer, path, {z}) and not is_open(peer, path, set()):
            return True
    return False
