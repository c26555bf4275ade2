"""Strata of graphs that no one recognises at a glance: what makes each of them hard.

A graph may lie in several strata; a scene is drawn for one of them and reported under its name.
Each predicate takes a graph, its treatment and its outcome, and is decided by the exact
identification code of `builder.causal`. All of them want a directed path between the two.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from builder.causal.graph import LatentDAG
from builder.causal.strata.components import components
from builder.causal.strata.front_door import front_door
from builder.causal.strata.harmless import harmless
from builder.causal.strata.hedge_elsewhere import hedge_elsewhere
from builder.causal.strata.hidden_cause import hidden_cause
from builder.causal.strata.m_bias import m_bias
from builder.causal.strata.natural_kept import natural_kept
from builder.causal.strata.natural_lost import natural_lost
from builder.causal.strata.several_controls import several_controls

Stratum = Callable[[LatentDAG, str, str], bool]

STRATA: Final[Mapping[str, Stratum]] = MappingProxyType(
    {
        "several_controls": several_controls,
        "hidden_cause": hidden_cause,
        "m_bias": m_bias,
        "front_door": front_door,
        "components": components,
        "hedge_elsewhere": hedge_elsewhere,
        "natural_lost": natural_lost,
        "natural_kept": natural_kept,
        "harmless": harmless,
    }
)
"""The strata by name."""


def in_stratum(name: str, g: LatentDAG, x: str, y: str) -> bool:
    """Whether `x` affects `y` in the graph, and the graph lies in the stratum of this name."""
    return y in g.descendants(x) and STRATA[name](g, x, y)
