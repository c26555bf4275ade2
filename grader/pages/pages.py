"""The pages of the grader: one graded submission, a board of several, a comparison of two."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from grader.io.jsonio import canonical
from grader.pages import comparison
from grader.pages import page as draw
from grader.pages.charts import Cloud, Dot, DotRow, Shade, cells, clouds, dot_rows
from grader.pages.leaderboard import PART, Ranked, apart, boards, tokens_per_task
from grader.pages.page import Block, Card, Fold, Inside, Paragraph, Section, Strong, Tile, filled
from grader.pages.report import census, dearest, leads, runs, tasks, variants
from grader.pages.svg import Axis, Svg
from grader.pages.systems import (
    SYSTEM,
    Report,
    families_of,
    measured,
    name_of,
    reading_of,
    skipped,
)
from grader.pages.table import Table
from grader.pages.words import (
    clipped,
    count,
    count_text,
    interval_text,
    points,
    signed,
    signed_interval,
)
from grader.scoring.model import Score, Truth
from grader.tracks import TRACKS
from grader.version import __version__

_FOOTER: Final = (
    f"Graded by causal-exams {__version__}. Points run from 0 to 100, higher is better; losses (↓) "
    "are better when lower. The same answers always give the same page."
)
_SCALE: Final = (
    "0 is what the best answers earn that look at neither story nor data, 100 is gold; below "
    "0 is worse than knowing nothing. Beside points, ticks mark both ends of the scale."
)
_TIES: Final = (
    "A group holds the systems whose intervals reach that of its first: the exam does not tell "
    "them from it, and their order inside says nothing. Shows from: how far a second, independent "
    "system must be away for this exam to tell them apart (80% power at 5%). compare pairs two "
    "systems task by task and sees smaller differences."
)

LOWEST: Final = -100.0
"""What is worse is drawn here."""
_DRAWN: Final = 24
"""Systems in pictures; tables have all of them."""
_SETTINGS: Final = 300
FEW: Final = 10
"""Tasks below which a figure of a family says little."""
_BESIDE: Final = 6
"""Systems beside each other in a picture of families."""


def report_page(
    report: Report,
    scores: Sequence[Score] = (),
    truths: Mapping[str, Truth] | None = None,
    more: Sequence[Section] = (),
    ahead: str = "",
) -> str:
    """The page of one submission.

    ``scores`` are its tasks where each may be seen, ``truths`` what is to be revealed of them,
    ``ahead`` is the way back.
    """
    listed = tasks(scores, truths or {})
    sections = [
        Section("Summary", [_card(report)]),
        Section("What went wrong", _dearest(scores)),
        *(track_section(name, [report]) for name in report["tracks"]),
        Section("Attempts as complete exams", [runs(report)] if "attempts" in report else []),
        Section("What was answered", [*_of_one([census([(1, report)])]), *_endings(report)]),
        Section(f"Every task ({len(scores):,})", filled(listed), folded=True),
        *more,
    ]
    release = report["release"]["name"]
    subtitle = f"{release}, split {report['split']}, exam {report['exam']}"
    return draw.page(name_of(report), subtitle, sections, _FOOTER, contents=True, ahead=ahead)


def board_page(ranked: Ranked, title: str, more: Sequence[Section] = (), ahead: str = "") -> str:
    """The page of several submissions, best first; ``ahead`` is the way back."""
    reports = [report for _, report in ranked]
    first = reports[0]
    whole, part = apart(ranked)
    sections = [
        Section("Leaderboard", _board(whole)),
        Section(PART, _board(part)),
        *_headline([report for _, report in whole]),
        Section("Cost against skill", _cost([report for _, report in whole])),
        *(track_section(name, reports) for name in first["tracks"]),
        Section("Attempts as complete exams", [
            Fold(name_of(report), [runs(report)]) for report in reports if "attempts" in report
        ]),
        Section("What was answered", [census(ranked)]),
    ]  # fmt: skip
    told = "1 submission" if len(reports) == 1 else f"{len(reports)} submissions"
    where = f"split {first['split']}, exam {first['exam']}"
    subtitle = f"{where}: {first['census']['tasks']} tasks, {told}"
    return draw.page(title, subtitle, [*sections, *more], _FOOTER, contents=True, ahead=ahead)


def track_section(name: str, reports: Sequence[Report]) -> Section:
    """All that there is to show of a track, folded; on the outside its headline."""
    own, shown = TRACKS[name].sections, _of_one if len(reports) == 1 else list
    found: list[Section] = list(own(reports)) if own else []
    inside = [
        Section("points per family", _families(reports, name)),
        *(Section(one.title.removeprefix(f"{name}: "), shown(one.blocks)) for one in found),
    ]
    aside = ""
    if len(reports) == 1:
        part = reports[0]["tracks"][name]
        inside.append(Section("by variant", [variants(name, part, reading_of(reports))]))
        aside = f"{points(part['points'])} points"
        if part["skill"] is not None:
            aside = f"skill {_with_interval(part, 'skill')}, {aside}"
    return Section(name, inside, aside, folded=True)


def _of_one(blocks: Sequence[Inside]) -> list[Inside]:
    """Without the column of the system, where there is but one."""
    return [_without_system(block) for block in blocks]


def _without_system(block: Inside) -> Inside:
    match block:
        case Table() if len(block.head) > 1:
            return block.without(SYSTEM.heading)
        case Fold():
            return Fold(block.summary, _of_one(block.blocks), block.opened)
    return block


def release_hash(report: Report) -> str:
    """One digest of the hashes of what was graded: equal exams have equal ones."""
    hashes = canonical(report["release"]["content_sha256"])
    return hashlib.sha256(hashes.encode("utf-8")).hexdigest()


def _card(report: Report) -> Card:
    """Who, on what, how good, at what cost."""
    tiles = [
        Tile(lead.label, lead.value, f"95% interval {lead.interval or '–'}; {lead.aside} reading")
        for lead in leads(report)
    ]
    if report["skill"] is not None:
        aside = f"{_interval(report, 'skill')}; 0 knows nothing, 100 is gold"
        tiles.append(Tile("skill", points(report["skill"]), aside))
    scale = ""
    if report["floor"] is not None:
        scale = f"; floor {points(report['floor'])}"
    tiles.append(Tile("points", points(report["points"]), f"{_interval(report, 'points')}{scale}"))
    large = len(tiles)
    counts = report["census"]
    told = f"{counts['missing']} missing, {counts['invalid']} invalid"
    answered = f"{counts['scored']} of {counts['tasks']} tasks"
    tiles += [
        Tile("system", name_of(report), _settings(report)),
        Tile("answered", answered, told),
        Tile("cost", *_costs(report["usage"])),
        Tile("release", report["release"]["name"], f"exam hash {release_hash(report)[:16]}"),
    ]
    if ranked := families_of(report):
        tiles += [
            Tile("weakest family", ranked[0].name.replace("_", " "), points(ranked[0].value)),
            Tile("strongest family", ranked[-1].name.replace("_", " "), points(ranked[-1].value)),
        ]
    return Card(tiles, large)


def _interval(figures: Mapping[str, Any], counts: str) -> str:
    return f"95% interval {interval_text(figures[f'{counts}_interval'], 1)}"


def _with_interval(figures: Mapping[str, Any], counts: str) -> str:
    return f"{points(figures[counts])} {interval_text(figures[f'{counts}_interval'], 1)}"


def _settings(report: Report) -> str:
    """What the submission says of how it was made; a stranger's words."""
    run = report["submission"]["run"]
    told = run.get("settings")
    settings = dict(told) if isinstance(told, dict) else {"settings": told}
    parts = [f"{key} {_said(value)}" for key, value in settings.items() if _chosen(value)]
    if isinstance(date := run.get("date"), str):
        parts.insert(0, date)
    return clipped(", ".join(parts), _SETTINGS)


def _chosen(value: object) -> bool:
    return not (value is None or value is False or value in ("", [], {}))


def _said(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _costs(usage: Mapping[str, Any]) -> tuple[str, str]:
    """Tokens a task; money, calls and time beside them."""
    if not usage["tasks"]:
        return "–", "no usage.jsonl"
    tokens = tokens_per_task(usage)
    units = (("tool_calls", "calls"), ("seconds", "s"))
    told = [f"{count(usage[key])} {unit}" for key, unit in units if usage[key] is not None]
    if usage["cost_usd"] is not None:
        told.insert(0, f"${usage['cost_usd']:,.4f}")
    head = "tokens not told" if tokens is None else f"{count_text(tokens)} tokens a task"
    return head, ", ".join([*told, f"over {usage['tasks']} tasks"])


def _dearest(scores: Sequence[Score]) -> list[Block]:
    note = (
        "The tasks that cost the headline most, of equals those with the larger loss. Cost is what "
        "the headline in points would gain."
    )
    table = dearest(scores)
    return [Paragraph(note, note=True), table] if table.rows else []


def _endings(report: Report) -> list[Block]:
    """How the conversations ended, where the run tells."""
    endings = report.get("endings") or {}
    told = ", ".join(f"{name} {number}" for name, number in endings.items())
    return [Paragraph(f"Endings: {told}.")] if told else []


def _board(ranked: Ranked) -> list[Block]:
    # How much was answered has a table of its own.
    tables = [table.without("scored", "invalid") for table in boards(ranked, "")]
    placed = any("#" in table.head for table in tables)
    return [*tables, *([Paragraph(_TIES, note=True)] if placed else [])]


def _headline(reports: Sequence[Report]) -> list[Section]:
    """Skill where the exam has floors, and points with the floor drawn beside each."""
    if not reports:
        return []
    drawn = reports[:_DRAWN]
    scaled = measured(reports)
    pictures: list[Block] = [_intervals(drawn, "skill")] if scaled else []
    pictures.append(_intervals(drawn, "points"))
    title = "Skill and points" if scaled else "Points"
    note = [Paragraph(_SCALE, note=True)] if scaled else []
    return [Section(f"{title}, with 95% intervals clustered by instance", [*pictures, *note])]


def _intervals(reports: Sequence[Report], counts: str) -> Svg:
    """One row a system; a value below the axis is drawn at its end."""
    lows = [report[counts] for report in reports if report[counts] is not None]
    lows += [report[f"{counts}_interval"][0] for report in reports if report[f"{counts}_interval"]]
    start = max(LOWEST, 20.0 * math.floor(min([0.0, *lows]) / 20))
    rows = []
    for report in reports:
        value, interval = report[counts], report[f"{counts}_interval"]
        drawn = interval and [max(start, end) for end in interval]
        dots = [] if value is None else [Dot(0, max(start, value), drawn)]
        floor, ticks = report["floor"], []
        if counts == "points" and floor is not None:
            ticks = [(floor, f"floor {points(floor)}")]
        end = f"no overall {counts}" if value is None else points(value)
        rows.append(DotRow(name_of(report), dots, ticks, end))
    return dot_rows(f"{counts.capitalize()} of each system", rows, whole=100, start=start)


def _cost(reports: Sequence[Report]) -> list[Block]:
    """What a task took, in money where all tell it, else in tokens, against what it earned."""
    counts = "skill" if measured(reports) else "points"
    priced = [report for report in reports if report[counts] is not None]
    for key, unit in (("cost_usd", "US$ per task"), ("", "tokens per task")):
        found = [
            (name_of(report), spent, report[counts])
            for report in priced
            if (spent := report["usage"][key] if key else tokens_per_task(report["usage"]))
        ][:_DRAWN]
        if found and (not key or len(found) == len(priced)):
            drawn = [
                Cloud(
                    name, [((spent, value), f"{name}: {spent:,.3g} {unit}, {counts} {value:.3f}")]
                )
                for name, spent, value in found
            ]
            across = Axis.powers(unit, [spent for _, spent, _ in found])
            upwards = Axis.round(counts, [value for *_, value in found])
            front = _unsurpassed([(spent, value) for _, spent, value in found])
            note = "The line joins the systems that none surpasses in both."
            picture = clouds("cost against skill", drawn, across, upwards, joined=front)
            return [picture, Paragraph(note, note=True)]
    return []


def _unsurpassed(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Those of which no other costs less and earns as much, the cheapest first."""
    found: list[tuple[float, float]] = []
    for cost, value in sorted(points, key=lambda point: (point[0], -point[1])):
        if not found or value > found[-1][1]:
            found.append((cost, value))
    return found


def _families(reports: Sequence[Report], track: str) -> list[Block]:
    """Points of each family and system; of many systems, several pictures."""
    shown = reports[:_DRAWN]
    sizes = {
        name: row["tasks"] for name, row in shown[0]["tracks"][track]["slices"]["family"].items()
    }
    pictures: list[Block] = []
    for at in range(0, len(shown), _BESIDE):
        some = shown[at : at + _BESIDE]
        rows = [
            (name.replace("_", " "), str(size), [_shade(r, track, name, size) for r in some])
            for name, size in sizes.items()
        ]
        names = [name_of(report) for report in some] if len(shown) > 1 else ["points"]
        pictures.append(cells(f"{track}: points per family and system", names, rows, "n"))
    note = f"n: tasks. Dashed: fewer than {FEW}, so that the figure says little."
    few = any(size < FEW for size in sizes.values())
    return [*pictures, *([Paragraph(note, note=True)] if few else [])]


def _shade(report: Report, track: str, family: str, size: int) -> Shade | None:
    """What a system earned in a family; whoever left a whole track alone did not earn nothing."""
    found = report["tracks"][track]["slices"]["family"].get(family, {}).get("points")
    if skipped(report, track) or found is None:
        return None
    return Shade(found / 100, f"{found:.0f}", size < FEW)


def comparison_page(result: Mapping[str, Any]) -> str:
    """The page of a comparison."""
    line, unit = comparison.headline(result)
    difference = span = ""
    if line:
        difference = f"{signed(line['difference'])} {unit}"
        span = f"{signed_interval(line['interval'])}: "
    head: list[Block] = [
        Paragraph([Strong(side), f" {result[side]['system']}"]) for side in ("first", "second")
    ]
    head.append(Paragraph([Strong(difference), f" {span}{comparison.verdict(line)}."]))
    told = f"{comparison.answered(result)}. What was left out counts zero."
    head.append(Paragraph(told[0].upper() + told[1:], note=True))
    note = (
        "Intervals resample instances. Shows from: the difference that this exam would show with "
        "80% power at the 5% level."
    )
    sections = [
        Section("First minus second", head),
        *(
            Section(name, comparison.tables(name, track, reading_of([result])))
            for name, track in result["tracks"].items()
        ),
        Section("How to read this", [Paragraph(note, note=True)]),
    ]
    subtitle = f"split {result['split']}, exam {result['exam']}"
    return draw.page(str(result["release"]), subtitle, sections, _FOOTER)
