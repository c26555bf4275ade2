"""One self-contained page: leaderboard, points with intervals, a per-family heat map.

No script, no external request, no font, no image: the file can be mailed, archived, or opened from
a USB stick. Every string that comes from a submission is escaped.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from grader import __version__
from grader.show import causalab, ccr, replayscm
from grader.show.svg import heat_map, interval_plot, text
from grader.show.terminal import number, points_text, pools, tokens

_STYLE = """
:root { --ink:#1c2430; --soft:#5b6675; --line:#d9dee6; --page:#f6f7f9; --card:#fff; --mark:#2458a6 }
@media (prefers-color-scheme: dark) {
  :root { --ink:#e6e9ee; --soft:#9aa5b4; --line:#343c48; --page:#14181e; --card:#1c2129;
          --mark:#78a9f5 } }
* { box-sizing:border-box }
body { margin:0; background:var(--page); color:var(--ink);
       font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif }
main { max-width:1080px; margin:0 auto; padding:32px 20px 48px }
h1 { font-size:26px; margin:0 0 4px } h2 { font-size:17px; margin:0 0 12px }
p.sub, footer, .note { color:var(--soft) } p.sub { margin:0 0 24px }
section { background:var(--card); border:1px solid var(--line); border-radius:10px;
          padding:18px 20px; margin:0 0 18px; overflow-x:auto }
table { border-collapse:collapse; width:100%; font-variant-numeric:tabular-nums }
th { color:var(--soft); font-weight:600; font-size:13px; text-align:right; padding:6px 10px;
     border-bottom:1px solid var(--line); white-space:nowrap }
td { text-align:right; padding:7px 10px; border-bottom:1px solid var(--line); white-space:nowrap }
tr:last-child td { border-bottom:0 }
th.l, td.l { text-align:left }
td.name { font-weight:600; white-space:normal; word-break:break-word }
td.points { font-weight:700 } .ci { color:var(--soft); font-weight:400 }
svg { width:100%; height:auto; max-width:940px; display:block }
svg text { font:13px system-ui,sans-serif; fill:var(--ink) }
svg .axis { fill:var(--soft); font-size:12px } svg .value { font-weight:700 }
svg .grid { stroke:var(--line) } svg .bar { stroke:var(--mark); stroke-width:5; stroke-opacity:.4;
  stroke-linecap:round } svg .dot { fill:var(--mark) }
svg .heat { fill:var(--mark) } svg .none { fill:none; stroke:var(--line) }
svg .cell.on { fill:var(--card); font-weight:600 }
footer { font-size:13px } code { font-size:.93em }
"""

TRACK_SECTIONS: Final[Mapping[str, Callable[[Sequence[dict[str, Any]]], list[tuple[str, str]]]]] = {
    "ccr": ccr.sections,
    "replayscm": replayscm.sections,
    "causalab": causalab.sections,
}
"""Track to (heading, HTML) of sections of its own."""


def page(ranked: Sequence[tuple[int, dict[str, Any]]], title: str) -> str:
    """The whole page for one or more graded submissions, best first.

    ``ranked`` holds (place, report) pairs; reports have the shape of ``schemas/report.json``.
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
            for track in first["tracks"]
            if track in TRACK_SECTIONS and not first.get("redacted")
            for section in TRACK_SECTIONS[track](reports)
        ),
        ("Two readings of the CausalDS score", _readings(ranked)),
        ("What was answered", _census(ranked)),
    ]
    body = "".join(
        f"<section><h2>{text(name)}</h2>{content}</section>"
        for name, content in sections
        if content
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{text(title)} · causal-exams</title><style>{_STYLE}</style></head><body><main>"
        f'<h1>{text(title)}</h1><p class="sub">split {text(first["split"])}, exam '
        f"{text(first['exam'])}: {tasks} tasks, {len(reports)} "
        f"{'submission' if len(reports) == 1 else 'submissions'}</p>{body}"
        f"<footer>Graded by causal-exams {text(__version__)}. Points run from 0 to 100, higher is "
        "better; losses (↓) are better when lower. The same answers always give the same page."
        "</footer></main></body></html>\n"
    )


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose cells are finished HTML; the first two columns are left-aligned."""
    head = "".join(
        f'<th class="l">{name}</th>' if k < 2 else f"<th>{name}</th>"
        for k, name in enumerate(columns)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="l{" name" if k == 1 else ""}">{cell}</td>' if k < 2 else f"<td>{cell}</td>"
            for k, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _name(report: dict[str, Any]) -> str:
    return str(report["submission"]["system"])


def _leaderboard(ranked: Sequence[tuple[int, dict[str, Any]]]) -> str:
    rows = []
    for place, report in ranked:
        shown = points_text(report["points"], report["points_interval"])
        points, _, interval = shown.partition("  ")
        reading = _reading(report, "fixed")
        rows.append(
            [
                str(place),
                text(_name(report)),
                f'<span class="points"><b>{points}</b></span> <span class="ci">{interval}</span>',
                *(number(reading.get(key)) for key in _READING_COLUMNS),
                tokens(report["usage"]),
            ]
        )
    return _table(["#", "system", "points", *_READING_COLUMNS.values(), "tokens/task"], rows)


_READING_COLUMNS = {
    "causalds_score": "CausalDSScore ↓",
    "pass_rate": "PassRate",
    "s_nr": "S<sub>NR</sub> ↓",
    "med_f1_loss": "Med. F1 loss ↓",
}


def _reading(report: dict[str, Any], name: str) -> dict[str, Any]:
    reading: dict[str, Any] = report["tracks"].get("causalds", {}).get("readings", {}).get(name, {})
    return reading


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
            reading = _reading(report, name)
            if not reading:
                continue
            rows.append(
                [
                    str(place),
                    text(_name(report)),
                    name,
                    *(number(reading[key]) for key in _READING_COLUMNS),
                    number(reading["med_nrel_err"]),
                    pools(reading),
                ]
            )
    if not rows:
        return ""
    note = (
        '<p class="note">fixed: pools follow the truth, so nothing omitted can improve a score. '
        "paper: the published routing, in which abstentions change pools and missing numbers "
        "leave the exam.</p>"
    )
    columns = ["#", "system", "reading", *_READING_COLUMNS.values(), "Med. NRelErr ↓", "pools"]
    return note + _table(columns, rows)


def _census(ranked: Sequence[tuple[int, dict[str, Any]]]) -> str:
    rows = []
    for place, report in ranked:
        census = report["census"]
        reasons = ", ".join(f"{name} {n}" for name, n in census["invalid_reasons"].items())
        rows.append(
            [
                str(place),
                text(_name(report)),
                str(census["scored"]),
                str(census["missing"]),
                str(census["invalid"]),
                text(reasons) or "–",
            ]
        )
    return _table(["#", "system", "scored", "missing", "invalid", "why invalid"], rows)
