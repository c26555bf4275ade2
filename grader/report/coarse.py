"""Figures with few digits: what a redacted report or comparison says instead of the exact ones."""

from typing import Any, Final

from grader.shape import LOSS_CAP

TASK_STEPS: Final = 10
"""Steps of points into which one task is divided."""
SPREAD: Final = 5
"""Intervals and detectable differences come in steps so many times as wide."""
POINTS_DIGITS: Final = 1
LOSS_DIGITS: Final = 2
FEWEST: Final = 5
"""Tasks (or contexts of several tasks) that a figure must be about."""
FEWEST_PAIRS: Final = 20
"""Parts of contexts that a share must be about: a context holds several each."""
TRUTH_AXES: Final = frozenset({"structure", "abstention"})
"""Axes of slices that follow the truth; their slices are withheld."""


def redact_points(value: Any, tasks: int, width: int = 1) -> Any:
    """Points about so many tasks, in steps of ``width`` tenths of one task, at least 0.1."""
    if isinstance(value, list):
        return [redact_points(item, tasks, width) for item in value]
    if not isinstance(value, (int, float)):
        return value
    step = max(0.1, 100 / (TASK_STEPS * tasks)) * width
    return round(round(value / step) * step, 1)


def redact_loss(value: Any) -> Any:
    """A loss up to the cap, to two digits: the median over a pool is one task's loss."""
    if isinstance(value, list):
        return [redact_loss(item) for item in value]
    if not isinstance(value, (int, float)):
        return value
    capped = min(float(value), LOSS_CAP)
    return round(capped, LOSS_DIGITS if capped < 1 else LOSS_DIGITS - 1)


def rounded(value: Any, digits: int) -> Any:
    """``value`` with every float in it rounded."""
    if isinstance(value, dict):
        return {key: rounded(item, digits) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item, digits) for item in value]
    return round(value, digits) if isinstance(value, float) else value
