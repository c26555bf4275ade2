"""Reports as terminal tables (rich). Untrusted text is shown as text, never as markup."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from grader.show import causalab, replayscm


def plain(text: str) -> Text:
    """``text`` from a submission: no markup, control characters made visible."""
    return Text(
        "".join(character if character.isprintable() else "\ufffd" for character in text),
        overflow="fold",
    )


def number(value: float | None, digits: int = 3) -> str:
    """A number for a table; a dash where there is none."""
    if value is None:
        return "–"
    return f"{value:.{digits}f}" if abs(value) < 1e6 else f"{value:.2e}"


def points_text(points: float | None, interval: Sequence[float] | None) -> str:
    """Points with their 95% interval."""
    if points is None:
        return "–"
    if interval is None:
        return f"{points:.1f}"
    return f"{points:.1f}  [{interval[0]:.1f}, {interval[1]:.1f}]"


def pools(reading: dict[str, Any]) -> str:
    """Sizes of the pools, pass/numeric/F1; a dash where a redacted report leaves them out."""
    if reading["n_pass"] is None:
        return "–"
    return f"{reading['n_pass']}/{reading['n_nrel']}/{reading['n_f1']}"


def tokens(usage: dict[str, Any]) -> str:
    """Mean tokens per task, in and out, as ``12.9k``; a dash where nothing was reported."""
    if usage["input_tokens"] is None and usage["output_tokens"] is None:
        return "–"
    total = (usage["input_tokens"] or 0) + (usage["output_tokens"] or 0)
    return f"{total / 1000:.1f}k"


def report_view(report: dict[str, Any]) -> RenderableType:
    """One submission: headline, census, readings and families."""
    census = report["census"]
    head = Text.assemble(
        ("points ", "bold"),
        (points_text(report["points"], report["points_interval"]), "bold green"),
        f"   {census['scored']} scored, {census['missing']} missing, "
        f"{census['invalid']} invalid of {census['tasks']} tasks",
    )
    title = plain(
        f"{report['submission']['system']} · {report['release']['name']} · "
        f"{report['split']}/{report['exam']}"
    )
    parts: list[RenderableType] = [Panel(head, title=title, title_align="left")]
    for name, track in report["tracks"].items():
        parts.append(_families(name, track))
        if track["readings"]:
            parts.append(_readings(track["readings"]))
        if name in TRACK_TABLES and not report.get("redacted"):
            parts.append(TRACK_TABLES[name](track))
    if census["invalid_reasons"]:
        reasons = ", ".join(f"{key} {n}" for key, n in census["invalid_reasons"].items())
        parts.append(Text(f"invalid answers: {reasons} (--csv FILE lists them)", "yellow"))
    for notice in report["notices"][:5]:
        parts.append(Text.assemble(("note: ", "yellow"), plain(notice)))
    if len(report["notices"]) > 5:
        parts.append(Text(f"… and {len(report['notices']) - 5} more notes in --json", "yellow"))
    return Group(*parts)


def _families(name: str, track: dict[str, Any]) -> Table:
    headline = points_text(track["points"], track["points_interval"])
    table = Table(title=f"{name}: {headline} points", title_justify="left", title_style="bold")
    table.add_column("variant")
    for column in ("tasks", "missing", "invalid", "points", "pass rate", "NRel err", "F1 loss"):
        table.add_column(column, justify="right")
    for level, row in track["slices"]["variant"].items():
        table.add_row(
            level,
            str(row["tasks"]),
            str(row["missing"]),
            str(row["invalid"]),
            number(row["points"], 1),
            number(row["pass_rate"]),
            number(row["med_nrel_err"]),
            number(row["med_f1_loss"]),
        )
    return table


def _taxonomy(track: Mapping[str, Any]) -> Table:
    """Shares of the four classes of compositional reasoners, and what is complete."""
    metrics = track["metrics"]
    table = Table(title="compositional reasoning", title_justify="left", title_style="bold")
    table.add_column("level")
    for column in ("n", "VC", "VI", "IC", "II", "complete", "pairs valid", "violations"):
        table.add_column(column, justify="right")
    for level in ("compositions", "contexts"):
        only = level == "contexts"
        table.add_row(
            level,
            str(metrics[level]),
            *(number(metrics[f"{level}_{name}"]) for name in ("vc", "vi", "ic", "ii")),
            number(metrics["complete_share"]) if only else "",
            number(metrics["pairs_valid"]) if only else "",
            number(metrics["monotonicity_violations"]) if only else "",
        )
    return table


TRACK_TABLES: Final[Mapping[str, Callable[[Mapping[str, Any]], RenderableType]]] = {
    "ccr": _taxonomy,
    "replayscm": replayscm.pools_table,
    "causalab": causalab.suites_table,
}
"""Track to a table of its own, below its variants."""


def _readings(readings: dict[str, Any]) -> Table:
    table = Table(title="CausalDS readings", title_justify="left", title_style="bold")
    table.add_column("reading")
    for column in (
        "CausalDSScore ↓", "PassRate ↑", "S_NR ↓", "Med NRelErr ↓", "Med F1-loss ↓",
        "n pass/numeric/F1",
    ):  # fmt: skip
        table.add_column(column, justify="right")
    for name, row in readings.items():
        table.add_row(
            name,
            number(row["causalds_score"], 4),
            number(row["pass_rate"]),
            number(row["s_nr"]),
            number(row["med_nrel_err"]),
            number(row["med_f1_loss"]),
            pools(row),
        )
    return table


def leaderboard_view(ranked: Sequence[tuple[int, dict[str, Any]]], title: str) -> Table:
    """Several submissions, best first."""
    table = Table(title=plain(title), title_justify="left", title_style="bold")
    table.add_column("#", justify="right")
    table.add_column("system", overflow="fold")
    table.add_column("points [95% interval]", justify="right")
    columns = (
        "CausalDSScore ↓",
        "PassRate",
        "S_NR ↓",
        "F1 loss ↓",
        "tok/task",
        "scored",
        "invalid",
    )
    for column in columns:
        table.add_column(column, justify="right")
    for rank, report in ranked:
        reading = report["tracks"].get("causalds", {}).get("readings", {}).get("fixed", {})
        census = report["census"]
        table.add_row(
            str(rank),
            plain(report["submission"]["system"]),
            points_text(report["points"], report["points_interval"]),
            number(reading.get("causalds_score")),
            number(reading.get("pass_rate")),
            number(reading.get("s_nr")),
            number(reading.get("med_f1_loss")),
            tokens(report["usage"]),
            f"{census['scored']}/{census['tasks']}",
            str(census["invalid"]),
        )
    return table


def console(*, stderr: bool = False) -> Console:
    """The console all commands print to; wide enough when the output is a file or a pipe."""
    target = Console(stderr=stderr, highlight=False)
    if not target.is_terminal:
        target = Console(stderr=stderr, highlight=False, width=140)
    return target
