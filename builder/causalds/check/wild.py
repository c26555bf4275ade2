"""Scenes on wild graphs, held against their plans a second way.

Strata are decided again by the definitions of :mod:`builder.causalds.check.graph`, what is wanted
of the equations by least squares on simulated units and by the published numbers.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import networkx as nx
import numpy as np

from builder.causalds.check import graph as audit_graph
from builder.causalds.check.hidden import Hidden
from builder.causalds.make.looks import CLEAR, EFFECT_RANGE, MISS, OPPOSED

_OFF: Final = 0.08
"""What a sample of a world may be off by, in standard deviations of the outcome."""


def audit_wild(hidden: Hidden) -> Iterator[str]:
    """Problems of a wild scene; none for another."""
    wild = hidden.record["plan"].get("wild")
    if wild is None:
        return
    if not _STRATA[wild["stratum"]](hidden):
        yield f"stratum {wild['stratum']}: the graph does not lie in it"
    wanted, told = wild["wanted"], hidden.record["quantities"]
    sd, r = told["outcome_sd"]["value"], told["association"]["value"]
    if told["ate"] is not None:
        yield from _effect(hidden, wanted, told["ate"]["value"] / sd, r)
    if wanted["indirect"] is not None and told["nde"] and told["nie"]:
        direct, indirect = (abs(told[name]["value"]) for name in ("nde", "nie"))
        if direct and indirect and (indirect > direct) is not wanted["indirect"]:
            yield f"the larger natural effect is not as planned: {direct:.3g}, {indirect:.3g}"
    if wanted["flipped"]:
        turned = [v for v, q in told["partial"].items() if q["value"] * r < 0]
        if not any(abs(told["partial"][v]["value"]) >= CLEAR for v in turned):
            yield "no variable changes the sign of the association"


def _effect(hidden: Hidden, wanted: Mapping[str, Any], effect: float, r: float) -> Iterator[str]:
    if not EFFECT_RANGE[0] <= abs(effect) <= EFFECT_RANGE[1]:
        yield f"the effect is {effect:.3g} standard deviations of the outcome"
    if wanted["reversed"] is not None and (effect * r < 0) is not wanted["reversed"]:
        yield f"signs of effect ({effect:.3g}) and association ({r:.3g}) are not as planned"
    if wanted["misled"] or wanted["opposed"]:
        yield from _careless(hidden, wanted, effect)


def _careless(hidden: Hidden, wanted: Mapping[str, Any], effect: float) -> Iterator[str]:
    """Problems of what is to mislead who adjusts for nothing, for the direct causes of the
    treatment or for everything, the latter two where that is not valid."""
    observed, valid = hidden.others(), hidden.valid_sets()
    causes = [v for v in observed if v in set(hidden.graph.predecessors(hidden.x))]
    sets = {"nothing": list[str](), "its direct causes": causes, "everything": observed}
    least = max(MISS[0], MISS[1] * abs(effect))
    for name, given in sets.items():
        if name != "nothing" and frozenset(given) in valid:
            continue
        found = _regressed(hidden, given)
        if wanted["misled"] and abs(found - effect) < least - _OFF:
            missed = abs(found - effect)
            yield f"who adjusts for {name} misses by {missed:.3g} only, planned {least:.3g}"
        if wanted["opposed"] and name != "nothing":
            turned = -found if effect > 0 else found
            if turned < OPPOSED - _OFF:
                yield f"who adjusts for {name} has {found:.3g}, not the wrong sign as planned"


def _regressed(hidden: Hidden, given: list[str]) -> float:
    """The effect by least squares on simulated units, in standard deviations of the outcome."""
    units = hidden.population.factual
    columns = [units[v] - units[v].mean() for v in (hidden.x, *given)]
    y = units[hidden.y] - units[hidden.y].mean()
    slope = np.linalg.lstsq(np.stack(columns, axis=1), y, rcond=None)[0][0]
    return float(slope * (hidden.levels[1] - hidden.levels[0]) / units[hidden.y].std())


# --- strata -------------------------------------------------------------------------------------


def _method(hidden: Hidden) -> str:
    return hidden.method()


def _several_controls(hidden: Hidden) -> bool:
    sets = audit_graph.minimal(hidden.valid_sets())
    return bool(sets) and min(map(len, sets)) > 1


def _hidden_cause(hidden: Hidden) -> bool:
    past = hidden.graph.copy()
    past.remove_node(hidden.x)
    causes = set(hidden.graph.predecessors(hidden.x)) & hidden.latent
    reach = any(nx.has_path(past, cause, hidden.y) for cause in causes)
    return reach and bool(hidden.valid_sets())


def _m_bias(hidden: Hidden) -> bool:
    graph, x, y, sets = hidden.graph, hidden.x, hidden.y, hidden.valid_sets()
    later = nx.descendants(graph, x)
    return bool(sets) and any(
        z not in later
        and not any(z in one for one in sets)
        and not nx.is_d_separator(graph, {z}, {x}, set())
        and not nx.is_d_separator(graph, {z}, {y}, {x})
        and audit_graph.opens_a_path(graph, x, y, z)
        for z in hidden.others()
    )


def _hedge_elsewhere(hidden: Hidden) -> bool:
    ends = {hidden.x, hidden.y}
    bow = any(ends <= set(hidden.graph.successors(u)) for u in hidden.latent)
    return not bow and not hidden.identifiable("ate")


def _natural_lost(hidden: Hidden) -> bool:
    kept = [hidden.identifiable(name) for name in ("ate", "nde", "nie")]
    return kept == [True, False, False]


def _natural_kept(hidden: Hidden) -> bool:
    return hidden.identifiable("nde") and not hidden.identifiable("ate")


def _harmless(hidden: Hidden) -> bool:
    bare = hidden.graph.copy()
    bare.remove_nodes_from(hidden.latent)
    label = audit_graph.method_label(bare, hidden.x, hidden.y, frozenset())
    kept = all(hidden.identifiable(name) for name in ("ate", "nde", "nie"))
    shared = any(hidden.graph.out_degree(u) > 1 for u in hidden.latent)
    return shared and kept and label == _method(hidden)


_STRATA: Final[Mapping[str, Callable[[Hidden], bool]]] = {
    "several_controls": _several_controls,
    "hidden_cause": _hidden_cause,
    "m_bias": _m_bias,
    # The decoys are counted by the first derivation alone; that the door is open is shown again.
    "front_door": lambda hidden: _method(hidden) == "frontdoor",
    "components": lambda hidden: _method(hidden) == "other_id",
    "hedge_elsewhere": _hedge_elsewhere,
    "natural_lost": _natural_lost,
    "natural_kept": _natural_kept,
    "harmless": _harmless,
}
