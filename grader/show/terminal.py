"""Reports and comparisons in the terminal. Untrusted text is shown as text, never as markup."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from grader.draw.table import in_terminal
from grader.draw.words import points, printable, signed, signed_interval
from grader.show import comparison
from grader.show.report import runs, variants
from grader.show.systems import Report, headline, measured, name_of, skill
from grader.tracks import TRACKS


def plain(text: str) -> Text:
    """``text`` from a submission: no markup, control characters made visible."""
    return Text(printable(text), overflow="fold")


def report_view(report: Report) -> RenderableType:
    """One submission: headline, census, and the tables of each track."""
    census = report["census"]
    detectable = report["skill_detectable" if measured([report]) else "detectable"]
    shows = "" if detectable is None else f"   differences show from {detectable:.1f}"
    head = Text.assemble(
        *_headlines(report),
        f"{shows}   {census['scored']} scored, {census['missing']} missing, "
        f"{census['invalid']} invalid of {census['tasks']} tasks",
    )
    title = f"{name_of(report)} · {report['release']['name']} · {report['split']}/{report['exam']}"
    parts: list[RenderableType] = [_panel(head, title)]
    for name, track in report["tracks"].items():
        tables = TRACKS[name].tables
        more = tables(report) if tables else []
        parts += map(in_terminal, [variants(name, track), *more])
    if "attempts" in report:
        parts.append(in_terminal(runs(report)))
    if census["invalid_reasons"]:
        reasons = ", ".join(f"{key} {n}" for key, n in census["invalid_reasons"].items())
        parts.append(Text(f"invalid answers: {reasons} (--csv FILE lists them)", "yellow"))
    for notice in report["notices"][:5]:
        parts.append(Text.assemble(("note: ", "yellow"), plain(notice)))
    if len(report["notices"]) > 5:
        parts.append(Text(f"… and {len(report['notices']) - 5} more notes in --json", "yellow"))
    return Group(*parts)


def _headlines(report: Report) -> list[str | tuple[str, str]]:
    """Skill on its scale, then points; points alone where the exam has no floors."""
    gained = [("points ", "bold"), (str(headline(report)), "bold green")]
    if not measured([report]):
        return [*gained]
    scale = f"   floor {points(report['floor'])}, ceiling {points(report['ceiling'])}"
    return [("skill ", "bold"), (str(skill(report)), "bold green"), "   ", *gained, scale]


def comparison_view(result: Mapping[str, Any]) -> RenderableType:
    """Headline, who answered what, and the tables of each track."""
    line, unit = comparison.headline(result)
    head = Text.assemble(
        (f"{signed(line['difference'])} {unit} " if line else "", "bold green"),
        f"{signed_interval(line['interval'])}  " if line else "",
        f"{comparison.verdict(line)}\n{comparison.answered(result)}",
    )
    names = " − ".join(result[side]["system"] for side in ("first", "second"))
    title = f"{names} · {result['release']} · {result['split']}/{result['exam']}"
    tables = [t for name, track in result["tracks"].items() for t in comparison.tables(name, track)]
    return Group(_panel(head, title), *map(in_terminal, tables))


def _panel(head: Text, title: str) -> Panel:
    return Panel(head, title=plain(title), title_align="left")


def console(*, stderr: bool = False) -> Console:
    """The console all commands print to; wide enough when the output is a file or a pipe."""
    target = Console(stderr=stderr, highlight=False)
    if not target.is_terminal:
        target = Console(stderr=stderr, highlight=False, width=140)
    return target
