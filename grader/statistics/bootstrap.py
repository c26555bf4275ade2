"""Intervals of bootstrap replicates and of shares, and what difference would show."""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from grader.statistics.moments import standard_deviation

LEVEL: Final = 0.95
NORMAL_QUANTILE: Final = 1.959963984540054
"""Two-sided 95%."""
_POWER: Final = 2.801585
"""Normal quantiles of a two-sided 5% test and of 80% power, added."""
_NO_SPREAD: Final = 1e-9


def seed_of(task_ids: Iterable[str]) -> int:
    """A seed from the exam alone, so that equal answers get equal intervals."""
    text = "\n".join(sorted(task_ids))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def percentile_interval(replicates: Sequence[float]) -> list[float]:
    """The central 95% of the replicates (linear interpolation between order statistics)."""
    ordered = sorted(replicates)
    tail = (1 - LEVEL) / 2
    return [_quantile(ordered, tail), _quantile(ordered, 1 - tail)]


def overall(per_track: Mapping[str, Sequence[float]]) -> list[float]:
    """Replicates of the unweighted mean over tracks."""
    return [sum(values) / len(values) for values in zip(*per_track.values(), strict=True)]


def standard_error(replicates: Sequence[float]) -> float:
    """The standard deviation of the replicates (n - 1 in the denominator)."""
    return standard_deviation(replicates)


def detectable(error: float) -> float:
    """The difference that a two-sided 5% test sees with 80% power, given its standard error."""
    return _POWER * error


def between_systems(replicates: Sequence[float]) -> float | None:
    """The difference to a second system that one exam would show, as if the two were independent.

    `compare` pairs them task by task and sees smaller ones. ``None`` for what does not vary, of
    which no other system has the spread.
    """
    error = standard_error(replicates)
    return detectable(math.sqrt(2) * error) if error > _NO_SPREAD else None


def wilson(successes: float, trials: int) -> list[float] | None:
    """Wilson's 95% interval of a share, which has width at 0 and at 1; none without a trial."""
    if not trials:
        return None
    share, z = successes / trials, NORMAL_QUANTILE
    centre = share + z * z / (2 * trials)
    spread = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return [max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)]


def _quantile(ordered: Sequence[float], share: float) -> float:
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])
