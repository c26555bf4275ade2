"""Structural causal models: worlds that can be run, and the true values of what is asked of them.

``sample_world`` draws a world over a graph; ``World`` simulates, intervenes and answers
counterfactuals on explicit noise; the quantities are population values with numerical errors.
"""

from builder.scm.mechanisms import MECHANISMS, Affine, Kind, MechanismFamily, Parent
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
    CORRELATION_BOUND,
    EFFECT_BOUND,
    Quantity,
    average_treatment_effect,
    correlation,
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
    "MECHANISMS",
    "NOISE_FAMILIES",
    "Affine",
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
    "average_treatment_effect",
    "contrast",
    "correlation",
    "effect_on_treated",
    "mixture_weights",
    "population_moments",
    "population_quantiles",
    "profile",
    "sample_world",
]
