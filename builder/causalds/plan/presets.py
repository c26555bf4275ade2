"""Ready-made compositions: the ``composition`` key of a causalds table.

``motifs`` takes the given motifs and nothing else; ``full`` is this benchmark's own, ``paper`` that
of CausalDS. Keys written beside it replace single parts of a preset.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from builder.causalds.plan.blueprint import Composition
from builder.scm.profiles import mixture_weights

Weights = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Preset:
    """A composition with its mechanism profiles and shares of kinds."""

    composition: Composition
    continuous: Weights
    binary: Weights


def _weights(table: Mapping[str, float]) -> Weights:
    return tuple(table.items())


_MOTIFS: Final = _weights({
    "chain": 0.0460, "mediation": 0.0384, "confounding": 0.3506, "fork": 0.0533,
    "collider": 0.0401, "arrowhead": 0.0255, "diamond": 0.0372, "diamondcut": 0.0359,
    "frontdoor": 0.0564, "iv": 0.2446, "double_nc": 0.0441, "triangle": 0.0278,
})  # fmt: skip
_GRAFTS: Final = (0.65625, 0.178425, 0.165325)
AUXILIARY_WEIGHTS: Final = _weights({
    "chain": 0.187, "collider": 0.187, "confounding": 0.183, "fork": 0.183, "mediation": 0.130,
    "triangle": 0.130,
})  # fmt: skip

_MIXTURE: Final = (
    _weights(mixture_weights("continuous")),
    _weights(mixture_weights("binary")),
)

PRESETS: Final[Mapping[str, Preset]] = {
    "motifs": Preset(
        Composition(motifs=(), auxiliary=AUXILIARY_WEIGHTS),
        (("linear_additive", 1.0),),
        (("single_regulator_logistic", 1.0),),
    ),
    "full": Preset(
        Composition(
            _MOTIFS,
            _GRAFTS,
            AUXILIARY_WEIGHTS,
            confounded=0.06,
            planted=(("napkin", 0.02), ("mediation_confounded", 0.02)),
            harmless=0.3,
        ),
        *_MIXTURE,
    ),
    "paper": Preset(Composition(_MOTIFS, _GRAFTS, AUXILIARY_WEIGHTS, confounded=0.1), *_MIXTURE),
}
"""Preset by name. Shares are those of the paper's blueprint, and for ``full`` what we add to it."""
