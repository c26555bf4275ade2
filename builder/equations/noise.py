"""Exogenous noise of continuous variables: one row of ``NOISE_FAMILIES`` per family.

Every family is *variance-matched*: its standardised form has mean 0 and standard deviation 1, so
that ``Noise.scale`` is the standard deviation whatever the family.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from scipy import special

from builder.equations.elementary import exp, log, log1p, softplus
from builder.equations.equation import Array, round_parameter
from builder.splits.seeds import pick

Shape = tuple[float, ...]
"""Shape parameters of a family: () gauss and laplace, (df,) Student t, component means mixture."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The variation of a noise scale with the parents: a factor softplus(weights . parents + bias).
    The factor is cut off at ``low`` and ``high`` (paper A.6, heteroscedastic noise)."""

    weights: tuple[float, ...]
    bias: float
    low: float = 0.3
    high: float = 2.0


@dataclass(frozen=True, slots=True)
class Noise:
    """Additive noise ``scale * e``, ``e`` standardised; a ``spread`` multiplies the scale."""

    family: str
    scale: float
    shape: Shape
    spread: Spread | None = None

    def scale_at(self, columns: Sequence[Array]) -> Array:
        """Return the noise scale for parents' columns of shape (n,), a scalar if it is constant."""
        if self.spread is None:
            return np.asarray(self.scale)
        total = np.asarray(self.spread.bias)
        for weight, column in zip(self.spread.weights, columns, strict=True):
            total = total + weight * column
        factor = np.clip(softplus(total), self.spread.low, self.spread.high)
        return np.asarray(self.scale * factor)

    def spread_over(self, weights: tuple[float, ...], bias: float, *ends: float) -> "Noise":
        """Return the noise with a spread of these parameters, rounded."""
        return replace(self, spread=Spread(round_parameter(weights), round_parameter(bias), *ends))

    def to_json(self) -> dict[str, object]:
        """Return plain JSON values, without a ``spread`` of None."""
        return {key: value for key, value in asdict(self).items() if value is not None}

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """Return ``n`` standardised innovations (mean 0, standard deviation 1)."""
        return NOISE_FAMILIES[self.family].draw(rng, n, self.shape)

    def from_uniform(self, u: Array) -> Array:
        """Return standardised innovations as quantiles at uniforms in (0, 1)."""
        return NOISE_FAMILIES[self.family].from_uniform(u, self.shape)

    def density(self, e: Array) -> Array:
        """Return the density of the standardised innovation at ``e``, shape of ``e``."""
        return NOISE_FAMILIES[self.family].density(e, self.shape)


@dataclass(frozen=True, slots=True)
class NoiseFamily:
    """One standardised family: ``draw`` samples data, ``from_uniform`` is for quasi-Monte Carlo."""

    draw_shape: Callable[[np.random.Generator, float], Shape]
    draw: Callable[[np.random.Generator, int, Shape], Array]
    from_uniform: Callable[[Array, Shape], Array]
    density: Callable[[Array, Shape], Array]


def draw_noise_law(rng: np.random.Generator, families: tuple[str, ...], scale: float) -> Noise:
    """Draw a noise law with sd ``scale``, its family uniform in ``families``, rounded."""
    family = pick(rng, families)
    shape = NOISE_FAMILIES[family].draw_shape(rng, scale)
    return Noise(family, round_parameter(scale), round_parameter(shape))


_LAPLACE_RATE: Final = math.sqrt(2.0)
"""Gives unit variance."""

_STEPS: Final = 512
"""Nodes in one unit of the normal score. As a function of it the quantile of a smooth law with not
too heavy tails is nearly a line: between nodes it is off by some 1e-6 of a standard deviation."""
_REACHED: Final = 6.5
"""Scores up to this have nodes; uniforms of 30 bits have none beyond 6.3."""
_SCORES: Final = np.arange(-int(_REACHED * _STEPS), int(_REACHED * _STEPS) + 1) / _STEPS
_FARTHEST: Final = 8.0
"""No component of a mixture has a mean beyond 1 or a standard deviation above 1."""


def _interpolate_quantiles(quantiles: Array, u: Array) -> Array:
    """Return quantiles at uniforms in (0, 1), on lines between those at ``_SCORES``."""
    place = np.clip((special.ndtri(u) + _REACHED) * _STEPS, 0.0, len(_SCORES) - 1.0)
    left = np.minimum(place, len(_SCORES) - 2.0).astype(np.int64)
    return quantiles[left] + (place - left) * (quantiles[left + 1] - quantiles[left])


def _gauss_density(e: Array) -> Array:
    return exp(-0.5 * e * e) / math.sqrt(2 * math.pi)


def _laplace_from_uniform(u: Array, shape: Shape) -> Array:
    tail = log(2.0 * np.minimum(u, 1.0 - u)) / _LAPLACE_RATE
    return np.where(u < 0.5, tail, -tail)


def _student_sd(shape: Shape) -> float:
    """Return the standard deviation of Student's t with ``shape[0]`` > 4 degrees of freedom."""
    return math.sqrt(shape[0] / (shape[0] - 2.0))


def _student_density(e: Array, shape: Shape) -> Array:
    df, sd = shape[0], _student_sd(shape)
    log_norm = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - 0.5 * math.log(df * math.pi)
    t = e * sd
    return np.asarray(sd * exp(log_norm - 0.5 * (df + 1) * log1p(t * t / df)))


@lru_cache(maxsize=64)
def _student_quantiles(shape: Shape) -> Array:
    lower = special.stdtrit(shape[0], special.ndtr(_SCORES[_SCORES <= 0.0])) / _student_sd(shape)
    return np.concatenate([lower, -lower[-2::-1]])


def _mixture_shape(rng: np.random.Generator, scale: float) -> Shape:
    """Draw 2 to 6 means U(-1, 1), centred, for components of sd 0.85 * scale. Return the means
    divided by the mixture's sd, for a variance of one."""
    means = rng.uniform(-1.0, 1.0, int(rng.integers(2, 7)))
    means = means - means.mean()
    total = math.sqrt(float(np.mean(means * means)) + (0.85 * scale) ** 2)
    return tuple(float(m) for m in means / total)


def _mixture_sd(shape: Shape) -> float:
    """Return the common sd of the components of a mixture of variance one."""
    # Derived, not stored: the variance is then one by construction, after a JSON round trip too.
    return math.sqrt(1.0 - math.fsum(m * m for m in shape) / len(shape))


def _mixture_draw(rng: np.random.Generator, n: int, shape: Shape) -> Array:
    component = rng.integers(len(shape), size=n)
    return np.asarray(shape)[component] + _mixture_sd(shape) * rng.standard_normal(n)


def _mixture_density(e: Array, shape: Shape) -> Array:
    sd = _mixture_sd(shape)
    parts = [_gauss_density((e - mean) / sd) for mean in shape]
    return np.asarray(np.sum(parts, axis=0) / (sd * len(shape)))


@lru_cache(maxsize=64)
def _mixture_quantiles(shape: Shape) -> Array:
    """Return the quantiles of a mixture at ``_SCORES``, exact in both tails."""
    e = np.linspace(-_FARTHEST, _FARTHEST, 1 << 15)
    sd = _mixture_sd(shape)
    below, above = (
        np.mean([special.ndtr(side * (e - mean) / sd) for mean in shape], axis=0)
        for side in (1.0, -1.0)
    )
    scores = np.where(below < 0.5, special.ndtri(below), -special.ndtri(above))
    left = np.searchsorted(scores, _SCORES) - 1
    share = (_SCORES - scores[left]) / (scores[left + 1] - scores[left])
    return np.asarray(e[left] + share * (e[left + 1] - e[left]))


NOISE_FAMILIES: Final[Mapping[str, NoiseFamily]] = {
    "gauss": NoiseFamily(
        draw_shape=lambda rng, scale: (),
        draw=lambda rng, n, shape: rng.standard_normal(n),
        from_uniform=lambda u, shape: np.asarray(special.ndtri(u)),
        density=lambda e, shape: _gauss_density(e),
    ),
    "laplace": NoiseFamily(
        draw_shape=lambda rng, scale: (),
        draw=lambda rng, n, shape: rng.laplace(0.0, 1.0 / _LAPLACE_RATE, n),
        from_uniform=_laplace_from_uniform,
        density=lambda e, shape: np.asarray(0.5 * _LAPLACE_RATE * exp(-_LAPLACE_RATE * np.abs(e))),
    ),
    # df >= 5 keeps the fourth moment finite, so that sample variances and correlations settle.
    "student_t": NoiseFamily(
        draw_shape=lambda rng, scale: (float(rng.uniform(5.0, 10.0)),),
        draw=lambda rng, n, shape: rng.standard_t(shape[0], n) / _student_sd(shape),
        from_uniform=lambda u, shape: _interpolate_quantiles(_student_quantiles(shape), u),
        density=_student_density,
    ),
    "gaussian_mixture": NoiseFamily(
        draw_shape=_mixture_shape,
        draw=_mixture_draw,
        from_uniform=lambda u, shape: _interpolate_quantiles(_mixture_quantiles(shape), u),
        density=_mixture_density,
    ),
}
