"""Structural causal models: worlds that can be run, and the true values of what is asked of them.

``sample_world`` draws a world over a graph; ``World`` simulates, intervenes and answers
counterfactuals on explicit noise; the quantities are population values with numerical errors.
"""

from builder.scm.association import (
    CORRELATION_BOUND,
    PARTIAL_BOUND,
    SPREAD_BOUND,
    Associations,
    associations,
)
from builder.scm.margins import (
    EFFECT_MARGIN,
    MEASURED_SIGN_MARGIN,
    SIGN_MARGIN,
    TIE_BAND,
    association_margin,
    clear_dominance,
    clear_effect_sign,
    clear_largest_change,
    clear_sign,
    is_structural_zero,
)
from builder.scm.mechanisms import MECHANISMS, Parent
from builder.scm.mediation import natural_direct_effect, natural_indirect_effect
from builder.scm.noise import Noise, Spread
from builder.scm.population import (
    contrast,
)
from builder.scm.profiles import (
    BINARY_PROFILES,
    CONTINUOUS_PROFILES,
    mixture_weights,
    profile,
)
from builder.scm.quantities import (
    EFFECT_BOUND,
    Quantity,
    average_treatment_effect,
    effect_on_treated,
)
from builder.scm.rqmc import BoundNotMet
from builder.scm.sampling import NoWorldFound, sample_world
from builder.scm.world import Node, World

__all__ = [
    "BINARY_PROFILES",
    "CONTINUOUS_PROFILES",
    "CORRELATION_BOUND",
    "EFFECT_BOUND",
    "EFFECT_MARGIN",
    "MEASURED_SIGN_MARGIN",
    "MECHANISMS",
    "PARTIAL_BOUND",
    "SIGN_MARGIN",
    "SPREAD_BOUND",
    "TIE_BAND",
    "Associations",
    "BoundNotMet",
    "NoWorldFound",
    "Node",
    "Noise",
    "Parent",
    "Quantity",
    "Spread",
    "World",
    "association_margin",
    "associations",
    "average_treatment_effect",
    "clear_dominance",
    "clear_effect_sign",
    "clear_largest_change",
    "clear_sign",
    "contrast",
    "effect_on_treated",
    "is_structural_zero",
    "mixture_weights",
    "natural_direct_effect",
    "natural_indirect_effect",
    "profile",
    "sample_world",
]
