"""Noise families: variance-matched, and one law by every route."""

import numpy as np
import pytest
from scipy import integrate, stats

from builder.equations.noise import NOISE_FAMILIES, Noise


def laws() -> list[Noise]:
    found = []
    for family, functions in NOISE_FAMILIES.items():
        for seed in range(2):
            rng = np.random.default_rng(seed)
            scale = float(rng.uniform(0.5, 1.5))
            found.append(Noise(family, scale, functions.draw_shape(rng, scale)))
    return found


def cdf(law: Noise, e: np.ndarray) -> np.ndarray:
    if law.family == "gaussian_mixture":
        sd = np.sqrt(1.0 - np.mean(np.square(law.shape)))
        return np.mean([stats.norm.cdf(e, mean, sd) for mean in law.shape], axis=0)
    if law.family == "student_t":
        (df,) = law.shape
        return stats.t(df, scale=np.sqrt((df - 2) / df)).cdf(e)
    return {"gauss": stats.norm(), "laplace": stats.laplace(scale=np.sqrt(0.5))}[law.family].cdf(e)


@pytest.mark.parametrize("law", laws(), ids=lambda law: f"{law.family}-{law.scale:.2f}")
def test_density_has_mass_one_mean_zero_and_variance_one(law: Noise) -> None:
    """Otherwise ``scale`` is not the standard deviation, and no closed form is right."""
    for power, expected in ((0, 1.0), (1, 0.0), (2, 1.0)):
        halves = [
            integrate.quad(lambda e, k=power: e**k * float(law.density(np.array(e))), a, b)[0]
            for a, b in ((-np.inf, -1.0), (-1.0, 0.0), (0.0, 1.0), (1.0, np.inf))
        ]
        assert sum(halves) == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("law", laws(), ids=lambda law: f"{law.family}-{law.scale:.2f}")
def test_sampler_follows_the_distribution_function(law: Noise) -> None:
    """Data would come from another law than the one the truths are computed for."""
    draws = law.draw(np.random.default_rng(11), 20_000)
    assert stats.kstest(draws, lambda e: cdf(law, e)).pvalue > 1e-3
    assert abs(draws.mean()) < 5 / np.sqrt(len(draws))
    kurtosis = float(np.mean(draws**4))
    assert abs(draws.std() - 1.0) < 5 * np.sqrt(kurtosis / len(draws))


@pytest.mark.parametrize("law", laws(), ids=lambda law: f"{law.family}-{law.scale:.2f}")
def test_quantiles_invert_the_distribution_function(law: Noise) -> None:
    """Quasi-Monte Carlo would integrate over another law, in the far tails above all."""
    u = uniforms()
    back = cdf(law, law.from_uniform(u))
    assert np.max(np.abs(back - u) / np.minimum(u, 1 - u)) < 1e-5
    assert np.all(np.diff(law.from_uniform(np.unique(u))) > 0)


def test_families_agree_with_scipy() -> None:
    """An error shared by density, quantile and sampler would pass the tests above."""
    e = np.linspace(-6, 6, 101)
    df = 6.5
    references = {
        "gauss": ((), stats.norm()),
        "laplace": ((), stats.laplace(scale=np.sqrt(0.5))),
        "student_t": ((df,), stats.t(df, scale=np.sqrt((df - 2) / df))),
    }
    for family, (shape, reference) in references.items():
        law = Noise(family, 1.0, shape)
        assert np.allclose(law.density(e), reference.pdf(e), rtol=1e-10)


def uniforms() -> np.ndarray:
    """Of 30 bits, with both ends."""
    cells = np.random.default_rng(5).integers(1 << 30, size=5_000)
    places = np.concatenate([np.arange(64), cells, (1 << 30) - 1 - np.arange(64)])
    return (places + 0.5) * 2.0**-30


def test_tails_are_bounded_and_mixtures_are_centred() -> None:
    """With df < 5 sample variances never settle; an uncentred mixture shifts every mean."""
    for seed in range(50):
        rng = np.random.default_rng(seed)
        (df,) = NOISE_FAMILIES["student_t"].draw_shape(rng, 1.0)
        means = NOISE_FAMILIES["gaussian_mixture"].draw_shape(rng, 0.8)
        assert 5.0 <= df <= 10.0
        assert 2 <= len(means) <= 6
        assert abs(sum(means)) < 1e-12
