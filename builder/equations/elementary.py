"""Exponentials and logarithms that have the same bits on every processor.

NumPy and the C library choose their own by the processor's features, and the results differ in the
last bit, which would reach a release. Here everything is put together from additions,
multiplications, divisions and powers of two, which IEEE 754 rounds alike everywhere, each done by
one NumPy call, so that no compiler fuses two of them. Errors are a few units in the last place.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from builder.equations.equation import Array

_LOG2E: Final = 1.4426950408889634
_LN2_HIGH: Final = float.fromhex("0x1.62e42fefp-1")
"""ln 2 to 32 bits: its product with any exponent is exact."""
_LN2_LOW: Final = float.fromhex("0x1.473de6af278edp-34")
"""What ``_LN2_HIGH`` lacks."""
_LEAST: Final = -700.0
_MOST: Final = 700.0
_SMALLEST: Final = 1e-300

_EXP_TERMS: Final = [float(Fraction(1, math.factorial(k))) for k in range(13, -1, -1)]
"""Taylor's, for |r| <= ln(2) / 2: what is left out is below 5e-18."""
_ATANH_TERMS: Final = [float(Fraction(2, 2 * k + 1)) for k in range(10, -1, -1)]
"""2 atanh(s) = s (2 + 2 s^2 / 3 + ...), for |s| <= 0.172: what is left out is below 2e-17."""


def exp(x: Array) -> Array:
    """Return e^x, shape of ``x``; x is cut off at ±700."""
    inside = np.minimum(np.maximum(x, _LEAST), _MOST)
    power = np.rint(inside * _LOG2E)
    rest = (inside - power * _LN2_HIGH) - power * _LN2_LOW
    return np.ldexp(_polynomial(_EXP_TERMS, rest), power.astype(np.int64))


def log(x: Array) -> Array:
    """Return ln x, shape of ``x``; x is cut off at 1e-300 from below."""
    fraction, power = np.frexp(np.maximum(x, _SMALLEST))
    low = fraction < math.sqrt(0.5)
    fraction, power = fraction * (1.0 + low), power - low
    s = (fraction - 1.0) / (fraction + 1.0)
    tail = s * _polynomial(_ATANH_TERMS, s * s)
    return np.asarray(power * _LN2_HIGH + (power * _LN2_LOW + tail))


def log1p(x: Array) -> Array:
    """Return ln(1 + x) for x >= 0, exact to a few units where x is small too."""
    whole = 1.0 + x
    return np.asarray(log(whole) + (x - (whole - 1.0)) / whole)


def power(x: Array, exponent: float) -> Array:
    """Return x^exponent for x >= 0 and a positive exponent."""
    return np.where(x > 0.0, exp(exponent * log(x)), 0.0)


def tanh(x: Array) -> Array:
    """Return the hyperbolic tangent, to an absolute error of a unit in the last place of 1."""
    grown = exp(2.0 * np.abs(x)) + 1.0
    return np.copysign(1.0 - 2.0 / grown, x)


def softplus(x: Array) -> Array:
    """Return ln(1 + e^x)."""
    return np.asarray(np.maximum(x, 0.0) + log1p(exp(-np.abs(x))))


def expit(x: Array) -> Array:
    """Return 1 / (1 + e^-x)."""
    return np.asarray(1.0 / (1.0 + exp(-x)))


def _polynomial(terms: Sequence[float], x: Array) -> Array:
    """Evaluate a polynomial by Horner's rule; ``terms`` from the highest power down."""
    total = x * terms[0] + terms[1]
    for term in terms[2:]:
        total = total * x + term
    return np.asarray(total)
