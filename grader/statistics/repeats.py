"""Repeated attempts: pass@k, pass^k, and the spread of complete runs."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any


def pass_at_k(attempts: int, passed: int, k: int) -> float:
    """Return the chance that at least one of k attempts, drawn without replacement, passes.

    With n ``attempts`` of which c ``passed``: 1 - C(n - c, k) / C(n, k) (Chen et al., 2021). Raises
    ``ValueError`` unless 1 <= k <= n and 0 <= c <= n.
    """
    _refuse_misuse(attempts, passed, k)
    return 1 - math.comb(attempts - passed, k) / math.comb(attempts, k)


def pass_all_k(attempts: int, passed: int, k: int) -> float:
    """Return pass^k = C(c, k) / C(n, k), that k drawn attempts all pass (Yao et al., 2024)."""
    _refuse_misuse(attempts, passed, k)
    return math.comb(passed, k) / math.comb(attempts, k)


def _refuse_misuse(attempts: int, passed: int, k: int) -> None:
    """Raise ``ValueError`` unless 1 <= k <= attempts and 0 <= passed <= attempts."""
    if not 1 <= k <= attempts:
        raise ValueError(f"k is {k}, but there are {attempts} attempts")
    if not 0 <= passed <= attempts:
        raise ValueError(f"{passed} of {attempts} attempts passed")


def spread_of(values: Sequence[float | None]) -> dict[str, Any] | None:
    """Return a figure of complete runs (CausalDS Table 7): ``runs`` (its values), ``mean``, ``sd``
    (sample SD) and ``relative_sd`` (SD over mean).

    Return ``None`` for fewer than two runs, or any without a finite value. At a mean of 0 only
    ``relative_sd`` is None.
    """
    present = [value for value in values if value is not None and math.isfinite(value)]
    if len(present) < 2 or len(present) != len(values):
        return None
    mean, sd = fmean(present), stdev(present)
    return {"runs": present, "mean": mean, "sd": sd, "relative_sd": sd / mean if mean else None}
