"""Strata of wild graphs: each holds on a graph drawn for it, and fails on its near misses."""

import pytest

from builder.causal.graph import LatentDAG
from builder.causal.strata import STRATA, in_stratum
from builder.causal.strata.m_bias import tempting


def graph(edges: str, latent: str = "") -> LatentDAG:
    pairs = tuple((edge.split(">")[0], edge.split(">")[1]) for edge in edges.split())
    nodes = tuple(dict.fromkeys(node for pair in pairs for node in pair))
    return LatentDAG(nodes, pairs, frozenset(latent.split()))


TWO = "A>X A>Y B>X B>Y X>Y"
M = "X>Y U>X U>Z V>Z V>Y"
DOOR = "X>M M>Y U>X U>Y C>X C>Y D>C"
BEYOND = "W>Z Z>X X>Y U>W U>X V>W V>Y"
RECANT = "X>M M>Y X>Y U>M U>Y"


@pytest.mark.parametrize(
    ("stratum", "edges", "latent", "holds", "why"),
    [
        ("several_controls", TWO, "", True, "both confounders must be adjusted for"),
        ("several_controls", "A>X A>Y X>Y", "", False, "one is enough"),
        ("several_controls", f"{TWO} U>X U>Y", "U", False, "no set is valid"),
        ("hidden_cause", "U>X U>A A>Y X>Y", "U", True, "A closes the door that U opens"),
        ("hidden_cause", "U>X U>A B>X B>Y X>Y", "U", False, "U does not reach Y past X"),
        ("hidden_cause", "U>X U>Y X>Y", "U", False, "no set is valid"),
        ("m_bias", M, "U V", True, "Z goes with both ends and opens the path between U and V"),
        ("m_bias", M, "V", False, "with U measured, Z may be adjusted for together with it"),
        ("m_bias", "X>Y Z>X Z>Y", "", False, "Z is a confounder, and must be adjusted for"),
        ("front_door", DOOR, "U", True, "C, a measured confounder, and D stand about"),
        ("front_door", "X>M M>Y U>X U>Y", "U", False, "no decoys"),
        ("front_door", "X>M M>Y C>X C>Y D>C", "", False, "adjusting for C is enough"),
        ("components", BEYOND, "U V", True, "the napkin"),
        ("components", DOOR, "U", False, "the front door is enough"),
        ("hedge_elsewhere", "X>M M>Y U>X U>M", "U", True, "U acts on X and M"),
        ("hedge_elsewhere", "X>Y U>X U>Y", "U", False, "U acts on X and Y"),
        ("hedge_elsewhere", "X>M M>Y", "", False, "identifiable"),
        ("natural_lost", RECANT, "U", True, "M is confounded with Y"),
        ("natural_lost", "X>M M>Y X>Y", "", False, "all are identifiable"),
        ("natural_lost", "X>Y", "", False, "the indirect effect is 0 by the graph"),
        ("natural_kept", "X>M M>Y U>X U>M", "U", True, "the direct effect is 0 by the graph"),
        ("natural_kept", "X>M M>Y X>Y U>X U>M", "U", False, "neither is identifiable"),
        ("harmless", "X>Y A>X A>Y U>A U>X", "U", True, "A blocks what U might do"),
        ("harmless", "X>Y U>X U>Y", "U", False, "U is the confounder"),
        ("harmless", "X>Y A>X A>Y", "", False, "nothing is unmeasured"),
        ("harmless", RECANT, "U", False, "U takes the natural effects away"),
    ],
)
def test_a_stratum_holds_where_it_should(
    stratum: str, edges: str, latent: str, holds: bool, why: str
) -> None:
    """Cases worked by hand, near misses among them."""
    assert in_stratum(stratum, graph(edges, latent), "X", "Y") is holds, why


def test_the_tempting_covariate_is_named() -> None:
    """Of an M: its middle, not a descendant of the treatment."""
    assert tempting(graph(f"{M} X>D Y>D", "U V"), "X", "Y") == ("Z",)


def test_no_stratum_holds_without_an_effect() -> None:
    """A wild scene always has an effect to ask about."""
    alone = graph("A>X A>Y U>X U>A", "U")
    assert not any(in_stratum(name, alone, "X", "Y") for name in STRATA)
