"""Means and standard deviations that every finite double has, the largest included."""

import math
from collections.abc import Sequence
from typing import Final

_HARMLESS: Final = 2.0**400
"""Squares of what is smaller, and sums of a great many of these, are finite."""


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean, its sum correctly rounded. Raises ``ZeroDivisionError`` without any."""
    scale = _scale(values)
    return scale * (math.fsum(value / scale for value in values) / len(values))


def standard_deviation(values: Sequence[float]) -> float:
    """The sample standard deviation (n - 1); infinite where no double is as large."""
    scale = _scale(values)
    scaled = [value / scale for value in values]
    centre = math.fsum(scaled) / len(scaled)
    spread = math.fsum((value - centre) ** 2 for value in scaled)
    return scale * math.sqrt(spread / (len(scaled) - 1))


def _scale(values: Sequence[float]) -> float:
    """A power of two by which huge values are divided, which is exact; 1 for all others."""
    largest = max(map(abs, values), default=0.0)
    return 1.0 if largest < _HARMLESS else 2.0 ** (math.frexp(largest)[1] - 1)
