"""Hold the catalogue of causal motifs that scenes are built from (paper 3.1 and A.5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from builder.graphs.graph import LatentDAG


@dataclass(frozen=True, slots=True)
class Motif:
    """A small graph with treatment and outcome, nodes named by role (``X``, ``Z``, ``M`` …)."""

    name: str
    graph: LatentDAG
    treatment: str
    outcome: str

    @property
    def effect(self) -> tuple[LatentDAG, str, str]:
        """The effect that is asked about, as arguments: graph, treatment and outcome."""
        return self.graph, self.treatment, self.outcome

    @property
    def other_nodes(self) -> list[str]:
        """The observed nodes beside treatment and outcome, in node order."""
        return [v for v in self.graph.observed_nodes if v not in (self.treatment, self.outcome)]


def _motif(name: str, edges: str, latent: str = "", treatment: str = "X") -> Motif:
    """Return the motif of edges written as "X>M M>Y", its outcome always Y. ``latent`` lists the
    latent nodes, blanks between them. Nodes are ordered by first mention."""
    pairs = tuple((edge.split(">")[0], edge.split(">")[1]) for edge in edges.split())
    nodes = tuple(dict.fromkeys(node for pair in pairs for node in pair))
    return Motif(name, LatentDAG(nodes, pairs, frozenset(latent.split())), treatment, "Y")


def _catalogue(*motifs: Motif) -> Mapping[str, Motif]:
    return MappingProxyType({motif.name: motif for motif in motifs})


MOTIFS = _catalogue(
    _motif("chain", "X>M M>Y"),
    _motif("mediation", "X>M M>Y X>Y"),
    _motif("confounding", "Z>X Z>Y X>Y"),
    _motif("fork", "Z>X Z>Y"),
    _motif("collider", "X>Z Y>Z"),
    _motif("arrowhead", "X>V2 V1>V2 X>Y V1>Y V2>Y"),
    _motif("diamond", "X>M1 M1>Y X>M2 M2>Y"),
    _motif("diamondcut", "V1>V2 V1>X X>Y V2>Y"),
    _motif("frontdoor", "X>Z Z>Y U>X U>Y", latent="U"),
    _motif("iv", "Z>X X>Y U>X U>Y", latent="U"),
    _motif("double_nc", "U>A U>Y U>Z U>W A>Y", latent="U", treatment="A"),
    _motif("triangle", "X>Y X>V3 Y>V3"),
)
"""All twelve motifs by name, in the order of the paper's catalogue."""

PLANTED = _catalogue(
    _motif("napkin", "W>Z Z>X X>Y U1>W U1>X U2>W U2>Y", latent="U1 U2"),
    _motif("mediation_confounded", "X>M M>Y X>Y U>M U>Y", latent="U"),
)
"""Two structures on which rung 3 departs from rung 2, too rare to arise by chance. The napkin
identifies the ATE but not a non-binary ETT, confounded mediation no natural effect."""
