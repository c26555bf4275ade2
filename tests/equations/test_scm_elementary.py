"""The builder's own exponentials and logarithms, against decimal arithmetic of forty digits."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from builder.equations import elementary

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
