"""Reports as terminal tables (rich). Untrusted text is shown as text, never as markup."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from grader.show.words import interval_text, number, plain, points_text, pools, tokens
from grader.tracks import TRACKS

__all__ = ["console", "number", "plain", "points_text", "pools", "report_view", "tokens"]


def report_view(report: dict[str, Any]) -> RenderableType:
    """One submission: headline, census, readings and families."""
    census = report["census"]
    head = Text.assemble(
        ("points ", "bold"),
        (points_text(report["points"], report["points_interval"]), "bold green"),
        _shows_from(report["detectable"]),
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
        record = TRACKS[name]
        if record.tables is not None and (record.shows_redacted or not report.get("redacted")):
            parts += record.tables(track)
    if "attempts" in report:
        parts.append(_runs(report["attempts"]))
    if census["invalid_reasons"]:
        reasons = ", ".join(f"{key} {n}" for key, n in census["invalid_reasons"].items())
        parts.append(Text(f"invalid answers: {reasons} (--csv FILE lists them)", "yellow"))
    for notice in report["notices"][:5]:
        parts.append(Text.assemble(("note: ", "yellow"), plain(notice)))
    if len(report["notices"]) > 5:
        parts.append(Text(f"… and {len(report['notices']) - 5} more notes in --json", "yellow"))
    return Group(*parts)


def _shows_from(detectable: float | None) -> str:
    return "" if detectable is None else f"   differences show from {detectable:.1f}"


def _families(name: str, track: dict[str, Any]) -> Table:
    headline = points_text(track["points"], track["points_interval"])
    table = Table(
        title=plain(f"{name}: {headline} points"), title_justify="left", title_style="bold"
    )
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
            number(row.get("pass_rate")),
            number(row.get("med_nrel_err")),
            number(row.get("med_f1_loss")),
        )
    return table


def _runs(attempts: Mapping[str, Any]) -> Table:
    """Each attempt as a complete exam, with mean and spread."""
    table = Table(title="attempts as complete exams", title_justify="left", title_style="bold")
    table.add_column("figure")
    for run in attempts["runs"]:
        table.add_column(plain(run["attempt"]), justify="right")
    for column in ("mean", "SD"):
        table.add_column(column, justify="right")
    for figure, digits, label in (("points", 1, "points"), ("causalds_score", 3, "CausalDSScore")):
        for name, spread in attempts[figure].items():
            values = [run[figure].get(name) for run in attempts["runs"]]
            ends = [None, None] if spread is None else [spread["mean"], spread["sd"]]
            if any(value is not None for value in values):
                cells = [number(value, digits) for value in [*values, *ends]]
                table.add_row(plain(f"{label}, {name}"), *cells)
    return table


def _readings(readings: dict[str, Any]) -> Table:
    table = Table(title="CausalDS readings", title_justify="left", title_style="bold")
    table.add_column("reading")
    for column in (
        "CausalDSScore ↓", "95% interval", "PassRate ↑", "S_NR ↓", "Med NRelErr ↓", "Med F1-loss ↓",
        "n pass/numeric/F1",
    ):  # fmt: skip
        table.add_column(column, justify="right")
    for name, row in readings.items():
        table.add_row(
            name,
            number(row["causalds_score"], 4),
            interval_text(row["causalds_score_interval"]),
            number(row.get("pass_rate")),
            number(row["s_nr"]),
            number(row.get("med_nrel_err")),
            number(row.get("med_f1_loss")),
            pools(row),
        )
    return table


def console(*, stderr: bool = False) -> Console:
    """The console all commands print to; wide enough when the output is a file or a pipe."""
    target = Console(stderr=stderr, highlight=False)
    if not target.is_terminal:
        target = Console(stderr=stderr, highlight=False, width=140)
    return target
