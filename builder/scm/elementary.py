"""Exponentials and logarithms that have the same bits on every processor.

NumPy and the C library choose their own by the processor's features, and the results differ in the
last bit. Those bits would reach a release: a mean of them in a parameter, now and then a value on
the edge between two roundings. Here everything is put together from additions, multiplications,
divisions and powers of two, which IEEE 754 rounds alike everywhere, each done by one NumPy call, so
that no compiler fuses two of them. Errors are a few units in the last place. Long arrays are worked
off in blocks that stay in the processor's cache; every number is computed by itself, so that blocks
change no bit.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from typing import Final

import numpy as np

from builder.scm.equation import Array

_LOG2E: Final = 1.4426950408889634
_LN2_HIGH: Final = float.fromhex("0x1.62e42fefp-1")
"""ln 2 to 32 bits: its product with any exponent is exact."""
_LN2_LOW: Final = float.fromhex("0x1.473de6af278edp-34")
"""What ``_LN2_HIGH`` lacks."""
_LEAST: Final = -700.0
_MOST: Final = 700.0
_SMALLEST: Final = 1e-300
_DIGITS: Final = 52
"""The bits of a double's fraction, below those of its power of two."""
_BIAS: Final = 1023
"""What those of the power say of 2^0."""
_FRACTION: Final = (1 << _DIGITS) - 1
_HALF: Final = (_BIAS - 1) << _DIGITS
"""The bits of 1/2: with a fraction's, a number from 1/2 to 1."""

_BLOCK: Final = 16384
"""Numbers worked off at a time: 128 KiB."""

# Arrays of no dimension: NumPy takes a quarter longer to add a Python number to a block.
_EXP_TERMS: Final = [np.array(float(Fraction(1, math.factorial(k)))) for k in range(13, -1, -1)]
"""Taylor's, for |r| <= ln(2) / 2: what is left out is below 5e-18."""
_ATANH_TERMS: Final = [np.array(float(Fraction(2, 2 * k + 1))) for k in range(10, -1, -1)]
"""2 atanh(s) = s (2 + 2 s^2 / 3 + ...), for |s| <= 0.172: what is left out is below 2e-17."""


Function = Callable[[Array], Array]


def _in_blocks(function: Function) -> Function:
    """``function``, which maps each number by itself, block by block."""

    @wraps(function)
    def over_blocks(x: Array) -> Array:
        given = np.asarray(x, dtype=np.float64)
        if given.size <= _BLOCK:
            return np.asarray(function(given))
        flat = given.reshape(-1)
        found = np.empty(flat.shape)
        for start in range(0, flat.size, _BLOCK):
            found[start : start + _BLOCK] = function(flat[start : start + _BLOCK])
        return found.reshape(given.shape)

    return over_blocks


def _exp(x: Array) -> Array:
    rest = np.minimum(np.maximum(x, _LEAST), _MOST)
    power = np.rint(rest * _LOG2E)
    rest -= power * _LN2_HIGH
    rest -= power * _LN2_LOW
    found = _polynomial(_EXP_TERMS, rest)
    # 2^n by its bits: exact, and a quarter of the time of ``ldexp``, which also knows numbers so
    # small that they lose digits.
    bits = power.astype(np.int64)
    bits += _BIAS
    bits <<= _DIGITS
    found *= bits.view(np.float64)
    return found


def _log(x: Array) -> Array:
    # Fraction and power by their bits, as ``frexp`` gives them, in half the time; what is no number
    # stays none.
    large = np.maximum(x, _SMALLEST)
    bits = large.view(np.int64)
    power = (bits >> _DIGITS) - (_BIAS - 1)
    fraction = (bits & _FRACTION | _HALF).view(np.float64)
    low = fraction < math.sqrt(0.5)
    fraction, power = fraction * (1.0 + low), power - low
    s = (fraction - 1.0) / (fraction + 1.0)
    tail = s * _polynomial(_ATANH_TERMS, s * s)
    return np.asarray(power * _LN2_HIGH + (power * _LN2_LOW + tail) + (large - large))


def _log1p(x: Array) -> Array:
    whole = 1.0 + x
    return np.asarray(_log(whole) + (x - (whole - 1.0)) / whole)


@_in_blocks
def exp(x: Array) -> Array:
    """e^x, shape of ``x``; x is cut off at ±700."""
    return _exp(x)


@_in_blocks
def log(x: Array) -> Array:
    """ln x, shape of ``x``; x is cut off at 1e-300 from below."""
    return _log(x)


@_in_blocks
def log1p(x: Array) -> Array:
    """ln(1 + x) for x >= 0, exact to a few units where x is small too."""
    return _log1p(x)


def power(x: Array, exponent: float) -> Array:
    """x^exponent for x >= 0 and a positive exponent."""
    return np.where(x > 0.0, exp(exponent * log(x)), 0.0)


@_in_blocks
def tanh(x: Array) -> Array:
    """The hyperbolic tangent, to an absolute error of a unit in the last place of 1."""
    grown = _exp(2.0 * np.abs(x)) + 1.0
    return np.copysign(1.0 - 2.0 / grown, x)


@_in_blocks
def softplus(x: Array) -> Array:
    """ln(1 + e^x)."""
    return np.asarray(np.maximum(x, 0.0) + _log1p(_exp(-np.abs(x))))


@_in_blocks
def expit(x: Array) -> Array:
    """1 / (1 + e^-x)."""
    return np.asarray(1.0 / (1.0 + _exp(-x)))


def _polynomial(terms: list[Array], x: Array) -> Array:
    """Horner's rule; ``terms`` from the highest power down."""
    total = x * terms[0]
    total += terms[1]
    for term in terms[2:]:
        total *= x
        total += term
    return total
