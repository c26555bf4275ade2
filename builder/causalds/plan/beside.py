"""Requested beside realised numbers, as manifests show them."""

from collections import Counter
from collections.abc import Mapping

ByName = dict[str, dict[str, float]]
ByAxis = dict[str, ByName]
"""Axis -> name -> {"requested": scenes, a fraction where the share gives one, "realised": scenes}.
"""


def beside(requested: Mapping[str, float], realised: Counter[str]) -> ByName:
    """Requested, rounded, beside realised numbers; names that nobody requested come last."""
    names = [*requested, *sorted(set(realised) - set(requested))]
    return {
        name: {"requested": round(requested.get(name, 0.0), 2), "realised": realised[name]}
        for name in names
    }
