"""One self-contained page: leaderboard, points with intervals, a per-family heat map.

No script, no external request, no font, no image: the file can be mailed, archived, or opened from
a USB stick. Every string that comes from a submission is escaped.
"""

from collections.abc import Sequence
from typing import Any

from grader import __version__
from grader.draw.svg import heat_map, interval_plot, text
from grader.show.columns import columns, reading
from grader.show.page import headed, whole
from grader.show.table import name_cell, table
from grader.show.words import interval_text, number, points_text, pools
from grader.tracks import TRACKS

_STYLE = """
.name { display:inline-block; min-width:120px; max-width:200px; font-weight:600; white-space:normal;
        overflow-wrap:anywhere } .ci { color:var(--soft); font-weight:400 }
svg { max-width:940px }
svg .value { font-weight:700 } svg .bar { stroke:var(--mark); stroke-width:5; stroke-opacity:.4;
  stroke-linecap:round } svg .dot { fill:var(--mark) }
svg .heat { fill:var(--mark) } svg .none { fill:none; stroke:var(--line) }
svg .cell.on { fill:var(--card); font-weight:600 }
.long { display:inline-block; min-width:260px; max-width:420px; white-space:normal;
        overflow-wrap:anywhere }
summary { cursor:pointer; padding:4px 0 }
@media (max-width:640px) { main { padding:18px 10px 32px } section { padding:14px 12px } }
footer { font-size:13px } code { font-size:.93em }
"""

Section = tuple[str, str]


def page(
    ranked: Sequence[tuple[int, dict[str, Any]]], title: str, more: Sequence[Section] = ()
) -> str:
    """The whole page for one or more graded submissions, best first.

    ``ranked`` holds (place, report) pairs; reports have the shape of ``schemas/report.json``.
    ``more`` are further sections, (heading, HTML).
    """
    reports = [report for _, report in ranked]
    first = reports[0]
    tasks = first["census"]["tasks"]
    sections = [
        ("Leaderboard", _leaderboard(ranked)),
        ("Points, with 95% intervals clustered by instance", _intervals(reports)),
        *((f"{track}: points per family", _families(reports, track)) for track in first["tracks"]),
        *(
            section
            for record in map(TRACKS.__getitem__, first["tracks"])
            if record.sections and (record.shows_redacted or not first.get("redacted"))
            for section in record.sections(reports)
        ),
        ("Two readings of the CausalDS score", _readings(ranked)),
        ("What was answered", _census(ranked)),
        *more,
    ]
    return document(
        title,
        f"split {text(first['split'])}, exam {text(first['exam'])}: {tasks} tasks, {len(reports)} "
        f"{'submission' if len(reports) == 1 else 'submissions'}",
        sections,
    )


def document(title: str, subtitle: str, sections: Sequence[Section]) -> str:
    """A self-contained page; ``subtitle`` and the sections are finished HTML."""
    return whole(
        f"{title} · causal-exams",
        _STYLE,
        f'<h1>{text(title)}</h1><p class="sub">{subtitle}</p>{headed(list(sections))}'
        f"<footer>Graded by causal-exams {text(__version__)}. Points run from 0 to 100, higher is "
        "better; losses (↓) are better when lower. The same answers always give the same page."
        "</footer>",
    )


def _name(report: dict[str, Any]) -> str:
    return str(report["submission"]["system"])


def _leaderboard(ranked: Sequence[tuple[int, dict[str, Any]]]) -> str:
    middle = columns([report for _, report in ranked])
    rows = []
    for position, (place, report) in enumerate(ranked):
        shown = points_text(report["points"], report["points_interval"])
        points, _, interval = shown.partition("  ")
        rows.append(
            [
                str(place),
                name_cell(_name(report)),
                f'<span class="points"><b>{points}</b></span> <span class="ci">{interval}</span>',
                number(report["detectable"], 1),
                *(text(cell(position, report)) for _, cell in middle),
            ]
        )
    head = ["#", "system", "points", "shows from", *(text(heading) for heading, _ in middle)]
    note = (
        '<p class="note">shows from: how many points a second, independent system must be away for '
        "this exam to tell them apart (80% power at 5%). <code>compare</code> pairs two systems "
        "task by task and sees smaller differences.</p>"
    )
    return table(head, rows) + note


_READING_COLUMNS = {
    "causalds_score": "CausalDSScore ↓",
    "pass_rate": "PassRate",
    "s_nr": "S<sub>NR</sub> ↓",
    "med_f1_loss": "Med. F1 loss ↓",
}


def _intervals(reports: Sequence[dict[str, Any]]) -> str:
    return interval_plot([(_name(r), r["points"], r["points_interval"]) for r in reports])


def _families(reports: Sequence[dict[str, Any]], track: str) -> str:
    families = list(reports[0]["tracks"][track]["slices"]["family"])
    cells = [
        [
            report["tracks"][track]["slices"]["family"].get(family, {}).get("points")
            for family in families
        ]
        for report in reports
    ]
    return heat_map([_name(report) for report in reports], families, cells)


def _readings(ranked: Sequence[tuple[int, dict[str, Any]]]) -> str:
    rows = []
    for place, report in ranked:
        for name in ("fixed", "paper"):
            row = reading(report, name)
            if not row or not report["tracks"]["causalds"]["attempted"]:
                continue
            rows.append(
                [
                    str(place),
                    name_cell(_name(report)),
                    name,
                    number(row["causalds_score"]),
                    interval_text(row["causalds_score_interval"]),
                    *(number(row[key]) for key in list(_READING_COLUMNS)[1:]),
                    number(row["med_nrel_err"]),
                    pools(row),
                ]
            )
    if not rows:
        return ""
    note = (
        '<p class="note">fixed: pools follow the truth, so nothing omitted can improve a score. '
        "paper: the published routing, in which abstentions change pools and missing numbers "
        "leave the exam.</p>"
    )
    score, *components = _READING_COLUMNS.values()
    head = ["#", "system", "reading", score, "95% interval", *components, "Med. NRelErr ↓", "pools"]
    return note + table(head, rows, left=3)


def _census(ranked: Sequence[tuple[int, dict[str, Any]]]) -> str:
    rows = []
    for place, report in ranked:
        census = report["census"]
        reasons = ", ".join(f"{name} {n}" for name, n in census["invalid_reasons"].items())
        rows.append(
            [
                str(place),
                name_cell(_name(report)),
                str(census["scored"]),
                str(census["missing"]),
                str(census["invalid"]),
                text(reasons) or "–",
            ]
        )
    return table(["#", "system", "scored", "missing", "invalid", "why invalid"], rows)
