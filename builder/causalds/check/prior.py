"""Whether an effect agrees with its reasons, worked out again: path by path."""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

import networkx as nx

from builder.causalds.check.hidden import Hidden

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
    """Whether every path that the effect runs along implies more of the outcome (True), or less;
    None where a path implies nothing, two imply different things, or there is none."""
    told = hidden.record.get("signs")
    if told is None:
        return None
    factors = {(a, b): _FACTOR[sign] for a, b, sign in told}
    chains = nx.all_simple_paths(hidden.graph, hidden.x, hidden.y)
    paths = [list(pairwise(chain)) for chain in chains]
    if estimand in ("nde", "nie"):
        paths = [path for path in paths if (len(path) == 1) is (estimand == "nde")]
    products = {math.prod(factors[edge] for edge in path) for path in paths}
    return None if len(products) != 1 or products == {0} else products == {1}
