"""Relative absolute error and the thresholds of the paper, fixed in advance (CCR §4.2, §6.1)."""

import math
from typing import Final

DELTA: Final = 0.1
"""The largest error at which two values count as the same."""

VALID_SHARE: Final = 0.9
"""With replicates: the share of resampled estimates within ``DELTA`` that makes a quantity valid
or a composition consistent."""

NEAR_SHARE: Final = 0.75
"""From this share on it is at least nearly so."""


def rae(reference: float, estimate: float) -> float:
    """``|reference - estimate| / |reference|`` (CCR Eq. G.3, G.5).

    Of a reference of zero: zero if the estimate is zero, too, else infinite.
    """
    difference = abs(reference - estimate)
    if difference == 0:
        return 0.0
    return difference / abs(reference) if reference else math.inf


def within(reference: float, estimate: float) -> bool:
    """Whether ``estimate`` agrees with ``reference`` up to ``DELTA``."""
    # 1e-12: a difference of exactly 10% must not be lost to the last bit of a division.
    return rae(reference, estimate) <= DELTA + 1e-12
