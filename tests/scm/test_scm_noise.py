"""Noise families: variance-matched, and one law by every route."""

import numpy as np
import pytest
from scipy import integrate, stats

from builder.scm.noise import NOISE_FAMILIES, Noise


def laws() -> list[Noise]:
    found = []
    for family, functions in NOISE_FAMILIES.items():
        for seed in range(4):
            rng = np.random.default_rng(seed)
            scale = float(rng.uniform(0.5, 1.5))
            found.append(Noise(family, scale, functions.draw_shape(rng, scale)))
    return found


def cdf(law: Noise, e: np.ndarray) -> np.ndarray:
    """The distribution function by SciPy's laws."""
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
    u = np.concatenate([[2.0**-31, 1e-6, 1 - 1e-6, 1 - 2.0**-31], np.linspace(0.001, 0.999, 997)])
    back = cdf(law, law.from_uniform(u))
    assert np.max(np.abs(back - u) / np.minimum(u, 1 - u)) < 1e-4
    assert np.all(np.diff(law.from_uniform(np.sort(u))) > 0)


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
    cells = np.random.default_rng(5).integers(1 << 30, size=20_000)
    places = np.concatenate([np.arange(64), cells, (1 << 30) - 1 - np.arange(64)])
    return (places + 0.5) * 2.0**-30


@pytest.mark.parametrize("df", [5.0, 6.5, 10.0])
def test_interpolated_quantiles_of_students_t_are_scipys(df: float) -> None:
    """Nodes too far apart would bend the noise of every truth."""
    u = uniforms().reshape(-1, 1)
    law = Noise("student_t", 1.0, (df,))
    reference = stats.t(df, scale=np.sqrt((df - 2) / df)).ppf(u)
    assert np.allclose(law.from_uniform(u), reference, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_interpolated_quantiles_of_mixtures_invert_scipys_gaussians(seed: int) -> None:
    """Both tails, from the sides from which they are small."""
    rng = np.random.default_rng(seed)
    shape = NOISE_FAMILIES["gaussian_mixture"].draw_shape(rng, float(rng.uniform(0.3, 1.5)))
    sd = np.sqrt(1.0 - np.mean(np.square(shape)))
    u = uniforms()
    e = Noise("gaussian_mixture", 1.0, shape).from_uniform(u)
    lower, upper = (
        np.mean([tail(e, mean, sd) for mean in shape], axis=0)
        for tail in (stats.norm.cdf, stats.norm.sf)
    )
    assert np.allclose(lower[u < 0.5], u[u < 0.5], rtol=3e-5)
    assert np.allclose(upper[u > 0.5], 1 - u[u > 0.5], rtol=3e-5)


def test_tails_are_bounded_and_mixtures_are_centred() -> None:
    """With df < 5 sample variances never settle; an uncentred mixture shifts every mean."""
    for seed in range(50):
        rng = np.random.default_rng(seed)
        (df,) = NOISE_FAMILIES["student_t"].draw_shape(rng, 1.0)
        means = NOISE_FAMILIES["gaussian_mixture"].draw_shape(rng, 0.8)
        assert 5.0 <= df <= 10.0
        assert 2 <= len(means) <= 6
        assert abs(sum(means)) < 1e-12
