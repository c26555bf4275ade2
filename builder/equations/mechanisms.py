"""The families of mechanisms, and the profiles that say which of them make up a world.

A family is two functions (draw parameters; evaluate) and one row of ``MECHANISMS``. A row that is
affine in the parents also says so, which opens closed forms (``builder.equations.quantities``).
A scene has one profile for its continuous variables and one for its binary ones, drawn
independently (paper 3.1, A.2, A.7). Three continuous and two binary profiles stand for what corpora
of equations and Boolean rules contain; the others are synthetic and cover further regimes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from builder.equations import curves, switches
from builder.equations.equation import MechanismFamily
from builder.equations.noise import NOISE_FAMILIES


def _gate(conjunctions: tuple[float, ...], negation: float) -> MechanismFamily:
    draw = partial(switches.draw_gate, conjunctions, negation)
    return MechanismFamily("binary", draw, switches.gate_mean)


MECHANISMS: Final[Mapping[str, MechanismFamily]] = {
    "linear_additive": MechanismFamily(
        "continuous", curves.draw_linear, curves.linear_mean, curves.as_affine
    ),
    "handcrafted": MechanismFamily(
        "continuous",
        curves.draw_handcrafted,
        curves.handcrafted_mean,
        slope=curves.handcrafted_slope,
    ),
    "product": MechanismFamily("continuous", curves.draw_product, curves.product_mean),
    "saturating": MechanismFamily("continuous", curves.draw_saturating, curves.response_mean),
    "cooperative": MechanismFamily("continuous", curves.draw_cooperative, curves.response_mean),
    "rational": MechanismFamily("continuous", curves.draw_rational, curves.rational_mean),
    "power": MechanismFamily("continuous", curves.draw_power, curves.power_mean),
    "exp_log": MechanismFamily("continuous", curves.draw_exp_log, curves.exp_log_mean),
    "piecewise": MechanismFamily("continuous", curves.draw_piecewise, curves.piecewise_mean),
    "neural": MechanismFamily(
        "continuous", curves.draw_neural, curves.neural_mean, slope=curves.neural_slope
    ),
    "logistic": MechanismFamily("binary", switches.draw_logistic, switches.logistic_mean),
    "shifted_logistic": MechanismFamily(
        "binary",
        switches.draw_shifted_logistic,
        switches.shifted_logistic_mean,
        slope=switches.shifted_logistic_slope,
    ),
    "sharp_threshold": MechanismFamily(
        "binary", switches.draw_sharp_threshold, switches.sharp_threshold_mean
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


DEFAULT_PROFILE: Final = Profile()

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

_UNUSED: Final = frozenset({"coarsened_continuous"})
"""Profiles of weight 0 unless a split file asks for them, as in the paper (A.7)."""

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
    """Return the profile of a scene from the names of its continuous and its binary profile."""
    return replace(CONTINUOUS_PROFILES[continuous], binary=BINARY_PROFILES[binary])


def is_empirical(kind: str, name: str) -> bool:
    """Return whether profile ``name`` of ``kind`` (continuous or binary) is a corpus's."""
    return name in _EMPIRICAL[kind]


def mixture_weights(kind: str) -> dict[str, float]:
    """Return each profile's probability, by name, for ``kind`` ("continuous" or "binary").
    Empirical ones share ``EMPIRICAL_SHARE`` as realised, synthetic ones the rest equally, but for
    those of ``_UNUSED``."""
    known = CONTINUOUS_PROFILES if kind == "continuous" else BINARY_PROFILES
    names = [name for name in known if name not in _UNUSED]
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
