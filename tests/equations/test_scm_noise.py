"""Noise of one law by every route, and our own exponentials against decimal arithmetic."""

import math
from decimal import Decimal, localcontext
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import integrate, stats

from builder.equations import elementary
from builder.equations.noise import NOISE_FAMILIES, Noise


def laws() -> list[Noise]:
    found = []
    for family, functions in NOISE_FAMILIES.items():
        for seed in range(2):
            rng = np.random.default_rng(seed)
            scale = float(rng.uniform(0.5, 1.5))
            found.append(Noise(family, scale, functions.draw_shape(rng, scale)))
    return found


def reference(law: Noise):
    """The same law by SciPy."""
    if law.family == "gaussian_mixture":
        sd = np.sqrt(1.0 - np.mean(np.square(law.shape)))
        cdf, pdf = (
            lambda e, f=f: np.mean([f(e, mean, sd) for mean in law.shape], axis=0)
            for f in (stats.norm.cdf, stats.norm.pdf)
        )
        return SimpleNamespace(cdf=cdf, pdf=pdf)
    if law.family == "student_t":
        (df,) = law.shape
        return stats.t(df, scale=np.sqrt((df - 2) / df))
    return {"gauss": stats.norm(), "laplace": stats.laplace(scale=np.sqrt(0.5))}[law.family]


@pytest.mark.parametrize("law", laws(), ids=lambda law: f"{law.family}-{law.scale:.2f}")
def test_density_has_mass_one_mean_zero_and_variance_one(law: Noise) -> None:
    """Otherwise ``scale`` is not the standard deviation, and no closed form is right."""
    for power, expected in ((0, 1.0), (1, 0.0), (2, 1.0)):
        halves = [
            integrate.quad(lambda e, k=power: e**k * float(law.density(np.array(e))), a, b)[0]
            for a, b in ((-np.inf, -1.0), (-1.0, 0.0), (0.0, 1.0), (1.0, np.inf))
        ]
        assert sum(halves) == pytest.approx(expected, abs=2e-6)
    e = np.linspace(-6, 6, 101)
    assert np.allclose(law.density(e), reference(law).pdf(e), rtol=1e-10)


@pytest.mark.parametrize("law", laws(), ids=lambda law: f"{law.family}-{law.scale:.2f}")
def test_sampler_follows_the_distribution_function(law: Noise) -> None:
    """Data would come from another law than the one the truths are computed for."""
    draws = law.draw(np.random.default_rng(11), 20_000)
    assert stats.kstest(draws, reference(law).cdf).pvalue > 1e-3
    assert abs(draws.mean()) < 5 / np.sqrt(len(draws))
    kurtosis = float(np.mean(draws**4))
    assert abs(draws.std() - 1.0) < 5 * np.sqrt(kurtosis / len(draws))


@pytest.mark.parametrize("law", laws(), ids=lambda law: f"{law.family}-{law.scale:.2f}")
def test_quantiles_invert_the_distribution_function(law: Noise) -> None:
    """Quasi-Monte Carlo would integrate over another law, in the far tails above all."""
    u = uniforms()
    back = reference(law).cdf(law.from_uniform(u))
    assert np.max(np.abs(back - u) / np.minimum(u, 1 - u)) < 1e-5
    assert np.all(np.diff(law.from_uniform(np.unique(u))) > 0)


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


EXACT = {
    "exp": lambda x: x.exp(),
    "log": lambda x: x.ln(),
    "log1p": lambda x: (1 + x).ln(),
    "tanh": lambda x: 1 - 2 / ((2 * x).exp() + 1),
    "softplus": lambda x: (1 + x.exp()).ln(),
    "expit": lambda x: 1 / (1 + (-x).exp()),
}
POSITIVE = ("log", "log1p")


@pytest.mark.parametrize("name", EXACT)
def test_a_function_is_exact_to_a_few_units_in_the_last_place(name):
    """A worse approximation would be a truth of another world than the one that is stored."""
    rng = np.random.Generator(np.random.Philox(key=7))
    x = np.concatenate([rng.normal(0.0, s, 150) for s in (1e-6, 0.5, 3.0, 30.0)])
    x = np.abs(x) if name in POSITIVE else x
    found = getattr(elementary, name)(x)
    with localcontext() as context:
        context.prec = 60
        exact = [EXACT[name](Decimal(value)) for value in x.tolist()]
        errors = [
            abs(Decimal(value) - true) / (1 if name == "tanh" else abs(true))
            for value, true in zip(found.tolist(), exact, strict=True)
        ]
    assert max(errors) < 5 * np.finfo(float).eps


def test_a_power_is_that_of_the_library():
    x = np.linspace(0.0, 20.0, 401)
    for exponent in (0.5, 1.0, 1.7, 4.0):
        assert elementary.power(x, exponent) == pytest.approx(x**exponent, rel=1e-14)


def test_the_ends_are_finite_and_scalars_are_welcome():
    """A root's mean is a scalar, and a density is asked for far out in a tail."""
    far = np.array([-1e6, 0.0, 1e6])
    assert elementary.exp(far)[0] < 1e-300 < elementary.exp(far)[1] == 1.0
    assert elementary.expit(far) == pytest.approx([0.0, 0.5, 1.0])
    assert elementary.softplus(far).tolist() == [pytest.approx(0.0), math.log(2.0), 1e6]
    assert elementary.tanh(far).tolist() == [-1.0, 0.0, 1.0]
    assert elementary.log(np.array(0.0)) < -690
    assert float(elementary.expit(np.asarray(0.0))) == 0.5


def test_powers_of_two_are_right_from_end_to_end() -> None:
    """They are put together from bits, whose places a wrong shift would move."""
    powers = np.arange(-990, 991)
    wanted = np.ldexp(1.0, powers)
    assert elementary.exp(powers * math.log(2.0)) == pytest.approx(wanted, rel=1e-12)
    assert elementary.log(wanted) == pytest.approx(powers * math.log(2.0), rel=1e-15)
    below, above = (elementary.log(np.nextafter(wanted, end)) for end in (0.0, math.inf))
    assert (below <= elementary.log(wanted)).all() and (above >= elementary.log(wanted)).all()


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("name", EXACT)
def test_what_is_no_number_stays_none(name):
    """Its bits look like a number's."""
    assert np.isnan(getattr(elementary, name)(np.array([math.nan, -math.nan]))).all()
