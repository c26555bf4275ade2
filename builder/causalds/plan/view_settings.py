"""The ``observation`` table: settings of the measuring views, checked before any work starts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from builder.causalds.make.measure import OUTCOME_FACTOR, attainable
from builder.causalds.plan.views import View
from builder.settings import TomlTable

_MOST_COLUMNS: Final = 20


def view_settings(view: View, table: TomlTable) -> View:
    """``view`` with the settings of the table.

    Raises ``UsageError`` for unknown keys, values out of range, and thresholds under which no
    bundle of these settings is ever accepted.
    """
    table.only("concepts", "columns", "noise", "calibration", "thresholds")
    changes: dict[str, Any] = {
        key: table.whole_range(key, 1, most)
        for key, most in (("concepts", 100), ("columns", _MOST_COLUMNS))
        if key in table
    }
    if "noise" in table:
        changes["noise"] = table.number_range("noise", 1e-3, 1e3)
    if "calibration" in table:
        changes["calibration"] = table.share("calibration")
    if "thresholds" in table:
        least = table.table("thresholds")
        least.only("least", "mean", "q10", "q25")
        stated = {key: least.number(key, 0.0, 1e6) for key in least.values}
        changes["thresholds"] = replace(view.thresholds, **stated)
    changed = replace(view, **changes)
    if not attainable(changed):
        raise table.problem(
            "thresholds",
            f"no bundle of {changed.columns[1]} columns with noise from {changed.noise[0]:g} to "
            f"{changed.noise[1]:g} meets them; lower them, lower the noise, or allow more columns",
        )
    return changed


def check_measured_outcomes(views: Sequence[View], changed: TomlTable) -> None:
    """Raises ``UsageError`` for a changed view under which no outcome can be measured."""
    for view in views:
        if view.name in changed and not attainable(view, outcome=True):
            raise changed.problem(
                f"{view.name}.thresholds",
                "no bundle meets them for a measured outcome, for which they count "
                f"{OUTCOME_FACTOR:g} times; lower them, or the noise, allow more columns, or set "
                "outcome_measured = 0",
            )
