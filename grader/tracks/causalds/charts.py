"""CausalDS's charts by the names that ``page.toml`` has for them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from grader.pages.charts import (
    Dot,
    DotRow,
    Level,
    bars,
    cost_cloud,
    dot_rows,
    heat_cell,
    lines,
)
from grader.pages.page import Block, Fold
from grader.pages.svg import Svg
from grader.pages.systems import Part, reading_of, rows_of
from grader.pages.table import Cell, Table, find
from grader.pages.words import number, percent, percent_interval, signed_number

DRAWN: Final = 20
"""Systems that are drawn; tables have all of them."""
_LINES: Final = 6
"""Systems in a picture of lines."""
_PAIRS: Final = 24
"""Matched pairs in a picture."""
VIEWS: Final = ("clean", "proxy", "proxy_hard")


def abstention_chart(parts: Sequence[Part]) -> list[Svg]:
    """Return Figure 3b: shares of right content, due abstentions, and needless ones."""
    series = {
        "content_pass_rate": "right on what has an answer",
        "abstention_pass_rate": "abstains where none exists",
        "unwarranted_abstention_rate": "abstains for nothing",
    }
    rows = []
    for part in parts[:DRAWN]:
        shares = [(label, part["metrics"].get(key)) for key, label in series.items()]
        dots = [
            Dot(k, share, hover=f"{label}: {percent(share)}")
            for k, (label, share) in enumerate(shares)
            if share is not None
        ]
        rows.append(DotRow(part["system"], dots))
    drawn = dot_rows("Content against abstention", rows, list(series.values()))
    return [drawn] if any(row.dots for row in rows) else []


def calibration_chart(parts: Sequence[Part]) -> list[Svg]:
    """Return Figure 3a: coverage of intervals beside the coverage they promise."""
    rows = []
    for row in rows_of(parts, "calibration"):
        if row["coverage"] is None:
            continue
        # The family: two families have a variant of the same name, and none has two intervals.
        family = row["variant"].partition(".")[0].replace("_", " ")
        name = f"{row['system'][:16]} · {family}" if len(parts) > 1 else family
        ends, nominal = row["coverage_interval"], row["nominal"]
        hover = percent(row["coverage"]) + (f" {percent_interval(ends)}" if ends else "")
        promised = [] if nominal is None else [(nominal, f"promised {nominal:.0%}")]
        rows.append(DotRow(name, [Dot(0, row["coverage"], ends, hover)], promised))
    return [dot_rows("Coverage of intervals", rows[: 2 * DRAWN])] if rows else []


def _by_level(
    title: str,
    parts: Sequence[Part],
    axis: str,
    levels: Sequence[str],
    key: str,
    ceiling: float | None = None,
) -> list[Svg]:
    """Return a chart of figure ``key``, a line a system over two ``levels`` or more, or []."""
    path = ("readings", reading_of(parts), key)
    series = []
    for part in parts[:_LINES]:
        values = [find(part["slices"].get(axis, {}), level, *path) for level in levels]
        series.append((part["system"], [None if v is None else Level(v) for v in values]))
    return [lines(title, levels, series, ceiling)] if len(levels) > 1 else []


def view_chart(parts: Sequence[Part]) -> list[Svg]:
    """Return the chart of the median error of each system under each view: the paper's in its
    order, then any others by name."""
    present = {view for part in parts for view in part["slices"].get("view", {})}
    views = [view for view in VIEWS if view in present] + sorted(present - {*VIEWS})
    return _by_level("Median normalised error by view", parts, "view", views, "med_nrel_err")


def rung_chart(parts: Sequence[Part]) -> list[Svg]:
    """Return Figure 8: the pass rate of each system at each rung."""
    rungs = sorted({level for part in parts for level in part["slices"].get("rung", {})})
    title = f"Figure 8: pass rate by rung, {reading_of(parts)} reading"
    return _by_level(title, parts, "rung", rungs, "pass_rate", 1)


def cost_chart(parts: Sequence[Part]) -> list[Svg]:
    """Return Figure 4: tokens per task against CausalDSScore."""
    reading = reading_of(parts)
    points = [
        (part["system"], tokens, score)
        for part in parts[:DRAWN]
        if (tokens := find(part, "usage", "tokens_per_task"))
        and (score := find(part, "readings", reading, "causalds_score")) is not None
    ]
    title = "Cost against quality"
    return [cost_cloud(title, "tokens per task", "CausalDSScore ↓", points)] if points else []


def pair_chart(parts: Sequence[Part]) -> list[Block]:
    """Return Figure 9 in one fold: a table a system, a row a matched pair, a column an arm,
    darker where more was lost. Without pairs there is none."""
    drawn = [chart for part in parts[:_LINES] for chart in every_pair(part)]
    return [Fold("Figure 9: every matched pair, drawn", drawn)] if drawn else []


def every_pair(part: Part) -> list[Table]:
    """Return Figure 9 of one system: a row a matched pair, a column an arm; [] without."""
    found: dict[str, dict[str, Cell]] = {}
    for row in rows_of([part], "matched.pairs"):
        of_pair = found.setdefault(row["bundle"], {})
        of_pair[rows_of([part], "matched.contrasts")[0]["reference"]] = _shade(row, "reference_")
        of_pair[row["arm"]] = _shade(row, "")
    views = list(dict.fromkeys(arm for row in found.values() for arm in row))
    rows = [([name], row) for name, row in list(found.items())[:_PAIRS]]
    table = Table.pivot(f"Figure 9: {part['system']}", ["pair"], views, rows)
    return [table] if rows else []


def _shade(row: Mapping[str, Any], side: str) -> Cell:
    """Return the loss of one side of a pair (prefix ``side``), or why it has no valid answer."""
    loss, mark = row[f"{side}loss"], row[f"{side}mark"]
    shown = number(loss, 2) + ("*" if mark else "")
    return heat_cell(loss, shown if row[f"{side}valid"] else mark or "none")


def decomposition_chart(parts: Sequence[Part]) -> list[Svg]:
    """Return Figure 10: the mean paired difference of each contrast as a bar of its parts."""
    rows = []
    for row in rows_of(parts[:_LINES], "matched.contrasts"):
        name = f"{row['system']}: {row['arm']} − {row['reference']}"
        sizes = [
            (
                one["contribution"],
                f"{kind}: {one['pairs']} pairs, {signed_number(one['contribution'], 3)}",
            )
            for kind, one in row["parts"].items()
        ]
        rows.append((name, signed_number(row["mean"], 2), sizes))
    if not rows:
        return []
    title = "Figure 10: the mean difference of the capped loss, by its parts"
    kinds = [f"pairs {kind}" for kind in rows_of(parts, "matched.contrasts")[0]["parts"]]
    return [bars(title, rows, kinds).with_caption(title)]
