"""Semantic structure: functional parents and local functions (ReplaySCM §3, Table C.2).

A variable is a parent when flipping it can change the mechanism's value, whatever the formula
mentions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

from grader.tracks.replayscm.boolean import Formula, equivalent, essential

Mechanisms = Mapping[str, Formula]


@dataclass(frozen=True, slots=True)
class Structure:
    """A program's graph and local functions against a reference, over the reference's children.

    Of the ``metrics``, ``parent_shd`` counts unordered pairs joined differently: an addition, a
    deletion and a reversal cost one each. ``changed`` are the variables whose functions differ.
    """

    metrics: Mapping[str, float]
    changed: tuple[str, ...]
    parents_changed: tuple[str, ...]


def parents(mechanisms: Mechanisms) -> dict[str, frozenset[str]]:
    """Functional parents of every endogenous variable."""
    return {child: frozenset(essential(formula)) for child, formula in mechanisms.items()}


def compare(mechanisms: Mechanisms, reference: Mechanisms) -> Structure:
    """``mechanisms`` against ``reference``, both with the same endogenous variables."""
    ours, theirs = parents(mechanisms), parents(reference)
    mine = {(parent, child) for child, names in ours.items() for parent in names}
    gold = {(parent, child) for child, names in theirs.items() for parent in names}
    common = len(mine & gold)
    pairs = {frozenset(edge) for edge in mine | gold}
    moved = tuple(child for child in reference if ours[child] != theirs[child])
    changed = tuple(
        child for child in reference if not equivalent(mechanisms[child], reference[child])
    )
    children = len(reference)
    metrics = {
        "parent_recall": common / len(gold) if gold else 1.0,
        "parent_f1": 2 * common / (len(mine) + len(gold)) if mine or gold else 1.0,
        "parent_shd": sum(
            {edge for edge in mine if frozenset(edge) == pair}
            != {edge for edge in gold if frozenset(edge) == pair}
            for pair in pairs
        ),
        "parent_variable_exact": 1 - len(moved) / children,
        "parent_map_exact": int(not moved),
        "local_match": 1 - len(changed) / children,
        "local_full": int(not changed),
    }
    return Structure(metrics, changed, moved)


def depths(mechanisms: Mechanisms) -> dict[str, int]:
    """Causal depth of each endogenous variable: one more than its deepest endogenous parent."""
    graph = parents(mechanisms)
    inner = {child: names & graph.keys() for child, names in graph.items()}
    found: dict[str, int] = {}
    for child in TopologicalSorter(inner).static_order():
        found[child] = 1 + max((found[name] for name in inner[child]), default=0)
    return found
