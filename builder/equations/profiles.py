"""Mechanism profiles: what the worlds of a scene are made of (paper 3.1, A.2, A.7).

A scene has one profile for its continuous variables and one for its binary ones, drawn
independently. Three continuous and two binary profiles stand for what corpora of equations and
Boolean rules contain; five of each are synthetic and cover further regimes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from builder.equations.noise import NOISE_FAMILIES

EMPIRICAL_SHARE: Final = 0.3
"""Weight of the empirical profiles in the mixture; the synthetic ones share the rest equally."""

HETEROSCEDASTIC_SHARE: Final = 0.75
"""Share of non-root continuous nodes with varying noise in the heteroscedastic profile."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What a world is made of: a node's mechanism and noise family are uniform among these.

    ``mixture`` are the shares of non-root and of root nodes whose noise is a Gaussian mixture
    outright; ``heteroscedastic`` is the share of continuous non-root nodes whose noise scale
    varies with their parents. Roots are noise alone, or a coin.
    """

    continuous: tuple[str, ...] = ("linear_additive",)
    binary: tuple[str, ...] = ("logistic",)
    noises: tuple[str, ...] = tuple(NOISE_FAMILIES)
    mixture: tuple[float, float] = (0.0, 0.0)
    heteroscedastic: float = 0.0


DEFAULT_PROFILE: Final = Profile()

_PLAIN_NOISES: Final = ("gauss", "laplace", "student_t")

CONTINUOUS_PROFILES: Final[Mapping[str, Profile]] = {
    "linear_additive": Profile(),
    "interaction_response": Profile(("product", "saturating", "cooperative")),
    "symbolic_transform": Profile(("rational", "power", "exp_log", "piecewise")),
    "additive_baseline": Profile(("linear_additive",), noises=("gauss",)),
    "smooth_handcrafted": Profile(("handcrafted",), noises=_PLAIN_NOISES),
    "neural_blackbox": Profile(("neural",), noises=_PLAIN_NOISES),
    "mixture_noise": Profile(("handcrafted",), noises=_PLAIN_NOISES, mixture=(0.8, 0.45)),
    "heteroscedastic": Profile(
        ("handcrafted",), noises=_PLAIN_NOISES, heteroscedastic=HETEROSCEDASTIC_SHARE
    ),
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

_EMPIRICAL: Final[Mapping[str, Mapping[str, float]]] = {
    # What the public reference release realised of each, which is all that is known of them.
    "continuous": {"linear_additive": 1, "interaction_response": 22, "symbolic_transform": 12},
    "binary": {"single_regulator_logistic": 12, "multi_input_logic_gate": 20},
}


def profile(continuous: str, binary: str) -> Profile:
    """The profile of a scene from its two names. Raises ``KeyError`` for an unknown one."""
    return replace(CONTINUOUS_PROFILES[continuous], binary=BINARY_PROFILES[binary])


def is_empirical(kind: str, name: str) -> bool:
    """Whether a profile of a kind stands for what a corpus contains."""
    return name in _EMPIRICAL[kind]


def mixture_weights(kind: str) -> dict[str, float]:
    """``EMPIRICAL_SHARE`` for the empirical profiles of a kind as they were realised, the rest for
    the synthetic ones alike."""
    names = CONTINUOUS_PROFILES if kind == "continuous" else BINARY_PROFILES
    empirical = _EMPIRICAL[kind]
    total = sum(empirical.values())
    synthetic = [name for name in names if not is_empirical(kind, name)]
    return {
        name: (
            EMPIRICAL_SHARE * empirical[name] / total
            if is_empirical(kind, name)
            else (1.0 - EMPIRICAL_SHARE) / len(synthetic)
        )
        for name in names
    }
