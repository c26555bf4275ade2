"""The families of mechanisms, and the profiles that say which of them make up a world.

A family is one row of ``MECHANISMS``: a draw of parameters, in the order of drawing, and an
evaluation. A row that is affine in the parents says so, which opens closed forms.
A scene has one profile for its continuous variables and one for its binary ones, drawn
independently (paper 3.1, A.2, A.7). Three continuous and two binary profiles stand for what corpora
of equations and Boolean rules contain; the others are synthetic and cover further regimes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from builder.equations import families
from builder.equations.equation import (
    MechanismFamily,
    constant,
    draw_signed,
    drawing,
    floats,
    normal,
    signed_normal,
    strengths,
    uniform,
)
from builder.equations.noise import NOISE_FAMILIES

_continuous: Final = partial(MechanismFamily, "continuous")
_binary: Final = partial(MechanismFamily, "binary")


def _pairs(rng: np.random.Generator, count: int) -> tuple[float, ...]:
    """Draw up to two disjoint pairs of parents: indices, pair after pair."""
    return floats(rng.permutation(count)[: 2 * min(2, count // 2)])


def _products(rng: np.random.Generator, count: int) -> tuple[float, ...]:
    """Draw the weight N(±0.3, 0.2) of the product of each of these pairs."""
    return floats(draw_signed(rng, min(2, count // 2), 0.3, 0.2))


def _gate(conjunctions: tuple[float, ...], negation: float) -> MechanismFamily:
    return _binary(partial(families.draw_gate, conjunctions, negation), families.gate_mean)


_HALVES: Final = {"strengths": strengths(0.5, 1.5), "halves": uniform(0.5, 2.0)}

MECHANISMS: Final[Mapping[str, MechanismFamily]] = {
    "linear_additive": _continuous(families.draw_linear, families.linear_mean, affine=True),
    "handcrafted": _continuous(
        drawing(
            weights=signed_normal(0.8, 0.4),
            bias=normal(0.5),
            pairs=_pairs,
            products=_products,
            bends=signed_normal(0.5, 0.3),
            shifts=constant(0.0),  # measurements have some, and squares
            squares=constant(0.0),
        ),
        families.handcrafted_mean,
        slope=families.handcrafted_slope,
    ),
    "product": _continuous(
        drawing(strength=lambda rng, _: strengths(0.5, 1.5)(rng, 1)[0], bias=normal(0.5)),
        families.product_mean,
    ),
    "saturating": _continuous(
        drawing(**_HALVES, powers=constant(1.0), bias=normal(0.5)), families.response_mean
    ),
    "cooperative": _continuous(
        drawing(powers=uniform(1.5, 4.0), **_HALVES, bias=normal(0.5)), families.response_mean
    ),
    "rational": _continuous(
        drawing(
            weights=signed_normal(0.8, 0.4),
            pairs=_pairs,
            products=_products,
            bias=normal(0.4),
            lower_weights=lambda rng, count: floats(rng.normal(0.0, 0.4, count)),
            lower_bias=normal(0.4),
        ),
        families.rational_mean,
    ),
    "power": _continuous(
        drawing(strengths=strengths(0.4, 1.2), exponents=uniform(0.5, 2.0), bias=normal(0.5)),
        families.power_mean,
    ),
    "exp_log": _continuous(
        drawing(
            strengths=strengths(0.4, 1.2),
            exponential=lambda rng, count: floats(rng.integers(0, 2, count)),
            bias=normal(0.5),
        ),
        families.exp_log_mean,
    ),
    "piecewise": _continuous(families.draw_piecewise, families.piecewise_mean),
    "neural": _continuous(families.draw_neural, families.neural_mean, slope=families.neural_slope),
    "logistic": _binary(families.draw_logistic, families.logistic_mean),
    "shifted_logistic": _binary(
        drawing(
            weights=signed_normal(1.0, 0.6),
            bends=signed_normal(0.6, 0.3),
            shifts=uniform(-1.5, 1.5),
            bias=normal(0.7),
        ),
        families.shifted_logistic_mean,
        slope=families.shifted_logistic_slope,
    ),
    "sharp_threshold": _binary(
        drawing(
            weights=signed_normal(1.0, 0.5),
            sharpness=lambda rng, _: float(rng.uniform(4.0, 8.0)),
            threshold=normal(0.5),
        ),
        families.sharp_threshold_mean,
    ),
    "noisy_or": _gate((0.0,), negation=0.0),
    "noisy_and": _gate((1.0,), negation=0.0),
    "logic_gate": _gate((0.0, 1.0), negation=0.25),
    "signed_gate": _gate((0.0, 1.0), negation=0.75),
}

EMPIRICAL_SHARE: Final = 0.3
"""Weight of the empirical profiles in the mixture; the synthetic ones share the rest equally."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The families that a world draws from, uniformly: mechanisms of continuous and of binary
    nodes, and noise. ``mixture`` are the shares of non-root and of root nodes whose noise is a
    Gaussian mixture, whatever ``noises`` says. ``heteroscedastic`` is the share of continuous
    non-root nodes whose noise scale varies with their parents, ``coarse_share`` that of continuous
    nodes other than treatment and outcome with few values. Roots are noise alone, or a coin."""

    continuous: tuple[str, ...] = ("linear_additive",)
    binary: tuple[str, ...] = ("logistic",)
    noises: tuple[str, ...] = tuple(NOISE_FAMILIES)
    mixture: tuple[float, float] = (0.0, 0.0)
    heteroscedastic: float = 0.0
    coarse_share: float = 0.0


PLAIN_NOISES: Final = ("gauss", "laplace", "student_t")

CONTINUOUS_PROFILES: Final[Mapping[str, Profile]] = {
    "linear_additive": Profile(),
    "interaction_response": Profile(("product", "saturating", "cooperative")),
    "symbolic_transform": Profile(("rational", "power", "exp_log", "piecewise")),
    "additive_baseline": Profile(("linear_additive",), noises=("gauss",)),
    "smooth_handcrafted": Profile(("handcrafted",), noises=PLAIN_NOISES),
    "neural_blackbox": Profile(("neural",), noises=PLAIN_NOISES),
    "mixture_noise": Profile(("handcrafted",), noises=PLAIN_NOISES, mixture=(0.8, 0.45)),
    "heteroscedastic": Profile(("handcrafted",), noises=PLAIN_NOISES, heteroscedastic=0.75),
    "coarsened_continuous": Profile(("handcrafted",), noises=PLAIN_NOISES, coarse_share=1.0),
}
"""Continuous profiles by name, the three empirical ones first."""

BINARY_PROFILES: Final[Mapping[str, tuple[str, ...]]] = {
    "single_regulator_logistic": ("logistic",),
    "multi_input_logic_gate": ("noisy_or", "noisy_and", "logic_gate"),
    "shifted_logistic": ("shifted_logistic",),
    "sharp_threshold": ("sharp_threshold",),
    "noisy_or": ("noisy_or",),
    "noisy_and": ("noisy_and",),
    "signed_logic": ("signed_gate",),
}
"""Mechanisms of the binary profiles by name, the two empirical ones first."""

STRAIGHT: Final = frozenset(
    name for name, made in CONTINUOUS_PROFILES.items() if made.continuous == ("linear_additive",)
)
"""The continuous profiles whose equations are all lines."""

EMPIRICAL: Final[Mapping[str, Mapping[str, float]]] = {
    # What the public reference release realised of each, which is all that is known of them.
    "continuous": {"linear_additive": 1, "interaction_response": 22, "symbolic_transform": 12},
    "binary": {"single_regulator_logistic": 12, "multi_input_logic_gate": 20},
}


def profile(continuous: str, binary: str) -> Profile:
    """Return the profile of a scene from the names of its continuous and its binary profile."""
    return replace(CONTINUOUS_PROFILES[continuous], binary=BINARY_PROFILES[binary])


def mixture_weights(kind: str) -> dict[str, float]:
    """Return each used profile's probability, by name, for ``kind`` ("continuous" or "binary").
    Empirical ones share ``EMPIRICAL_SHARE`` as realised, synthetic ones the rest equally."""
    known = CONTINUOUS_PROFILES if kind == "continuous" else BINARY_PROFILES
    empirical = EMPIRICAL[kind]
    total = sum(empirical.values())
    # Of weight 0 unless a split file asks for it, as in the paper (A.7).
    unused = "coarsened_continuous"
    synthetic = [name for name in known if name not in empirical and name != unused]
    return {name: EMPIRICAL_SHARE * count / total for name, count in empirical.items()} | {
        name: (1.0 - EMPIRICAL_SHARE) / len(synthetic) for name in synthetic
    }
