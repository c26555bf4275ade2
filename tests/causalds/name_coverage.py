"""Counts the sets of names that the knowledge graph has for every structure of a release.

Counted are sets of names (matches that permute the same names count once), for every combination of
treatment and outcome kind. No domain may bring more than a third of what is required.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Final

from graph_shapes import shape_of, single_grafts

from builder.causal.graph import LatentDAG
from builder.causal.growth import HOSTS, confounded, confounding_spoils
from builder.causal.motifs import MOTIFS, PLANTED, Motif
from builder.causalds.plan.scenes import plan_scenes
from builder.causalds.scene_plan import ScenePlan
from builder.release.config import load_config
from builder.words.knowledge import Domain
from builder.words.naming import matches, pattern
from builder.words.types import Kind

LEAST: Final = 20
"""Fewest sets of names for any structure and combination of kinds."""
MAIN: Final = Path(__file__).resolve().parents[2] / "splits" / "main.toml"
_KINDS: Final[tuple[Kind, ...]] = ("continuous", "binary")


@dataclass(frozen=True, slots=True)
class Structure:
    """A graph with its kinds, and what it is: "iv + graft Z>AUX1_Y, confounded".

    ``drawn_again`` marks graphs with a graft *and* an injected confounder. They are hardly ever
    asked for, and one that occurs nowhere is drawn again with another graft.
    """

    label: str
    motif: Motif
    treatment: Kind
    outcome: Kind
    drawn_again: bool

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kind of every node: only treatment and outcome may be binary."""
        ends = {self.motif.treatment: self.treatment, self.motif.outcome: self.outcome}
        return {node: ends.get(node, "continuous") for node in self.motif.graph.nodes}


def structures(grafts: bool = True) -> Iterator[Structure]:
    """Every motif alone and with each single graft, as it is and with a latent confounder.

    The planted structures carry no grafts, and a napkin's treatment is continuous.
    """
    for name, motif in {**MOTIFS, **PLANTED}.items():
        grown = list(single_grafts(motif)) if grafts and name in HOSTS else []
        for number, one in enumerate([motif, *grown]):
            label = name if number == 0 else f"{name} + graft {_graft_label(motif, one)}"
            variants = [(label, one)]
            if name in MOTIFS and confounding_spoils(one):
                variants.append((f"{label}, confounded", confounded(one)))
            for said, found in variants:
                for treatment, outcome in product(_KINDS, _KINDS):
                    if name != "napkin" or treatment == "continuous":
                        again = number > 0 and said != label
                        yield Structure(said, found, treatment, outcome, again)


def report(found: Sequence[Domain], grafts: bool = True) -> tuple[list[str], list[str]]:
    """Lines about the matches of each motif, and a line for every structure that has too few."""
    needs = main_needs()
    lines, short, seen, again = [], [], {}, Counter[bool]()
    for one in structures(grafts):
        shape = shape_of(one.motif.graph, one.kinds)
        required = max(LEAST, 2 * needs[shape])
        if shape not in seen:
            seen[shape] = count(found, one.motif.graph, one.kinds, required)
        if one.drawn_again:
            again[seen[shape] >= required] += 1
        elif seen[shape] < required:
            short.append(
                f"{one.label} ({one.treatment} treatment, {one.outcome} outcome): "
                f"{seen[shape]} sets of names, {required} are required"
            )
        elif "+" not in one.label:
            lines.append(
                f"{one.label} ({one.treatment} treatment, {one.outcome} outcome): at least "
                f"{required} sets of names, main needs {needs[shape]}"
            )
    lines += short
    lines.append(
        f"of {again.total()} structures with both a graft and a confounder {again[True]} have "
        "enough; the others may be drawn again"
    )
    lines.append(f"{len(seen)} structures, {len(short)} short")
    return lines, short


def count(
    found: Sequence[Domain], graph: LatentDAG, kinds: Mapping[str, Kind], required: int
) -> int:
    """Sets of names over all domains, at most a third of ``required`` from any one of them.

    Counting stops at ``required``.
    """
    shape, most, total = pattern(graph, kinds), -(-required // 3), 0
    for domain in found:
        sets: set[frozenset[int]] = set()
        for match in matches(shape, domain):
            sets.add(frozenset(match))
            if len(sets) >= most:
                break
        total += len(sets)
        if total >= required:
            return required
    return total


def main_needs() -> Counter[str]:
    """Scenes of ``splits/main.toml`` by shape, both splits together, before any is drawn again.

    A shape is a graph with its kinds, however its nodes are called: confounding and mediation
    compete for the same names.
    """
    needs: Counter[str] = Counter()
    for split in load_config(MAIN).splits:
        config = replace(dict(split.tracks)["causalds"], words="fictional")
        for spec in plan_scenes(config, split.name, bytes(32), False):
            plan = ScenePlan.from_json(spec.config_json)
            needs[shape_of(plan.structure.query.graph, plan.structure.kinds)] += 1
    return needs


def _graft_label(host: Motif, grown: Motif) -> str:
    new = [node for node in grown.graph.nodes if node not in host.graph.nodes]
    edges = [f"{a}>{b}" for a, b in grown.graph.edges if a in new or b in new]
    return " ".join(edges)
