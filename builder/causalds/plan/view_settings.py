"""The ``observation`` table: settings of the measuring views, checked before any work starts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from builder.causalds.make.measure import OUTCOME_FACTOR, attainable
from builder.causalds.plan.views import Thresholds, View
from grader.errors import UsageError
from grader.names import did_you_mean

_KEYS: Final = ("concepts", "columns", "noise", "calibration", "thresholds")
_MOST_COLUMNS: Final = 20
_THRESHOLDS: Final = ("least", "mean", "q10", "q25")


def view_settings(view: View, table: object, where: str) -> View:
    """``view`` with the settings of the table.

    Raises ``UsageError`` for unknown keys, values out of range, and thresholds under which no
    bundle of these settings is ever accepted.
    """
    if not isinstance(table, Mapping):
        raise UsageError(f"{where}: must be a table such as {{ concepts = [1, 3] }}")
    for key in table:
        if key not in _KEYS:
            raise UsageError(f"{where}.{key}: unknown key{did_you_mean(key, _KEYS)}")
    changes: dict[str, Any] = {}
    for key, low, high in (("concepts", 1, 100), ("columns", 1, _MOST_COLUMNS)):
        if key in table:
            found = _range(table[key], low, high, f"{where}.{key}")
            if not all(value == int(value) for value in found):
                raise UsageError(f"{where}.{key}: must be whole numbers, not {table[key]!r}")
            changes[key] = (int(found[0]), int(found[1]))
    if "noise" in table:
        changes["noise"] = _range(table["noise"], 1e-3, 1e3, f"{where}.noise")
    if "calibration" in table:
        changes["calibration"] = _in(table["calibration"], 0.0, 1.0, f"{where}.calibration")
    if "thresholds" in table:
        changes["thresholds"] = _thresholds(view, table["thresholds"], f"{where}.thresholds")
    changed = replace(view, **changes)
    if not attainable(changed):
        raise UsageError(
            f"{where}.thresholds: no bundle of {changed.columns[1]} columns with noise from "
            f"{changed.noise[0]:g} to {changed.noise[1]:g} meets them; lower them, lower the "
            "noise, or allow more columns"
        )
    return changed


def check_measured_outcomes(views: Sequence[View], changed: object, where: str) -> None:
    """Raises ``UsageError`` for a changed view under which no outcome can be measured."""
    assert isinstance(changed, Mapping)
    for view in views:
        if view.name in changed and not attainable(view, outcome=True):
            raise UsageError(
                f"{where}.observation.{view.name}.thresholds: no bundle meets them for a measured "
                f"outcome, for which they count {OUTCOME_FACTOR:g} times; lower them, or the "
                "noise, allow more columns, or set outcome_measured = 0"
            )


def _thresholds(view: View, value: object, where: str) -> Thresholds:
    if not isinstance(value, Mapping):
        raise UsageError(f"{where}: must be a table such as {{ least = 0.03 }}")
    for key in value:
        if key not in _THRESHOLDS:
            raise UsageError(f"{where}.{key}: unknown key{did_you_mean(key, _THRESHOLDS)}")
    found = {key: _in(number, 0.0, 1e6, f"{where}.{key}") for key, number in value.items()}
    return replace(view.thresholds, **found)


def _range(value: object, low: float, high: float, where: str) -> tuple[float, float]:
    if not isinstance(value, list) or len(value) != 2:
        raise UsageError(f"{where}: must be a list of two numbers, the least and the most")
    first, last = (_in(number, low, high, where) for number in value)
    if first > last:
        raise UsageError(f"{where}: the least, {first:g}, is more than the most, {last:g}")
    return first, last


def _in(value: object, low: float, high: float, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UsageError(f"{where}: must be a number, not {value!r}")
    if not low <= value <= high:
        raise UsageError(f"{where}: must be from {low:g} to {high:g}, not {value!r}")
    return float(value)
