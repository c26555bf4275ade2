"""causalds in the terminal: coverage, attempts, matched ablations, cost."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from grader.show.words import count_text, interval_text, number, percent

Rows = Mapping[str, Any]


def tables(track: Rows) -> list[RenderableType]:
    """What there is to show of one submission beyond its variants and readings."""
    found: list[RenderableType] = []
    if track.get("calibration"):
        found.append(_calibration(track["calibration"]))
    if track.get("attempts"):
        found.append(_attempts(track["attempts"]))
    if track.get("matched"):
        found += _matched(track["matched"])
    if track["usage"]["tasks"]:
        found.append(_usage(track["usage"]))
    return found


def _table(title: str, first: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _calibration(rows: Sequence[Rows]) -> Table:
    columns = ("valid", "promised", "covered", "95% interval", "median width / scale")
    table = _table("Intervals: how often they hold the truth", "variant", columns)
    for row in rows:
        valid = "–" if row["valid"] is None else f"{row['valid']}/{row['tasks']}"
        table.add_row(
            row["variant"],
            valid,
            percent(row["nominal"]),
            percent(row["coverage"]),
            interval_text(row["coverage_interval"]),
            number(row.get("median_normalised_width")),
        )
    return table


def _attempts(attempts: Rows) -> Table:
    count = attempts["attempts"]
    columns = [f"k = {k}" for k in range(1, count + 1)]
    table = _table(f"{count} attempts, pools by the truth", "figure", columns)
    binary = attempts["binary"]
    if binary is not None:
        tasks = "" if binary["tasks"] is None else f" ({binary['tasks']} tasks)"
        for label, key in (
            (f"pass@k{tasks}", "pass_at"),
            ("pass^k", "pass_all"),
            ("passed in the first k", "pass_at_first"),
        ):
            table.add_row(label, *map(percent, binary[key]))
    for name, pool in attempts["pools"].items():
        for side in ("best", "worst"):
            table.add_row(f"{side}-of-k loss, {name}", *(_candidates(row) for row in pool[side]))
    return table


def _candidates(row: Rows) -> str:
    valid = "" if row["valid"] is None else f" ({row['valid']})"
    return number(row["median"]) + valid


def _matched(found: Rows) -> list[RenderableType]:
    parts: list[RenderableType] = []
    if found["contrasts"]:
        columns = ("pairs", "mean", "SD", "95% interval", "worse", "both answered")
        table = _table("Matched views: capped loss, paired", "contrast", columns)
        for row in found["contrasts"]:
            survivors = f"{number(row['survivor_mean'])} ({row['survivor_pairs']})"
            table.add_row(
                f"{row['arm']} − {row['reference']}",
                str(row["pairs"]),
                f"{row['mean']:+.3f}",
                number(row["sd"]),
                interval_text(row["interval"]),
                f"{row['worse']}/{row['pairs']}",
                survivors,
            )
        parts.append(table)
    arms = ("tasks", "committed", "false abstentions", "mean loss", "median of answered")
    table = _table("Matched tasks by arm", "arm", arms)
    for row in found["arms"]:
        table.add_row(
            row["arm"],
            str(row["tasks"]),
            str(row["committed"]),
            str(row["false_abstentions"]),
            number(row["mean_loss"]),
            number(row["median_survivor_loss"]),
        )
    parts.append(table)
    if found["ranges"]:
        row = found["ranges"]
        columns = ("moved", "moved far", "mean range", "95% interval", "largest", "mean SD")
        table = _table("Matched tellings: range of the capped loss", "bundles", columns)
        table.add_row(
            str(row["bundles"]),
            str(row["nontrivial"]),
            str(row["large"]),
            number(row["mean"]),
            interval_text(row["interval"]),
            number(row["max"]),
            number(row["mean_sd"]),
        )
        parts.append(table)
    return parts


def _usage(usage: Rows) -> Table:
    columns = ("tokens", "tokens/task", "calls/task", "seconds/task", "cost", "tokens/(1−score)")
    table = _table("Cost", "tasks reported", columns)
    cost = usage["total_cost_usd"]
    table.add_row(
        str(usage["tasks"]),
        count_text(usage["total_tokens"]),
        count_text(usage["tokens_per_task"]),
        number(usage["calls_per_task"], 1),
        number(usage["seconds_per_task"], 1),
        "–" if cost is None else f"${cost:.2f}",
        count_text(usage["tokens_per_quality"].get("fixed")),
    )
    return table
