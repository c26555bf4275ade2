"""Hold the catalogue of causal motifs, and grow them (paper 3.1, A.5, A.7).

A graft shares exactly one node with what is there, so it can make no cycle. A latent common cause
of treatment and outcome usually destroys identifiability. A *harmless* latent variable changes no
verdict, so that the presence of an unmeasured variable does not reveal one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from builder.graphs.graph import LatentDAG
from builder.graphs.identification import identification_method, is_identifiable
from builder.splits.seeds import pick


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


def _motifs(**edges: str) -> dict[str, Motif]:
    """Return motifs by name of edges written as "X>M M>Y". Their outcome is Y, nodes that begin
    with U are latent, and nodes are ordered by first mention."""
    motifs = {}
    for name, text in edges.items():
        pairs = tuple((edge.split(">")[0], edge.split(">")[1]) for edge in text.split())
        nodes = tuple(dict.fromkeys(node for pair in pairs for node in pair))
        graph = LatentDAG(nodes, pairs, frozenset(node for node in nodes if node.startswith("U")))
        motifs[name] = Motif(name, graph, "X" if "X" in nodes else "A", "Y")
    return motifs


MOTIFS: Final[Mapping[str, Motif]] = _motifs(
    chain="X>M M>Y",
    mediation="X>M M>Y X>Y",
    confounding="Z>X Z>Y X>Y",
    fork="Z>X Z>Y",
    collider="X>Z Y>Z",
    arrowhead="X>V2 V1>V2 X>Y V1>Y V2>Y",
    diamond="X>M1 M1>Y X>M2 M2>Y",
    diamondcut="V1>V2 V1>X X>Y V2>Y",
    frontdoor="X>Z Z>Y U>X U>Y",
    iv="Z>X X>Y U>X U>Y",
    double_nc="U>A U>Y U>Z U>W A>Y",
    triangle="X>Y X>V3 Y>V3",
)
"""All twelve motifs by name, in the order of the paper's catalogue."""

PLANTED: Final[Mapping[str, Motif]] = _motifs(
    napkin="W>Z Z>X X>Y U1>W U1>X U2>W U2>Y", mediation_confounded="X>M M>Y X>Y U>M U>Y"
)
"""Two structures on which rung 3 departs from rung 2, too rare to arise by chance. The napkin
identifies the ATE but not a non-binary ETT, confounded mediation no natural effect."""

AUXILIARY: Final = ("chain", "collider", "confounding", "fork", "mediation", "triangle")
"""Motifs that may be grafted."""

HOSTS: Final = tuple(name for name in MOTIFS if name not in ("frontdoor", "double_nc"))
"""Motifs that may carry grafts."""


def graft(host: Motif, auxiliary: Motif, role: str, anchor: str, number: int) -> Motif:
    """Return ``host`` with ``auxiliary`` attached: its node ``role`` becomes the host's ``anchor``.
    Its other nodes are called ``AUX<number>_<role>``. Name and ends stay those of the host."""
    new = {node: f"AUX{number}_{node}" for node in auxiliary.graph.nodes} | {role: anchor}
    graph = LatentDAG(
        (*host.graph.nodes, *(name for name in new.values() if name != anchor)),
        (*host.graph.edges, *((new[a], new[b]) for a, b in auxiliary.graph.edges)),
        host.graph.latent | {new[node] for node in auxiliary.graph.latent},
    )
    return replace(host, graph=graph)


def anchors(host: Motif) -> tuple[str, ...]:
    """Return the observed nodes beside treatment and outcome, or all observed ones without such."""
    return tuple(host.other_nodes) or host.graph.observed_nodes


def random_graft(
    rng: np.random.Generator, host: Motif, weights: Mapping[str, float], number: int
) -> Motif:
    """Return ``host`` with a motif of ``AUXILIARY`` (by ``weights``) at random nodes of both."""
    names = [name for name in AUXILIARY if weights.get(name, 0.0) > 0.0]
    mass = np.array([weights[name] for name in names])
    fragment = MOTIFS[names[int(rng.choice(len(names), p=mass / mass.sum()))]]
    role = pick(rng, fragment.graph.observed_nodes)
    return graft(host, fragment, role, pick(rng, anchors(host)), number)


def add_confounder(motif: Motif) -> Motif:
    """Return ``motif`` with a latent common cause of treatment and outcome."""
    return _add_latent(motif, (motif.treatment, motif.outcome))


def confounding_spoils(motif: Motif) -> bool:
    """Tell whether a latent confounder makes a motif's ATE, so far identifiable, unidentifiable."""
    before, after = motif.effect, add_confounder(motif).effect
    return is_identifiable(*before, "ate") and not is_identifiable(*after, "ate")


def harmless_latent(rng: np.random.Generator, motif: Motif) -> Motif | None:
    """Return ``motif`` with a latent cause of one or (mostly) two observed variables that changes
    no verdict. None where the ATE is not identifiable, or none of 200 tries finds a place."""
    observed = motif.graph.observed_nodes
    before = _verdicts(motif)
    if not before[1]:
        return None
    for _ in range(200):
        children = 2 if rng.random() < 0.75 else 1
        chosen = rng.choice(len(observed), size=children, replace=False)
        grown = _add_latent(motif, tuple(observed[int(i)] for i in sorted(chosen)))
        if _verdicts(grown) == before:
            return grown
    return None


def _verdicts(motif: Motif) -> tuple[object, ...]:
    """Return the method label, then identifiability of ATE, binary ETT, non-binary ETT."""
    return (
        identification_method(*motif.effect),
        is_identifiable(*motif.effect, "ate"),
        is_identifiable(*motif.effect, "ett", binary_treatment=True),
        is_identifiable(*motif.effect, "ett", binary_treatment=False),
    )


def _add_latent(motif: Motif, children: tuple[str, ...]) -> Motif:
    """Return ``motif`` with a latent cause of ``children``: ``U``, or the first free ``U_<i>``."""
    graph = motif.graph
    taken = {node.lower() for node in graph.nodes}
    name = next(n for n in ("U", *(f"U_{i}" for i in range(1, 99))) if n.lower() not in taken)
    edges = (*graph.edges, *((name, child) for child in children))
    return replace(motif, graph=LatentDAG((*graph.nodes, name), edges, graph.latent | {name}))
