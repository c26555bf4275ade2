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
    correlation,
    zero_change,
    zero_correlation,
    zero_partial,
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
from builder.scm.mechanisms import MECHANISMS, Affine, Kind, MechanismFamily, Parent
from builder.scm.mediation import natural_direct_effect, natural_indirect_effect
from builder.scm.noise import NOISE_FAMILIES, Noise, NoiseFamily, Spread
from builder.scm.population import (
    Moments,
    contrast,
    population_moments,
    population_quantiles,
)
from builder.scm.profiles import (
    BINARY_PROFILES,
    CONTINUOUS_PROFILES,
    DEFAULT_PROFILE,
    Profile,
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
    "DEFAULT_PROFILE",
    "EFFECT_BOUND",
    "EFFECT_MARGIN",
    "MEASURED_SIGN_MARGIN",
    "MECHANISMS",
    "NOISE_FAMILIES",
    "PARTIAL_BOUND",
    "SIGN_MARGIN",
    "SPREAD_BOUND",
    "TIE_BAND",
    "Affine",
    "Associations",
    "BoundNotMet",
    "Kind",
    "MechanismFamily",
    "Moments",
    "NoWorldFound",
    "Node",
    "Noise",
    "NoiseFamily",
    "Parent",
    "Profile",
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
    "correlation",
    "effect_on_treated",
    "is_structural_zero",
    "mixture_weights",
    "natural_direct_effect",
    "natural_indirect_effect",
    "population_moments",
    "population_quantiles",
    "profile",
    "sample_world",
    "zero_change",
    "zero_correlation",
    "zero_partial",
]
