"""One graded submission: its tables, and its first screen in the terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from grader.pages.specification import Specification
from grader.pages.systems import (
    Report,
    counted_by,
    families_of,
    headline,
    is_skipped,
    name_of,
    reading_of,
    readings_from,
)
from grader.pages.table import Table, find
from grader.pages.terminal import in_terminal, lines, plain
from grader.pages.words import clip_text, count, interval_text, number, points, printable
from grader.reports.table import truth_json
from grader.scoring.model import Score, Truth
from grader.scoring.route import READINGS
from grader.scoring.track import Tracks

SHOWN: Final = 10
LISTED: Final = 2_000
"""Tasks on a page; beyond them ``--csv`` and ``--parquet`` have every row."""
_NOTHING: Final = 1e-9
_DATE: Final = 40
_NOTICES: Final = 5
_TRACKS: Final = 6
_EXTREMES: Final = 3
"""Families on either side."""
_TOLD: Final = 4
"""Reasons and endings that are counted in words."""

SPECIFICATION: Final = Specification.read(Path(__file__).with_name("page.toml"), {}, {
    "record": lambda record: "–" if record is None else "{wins}/{ties}/{losses}".format(**record),
    "p_value": lambda value: "<0.0001" if value is not None and value < 0.0001
    else number(value, 4),
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cost:
    """A task, and how many points of the headline (0 to 100) it cost."""

    score: Score
    points: float


def costliest(scores: Sequence[Score], limit: int = SHOWN) -> list[Cost]:
    """The tasks that cost most, the dearest first; of equals those with the larger loss.

    A headline is the mean over tracks of the mean over tasks, so that a task of a short track
    weighs more. Tracks of which nothing was answered are left out, as there is nothing to look at.
    """
    tried = {score.track for score in scores if score.status != "missing"}
    scores = [score for score in scores if score.track in tried]
    sizes = Counter(score.track for score in scores)
    lost = [
        Cost(score, 100 * (1 - score.points) / sizes[score.track] / len(sizes)) for score in scores
    ]
    dear = [cost for cost in lost if cost.points > _NOTHING]
    dear.sort(key=lambda cost: (-cost.points, -cost.score.loss, cost.score.task_id))
    return dear[:limit]


def variants(name: str, track: Mapping[str, Any], reading: str = READINGS[0]) -> Table:
    """Skill, points and losses by variant in a reading, under the headlines of the track."""
    rows = [
        {**row, **row.get("readings", {}).get(reading, {}), "level": level}
        for level, row in track["slices"]["variant"].items()
    ]
    scaled = "" if track["skill"] is None else f"{headline(track, 'skill')} skill, "
    return SPECIFICATION.of_rows(
        "variants", rows, title=f"{name}: {scaled}{headline(track)} points"
    )


def runs(report: Report, tracks: Tracks) -> Table:
    """Each attempt as a complete exam, with mean and spread."""
    attempts = report["attempts"]
    own = [track.run_figure for track in tracks.values() if track.run_figure is not None]
    rows = []
    for key, label, digits in (
        ("points", "points", 1),
        *((f.name, f.label, f.digits) for f in own),
    ):
        for name, spread in attempts.get(key, {}).items():
            values = [run[key].get(name) for run in attempts["runs"]]
            ends = [None, None] if spread is None else [spread["mean"], spread["sd"]]
            if any(value is not None for value in values):
                shown = [number(value, digits) for value in [*values, *ends]]
                rows.append([f"{label}, {name}", *shown])
    head = ["figure", *(run["attempt"] for run in attempts["runs"]), "mean", "SD"]
    return Table("attempts as complete exams", head, rows)


def census(reports: Sequence[Report]) -> Table:
    """What was answered, and why the rest is invalid; of a board, the files and their dates."""
    rows = []
    for report in reports:
        counts, submission = report["census"], report["submission"]
        date = submission["run"].get("date")
        rows.append({
            **counts,
            "system": name_of(report),
            "reasons": ", ".join(f"{name} {n}" for name, n in counts["invalid_reasons"].items()),
            "file": submission.get("file"),
            "date": date[:_DATE] if isinstance(date, str) and "file" in submission else None,
        })  # fmt: skip
    return SPECIFICATION.of_rows("census", rows)


def dearest(scores: Sequence[Score]) -> Table:
    """The tasks that cost most, each leading to its row among all tasks."""
    rows = [
        {**_row(cost.score), "costs": cost.points, "link": f"#{cost.score.task_id}",
         "why": _why(cost.score)}
        for cost in costliest(scores)
    ]  # fmt: skip
    return SPECIFICATION.of_rows("dearest", rows)


def tasks(scores: Sequence[Score], truths: Mapping[str, Truth]) -> Table:
    """One row per task; ``truths`` is empty unless they are to be revealed."""
    note = "" if len(scores) <= LISTED else f"The first {LISTED:,} tasks, and the costliest."
    listed = {score.task_id: score for score in scores[:LISTED]}
    listed |= {cost.score.task_id: cost.score for cost in costliest(scores)}
    rows = [
        {**_row(score), "truth": truth_json(truths[task_id]) if truths else None}
        for task_id, score in listed.items()
    ]
    return SPECIFICATION.of_rows("tasks", rows, note=note)


def _row(score: Score) -> dict[str, Any]:
    """What a table says of a task."""
    return {
        "task_id": score.task_id,
        "variant": f"{score.family}.{score.variant}",
        "view": score.view,
        "status": score.status + (" (abstained)" if score.abstained else ""),
        "points": score.points,
        "loss": score.loss,
        "value": None if score.value is None else f"{score.metric} {number(score.value)}",
        "why": f"{score.reason}: {score.message}" if score.reason else score.message,
    }


def _why(score: Score) -> str:
    """Why a task scored as it did, in a few words."""
    if score.reason:
        return f"{score.reason}: {score.message}"
    if score.status == "missing":
        return "not answered"
    if score.abstained != score.should_abstain:
        return "abstained though there is an answer" if score.abstained else "should have abstained"
    if score.pool == "pass":
        return score.message or "wrong"
    told = "" if score.value is None else f"{score.metric} {number(score.value)}"
    return ": ".join(filter(None, (told, score.message)))


@dataclass(frozen=True, slots=True)
class Lead:
    """A figure in the reading that was asked for, its interval (or nothing), and how to read it."""

    label: str
    value: str
    interval: str
    aside: str


def leads(report: Report, tracks: Tracks) -> Iterator[Lead]:
    """The figures that lead in another reading than the usual one; nothing of a redacted report.

    Skill and points are of the usual reading alone: in the other, leaving out could help.
    """
    first, other = readings_from(reading_of([report]))
    if first == READINGS[0]:
        return
    for name, part in report["tracks"].items():
        figure = tracks[name].run_figure
        if figure is None or first not in figure.levels:
            continue
        told, beside = (part["readings"].get(reading, {}) for reading in (first, other))
        if (value := told.get(figure.name)) is not None:
            ends = told.get(f"{figure.name}_interval")
            besides = number(find(beside, figure.name), figure.digits)
            yield Lead(
                figure.label,
                number(value, figure.digits),
                interval_text(ends) if ends else "",
                f"{first}, lower is better; {other} {besides}",
            )


def first_screen(report: Report, tracks: Tracks, next_steps: Sequence[str] = ()) -> RenderableType:
    """At most 24 lines of 80 columns: headline, tracks, families, census, what to do next.

    What does not fit on its line ends in dots.
    """
    title = f"{name_of(report)} · {report['release']['name']} · {report['split']}/{report['exam']}"
    head = Text(printable(title), "bold", overflow="ellipsis", no_wrap=True)
    told = [*_census(report), *(("" if k else "next", s) for k, s in enumerate(next_steps))]
    parts: list[RenderableType] = [head, _heads(report, tracks), Text(), _tracks(report)]
    if (ranked := _extremes(report)) is not None:
        parts += [Text(), ranked]
    return Group(
        *parts, Text(), lines([[Text(label, "bold"), plain(text)] for label, text in told])
    )


def _heads(report: Report, tracks: Tracks) -> RenderableType:
    """Skill and points with their intervals, and how to read them."""
    rows = [
        (lead.label, f"{lead.value}  {lead.interval}", lead.aside) for lead in leads(report, tracks)
    ]
    scaled = report["skill"] is not None
    if scaled:
        rows.append(("skill", str(headline(report, "skill")), "0 knows nothing, 100 is gold"))
    told = [] if report["floor"] is None else [f"floor {points(report['floor'])}"]
    if (detectable := report["skill_detectable" if scaled else "detectable"]) is not None:
        told.append(f"shows from {detectable:.1f}")
    if report["points"] is None and (
        left := [n for n in report["tracks"] if is_skipped(report, n)]
    ):
        told.append(f"nothing overall: nothing answered of {', '.join(left)}")
    rows.append(("points", str(headline(report)), ", ".join(told)))
    styles = ("bold", "bold green", "dim")
    return lines([[Text(*part) for part in zip(row, styles, strict=True)] for row in rows])


def _tracks(report: Report) -> RenderableType:
    """A line a track: skill and points with intervals, floor, and how much was answered."""
    tracks = report["tracks"]
    shown = list(tracks.items())[: _TRACKS if len(tracks) <= _TRACKS else _TRACKS - 1]
    rows = []
    for name, part in shown:
        own = [str(headline(part, "skill")), str(headline(part)), points(part["floor"])]
        if is_skipped(report, name):
            own = ["–"] * 3
        rows.append([clip_text(printable(name), 14), *own, f"{part['attempted']}/{part['tasks']}"])
    if len(shown) < len(tracks):
        rows.append([f"… {len(tracks) - len(shown)} more", *[""] * 4])
    table = Table("", ["track", "skill [95%]", "points [95%]", "floor", "answered"], rows, left=3)
    if all(part["skill"] is None for part in tracks.values()):
        table = table.without_columns("skill [95%]", "floor")
    return _dense(table)


def _extremes(report: Report) -> RenderableType | None:
    """The weakest and the strongest families beside each other; nothing of a redacted report."""
    ranked = families_of(report)
    half = min(_EXTREMES, len(ranked) // 2)
    names = Counter(family.name for family in ranked)
    rows = []
    for pair in zip(ranked[:half], reversed(ranked[-half:]), strict=False):
        row = []
        for family in pair:
            name = family.name if names[family.name] == 1 else f"{family.track} {family.name}"
            row += [clip_text(printable(name), 20), points(family.value), str(family.tasks)]
        rows.append(row)
    counts = counted_by([report])
    head = [word for side in ("weakest", "strongest") for word in (f"{side} families", counts, "n")]
    return _dense(Table("", head, rows)) if half else None


def _dense(table: Table) -> RenderableType:
    """A table without a frame, whose every row is a line."""
    titles = [Text(heading, "dim") for heading in table.head]
    rows = [[Text(str(cell)) for cell in row] for row in table.rows]
    return lines([titles, *rows])


def _census(report: Report) -> Iterator[tuple[str, str]]:
    """How much was answered, why the rest is invalid, how conversations ended, what to remark."""
    census = report["census"]
    told = f"of {census['tasks']} tasks {census['scored']} scored, {census['missing']} missing"
    reasons = _counts(census["invalid_reasons"])
    told += f", {census['invalid']} invalid"
    yield "answers", told + (f": {reasons}" if reasons else "")
    if endings := report.get("endings"):
        yield "endings", _counts(endings)
    if notices := report["notices"]:
        more = f"{len(notices)} notes: " if len(notices) > 1 else ""
        yield "note", more + notices[0]


def _counts(found: Mapping[str, Any]) -> str:
    """Names and how often, the most frequent first; a few of them."""
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    told = [f"{name} {count(number)}" for name, number in ranked[:_TOLD]]
    return ", ".join([*told, *(["…"] if ranked[_TOLD:] else [])])


def report_view(report: Report, tracks: Tracks) -> RenderableType:
    """All there is to say of one submission: the tables of each track, attempts, notes."""
    parts: list[RenderableType] = []
    for name, part in report["tracks"].items():
        make = tracks[name].tables
        own = make(report) if make else []
        parts += map(in_terminal, [variants(name, part, reading_of([report])), *own])
    if "attempts" in report:
        parts.append(in_terminal(runs(report, tracks)))
    notices = report["notices"]
    parts += [Text.assemble(("note: ", "yellow"), plain(notice)) for notice in notices[:_NOTICES]]
    if len(notices) > _NOTICES:
        parts.append(Text(f"… and {len(notices) - _NOTICES} more notes in --json", "yellow"))
    return Group(*parts)
