"""Repeated attempts: pass@k, pass^k, and moments that every finite double has."""

import math
from collections.abc import Sequence
from typing import Any, Final

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


def pass_at_k(attempts: int, passed: int, k: int) -> float:
    """The chance that at least one of k attempts, drawn without replacement, passes.

    1 - C(n - c, k) / C(n, k) (Chen et al., 2021). Raises ``ValueError`` unless 1 <= k <= n and
    0 <= c <= n.
    """
    _refuse_misuse(attempts, passed, k)
    return 1 - math.comb(attempts - passed, k) / math.comb(attempts, k)


def pass_all_k(attempts: int, passed: int, k: int) -> float:
    """The chance that all of k attempts, drawn without replacement, pass: C(c, k) / C(n, k).

    Known as pass^k (Yao et al., 2024). Raises ``ValueError`` like :func:`pass_at_k`.
    """
    _refuse_misuse(attempts, passed, k)
    return math.comb(passed, k) / math.comb(attempts, k)


def _refuse_misuse(attempts: int, passed: int, k: int) -> None:
    if not 1 <= k <= attempts:
        raise ValueError(f"k is {k}, but there are {attempts} attempts")
    if not 0 <= passed <= attempts:
        raise ValueError(f"{passed} of {attempts} attempts passed")


def spread_of(values: Sequence[float | None]) -> dict[str, Any] | None:
    """Mean, sample SD and SD over mean of complete runs (Table 7).

    ``None`` if one has no value, or an infinite one.
    """
    present = [value for value in values if value is not None and math.isfinite(value)]
    if len(present) < 2 or len(present) != len(values):
        return None
    centre, sd = mean(present), standard_deviation(present)
    return {
        "runs": present,
        "mean": centre,
        "sd": sd,
        "relative_sd": sd / centre if centre else None,
    }
