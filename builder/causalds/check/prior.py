"""Whether an effect agrees with its reasons, worked out again: path by path."""

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

import networkx as nx

from builder.causalds.check.hidden import Hidden
from builder.words import knowledge

_FACTOR: Final = {"+": 1, "-": -1, "0": 0}
_ESTIMAND: Final = {
    f"{family}.{name}": estimand
    for family, estimand, names in (
        ("effect_estimate", "ate", ("ate_point", "ate_uq_95", "ate_sign_only")),
        ("counterfactual_effect", "ett", ("effect_point", "effect_uq_95", "sign_only")),
        ("mediation_effect", "", ("effect_point", "effect_uq_95", "sign_only")),
    )
    for name in names
}
"""The effect that a variant asks for; "" where the question names it."""


def prior_again(hidden: Hidden, key: str, detail: str) -> Mapping[str, str]:
    """The member ``prior`` that the target of a variant must have; nothing where it has none."""
    if key not in _ESTIMAND:
        return {}
    estimand = _ESTIMAND[key] or detail.lower()
    stored: Mapping[str, Any] | None = hidden.record["quantities"][estimand]
    expected = _expected(hidden, estimand)
    if stored is None or stored["value"] == 0 or expected is None:
        return {"prior": "none"}
    return {"prior": "agrees" if (stored["value"] > 0) is expected else "conflicts"}


def _expected(hidden: Hidden, estimand: str) -> bool | None:
    """Whether every path of reasons that the effect runs along implies more of the outcome (True),
    or less; None where a path implies nothing, two imply different things, or there is none."""
    factors = {(a, b): _FACTOR[sign] for a, b, sign in hidden.record.get("signs", ())}
    graph: nx.DiGraph[str] = nx.DiGraph(list(factors))
    ends = hidden.names[hidden.x], hidden.names[hidden.y]
    if not graph.has_node(ends[0]) or not graph.has_node(ends[1]):
        return None
    paths = [list(pairwise(chain)) for chain in nx.all_simple_paths(graph, *ends)]
    if estimand in ("nde", "nie"):
        paths = [path for path in paths if (len(path) == 1) is (estimand == "nde")]
    products = {math.prod(factors[edge] for edge in path) for path in paths}
    return None if len(products) != 1 or products == {0} else products == {1}


def audit_reasons(hidden: Hidden) -> Iterator[str]:
    """Problems of the reasons of a world row: they are those of its domain, of every effect."""
    domain = hidden.record["plan"].get("domain")
    if domain is None:
        if "signs" in hidden.record:
            yield "reasons are listed in words that have none"
        return
    found = {(a, b): sign for a, b, sign in hidden.record.get("signs", ())}
    known = dict(knowledge.domain(domain).signs)
    edges = {(hidden.names[a], hidden.names[b]) for a, b in hidden.record["world"]["edges"]}
    if set(found) != edges:
        yield "the reasons are not those of the effects that are told"
    elif found != {edge: known[edge] for edge in edges}:
        yield f"the reasons have other signs than in the domain {domain}"
