"""One graded submission: its tables, and its first screen in the terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from grader.pages.specification import Specification, pages_of
from grader.pages.systems import (
    Report,
    cell_within,
    counted_by,
    families_of,
    figure_cell,
    is_skipped,
    name_of,
    partial_text,
    reading_of,
    readings_from,
)
from grader.pages.table import Cell, Table
from grader.pages.terminal import TerminalTable, lines, lines_of
from grader.pages.words import clip_text, count, number, points
from grader.reports.table import truth_json
from grader.scoring.model import Score, Truth
from grader.scoring.route import READINGS
from grader.scoring.track import Tracks

SHOWN: Final = 10
LISTED: Final = 2_000
"""Tasks on a page. Beyond them ``--csv`` and ``--parquet`` have every row."""
_NOTHING: Final = 1e-9
_LONGEST_DATE: Final = 40
_NOTICES: Final = 5
_TRACKS: Final = 6
_EXTREMES: Final = 3
"""Families on either side."""
_COUNTED: Final = 4
"""Reasons and endings that are counted in words."""

SPECIFICATION: Final = Specification.read(Path(__file__).with_name("page.toml"), {}, {
    "record": lambda record: "–" if record is None else "{wins}/{ties}/{losses}".format(**record),
    "p_value": lambda value: "<0.0001" if value is not None and value < 0.0001
    else number(value, 4),
})  # fmt: skip


def costliest(scores: Sequence[Score], limit: int = SHOWN) -> list[tuple[Score, float]]:
    """Return the answered tasks that cost most points of the headline (0 to 100), with their costs,
    the dearest first, of equals those with the larger loss.

    A headline is the mean over tracks of the mean over tasks, so that a task of a short track
    weighs more. Tasks that were not answered count among those of a track that was tried.
    """
    answered = [score for score in scores if score.status != "missing"]
    tried = {score.track for score in answered}
    sizes = Counter(score.track for score in scores if score.track in tried)
    lost = [(s, 100 * (1 - s.points) / sizes[s.track] / len(sizes)) for s in answered]
    lost.sort(key=lambda pair: (-pair[1], -pair[0].loss, pair[0].task_id))
    return [(score, cost) for score, cost in lost[:limit] if cost > _NOTHING]


def variants(name: str, track: Mapping[str, Any], reading: str = READINGS[0]) -> Table:
    """Return skill, points and losses by variant in a reading, with the track's in the title."""
    rows = [
        {**row, **row.get("readings", {}).get(reading, {}), "level": level}
        for level, row in track["slices"]["variant"].items()
    ]
    skill = "" if track["skill"] is None else f"{figure_cell(track, 'skill')} skill, "
    return SPECIFICATION.of_rows(
        "variants", rows, title=f"{name}: {skill}{figure_cell(track)} points"
    )


def runs(report: Report, tracks: Tracks) -> Table:
    """Return figures of each attempt as a complete exam, with mean and standard deviation."""
    attempts = report["attempts"]
    figures = [track.run_figure for track in tracks.values() if track.run_figure is not None]
    rows = []
    shown = [("points", "points", 1), *((f.name, f.label, f.digits) for f in figures)]
    for key, label, digits in shown:
        for name, spread in attempts.get(key, {}).items():
            values = [run[key].get(name) for run in attempts["runs"]]
            ends = [None, None] if spread is None else [spread["mean"], spread["sd"]]
            if any(value is not None for value in values):
                cells = (number(value, digits) for value in [*values, *ends])
                rows.append([f"{label}, {name}", *cells])
    head = ["figure", *(run["attempt"] for run in attempts["runs"]), "mean", "SD"]
    return Table("attempts as complete exams", head, rows)


def census(reports: Sequence[Report]) -> Table:
    """Return how much each system answered and why the rest is invalid; on boards file and date."""
    rows = []
    for report in reports:
        counts, submission = report["census"], report["submission"]
        date = submission["run"].get("date")
        rows.append({
            **counts,
            "system": name_of(report),
            "reasons": ", ".join(f"{name} {n}" for name, n in counts["invalid_reasons"].items()),
            "file": submission.get("file"),
            "date": date[:_LONGEST_DATE] if isinstance(date, str) and "file" in submission
            else None,
        })  # fmt: skip
    return SPECIFICATION.of_rows("census", rows)


def costs(scores: Sequence[Score]) -> Table:
    """Return the tasks that cost most, each with a link to its row among all tasks."""
    rows = [
        {**_row(score), "costs": cost, "link": f"#{score.task_id}"}
        for score, cost in costliest(scores)
    ]
    return SPECIFICATION.of_rows("costs", rows)


def tasks(scores: Sequence[Score], truths: Mapping[str, Truth]) -> Table:
    """Return one row per task. ``truths`` is empty unless they are to be revealed."""
    note = "" if len(scores) <= LISTED else f"The first {LISTED:,} tasks, and the costliest."
    listed = {score.task_id: score for score in scores[:LISTED]}
    listed |= {score.task_id: score for score, _ in costliest(scores)}
    rows = [
        {**_row(score), "truth": truth_json(truths[task_id]) if truths else None}
        for task_id, score in listed.items()
    ]
    return SPECIFICATION.of_rows("tasks", rows, note=note)


def _row(score: Score) -> dict[str, Any]:
    """Return the row of one task for the tables ``costs`` and ``tasks``."""
    return {
        "task_id": score.task_id,
        "variant": f"{score.family}.{score.variant}",
        "view": score.view,
        "status": score.status + (" (abstained)" if score.abstained else ""),
        "points": 100 * score.points,
        "loss": score.loss,
        "why": _why(score),
    }


def _why(score: Score) -> str:
    """Return why a task scored as it did, in a few words."""
    if score.reason:
        return f"{score.reason}: {score.message}"
    if score.status == "missing":
        return "not answered"
    if score.abstained != score.should_abstain:
        kind = "abstained though there is an answer" if score.abstained else "should have abstained"
        return score.message or kind
    if score.pool == "pass":
        return score.message or ("" if score.points else "wrong")
    known = score.metric_value is not None
    figure = f"{score.metric} {number(score.metric_value)}" if known else ""
    return ": ".join(filter(None, (figure, score.message)))


def headlines(report: Report, tracks: Tracks) -> Iterator[tuple[str, Cell, str]]:
    """Yield name, cell and remark of skill and points, before them those of another reading, in
    which leaving out could help; these are absent from a redacted report."""
    first, other = readings_from(reading_of([report]))
    for name, part in report["tracks"].items() if first != READINGS[0] else ():
        figure = tracks[name].run_figure
        if figure is None or first not in figure.levels:
            continue
        own, beside = (part["readings"].get(reading, {}) for reading in (first, other))
        if (value := own.get(figure.name)) is not None:
            ends = own.get(f"{figure.name}_interval")
            cell = cell_within(number(value, figure.digits), ends)
            there = number(beside.get(figure.name), figure.digits)
            yield figure.label, cell, f"{first}, lower is better; {other} {there}"
    detectable = report["detectable"]
    if report["skill"] is not None:
        yield "skill", figure_cell(report, "skill"), "0: best constants, 100: gold"
        detectable = report["skill_detectable"]
    asides = [] if report["floor"] is None else [f"floor {points(report['floor'])}"]
    asides += [] if detectable is None else [f"detects differences from {detectable:.1f}"]
    absent = [name for name in report["tracks"] if is_skipped(report, name)]
    if report["points"] is None and absent:
        asides.append(f"an overall figure needs an answer in {', '.join(absent)}")
    yield "points", figure_cell(report), ", ".join(asides)


def first_screen(report: Report, tracks: Tracks, next_steps: Sequence[str] = ()) -> RenderableType:
    """Return at most 24 lines of 80 columns: headlines, tracks, families, census, next steps."""
    title = f"{name_of(report)} · {report['release']['name']} · {report['split']}/{report['exam']}"
    head = Text(partial_text(report) + title, "bold", overflow="ellipsis", no_wrap=True)
    figures = [
        [Text(name, "bold"), Text(str(cell), "bold green"), Text(remark, "dim")]
        for name, cell, remark in headlines(report, tracks)
    ]
    remarks = [("answers", _answers(report["census"]))]
    if endings := report.get("endings"):
        remarks.append(("endings", _most_frequent(endings)))
    if notices := report["notices"]:
        more = f"{len(notices)} notes: " if len(notices) > 1 else ""
        remarks.append(("note", more + notices[0]))
    parts: list[RenderableType] = [head, lines(figures), Text(), lines_of(_tracks(report))]
    if (extremes := _extremes(report)).rows:
        parts += [Text(), lines_of(extremes)]
        own = [(name, tracks[name].own_points) for name in report["tracks"] if name in tracks]
        remarks += [(n, f"its units are {word}; families count tasks") for n, word in own if word]
    remarks += [("" if k else "next", step) for k, step in enumerate(next_steps)]
    last = lines([[Text(label, "bold"), Text(text, overflow="fold")] for label, text in remarks])
    return Group(*parts, Text(), last)


def _tracks(report: Report) -> Table:
    """Return skill and points of each track with intervals, floor, and how much was answered."""
    tracks = report["tracks"]
    rows = []
    for name, part in tracks.items():
        own = [str(figure_cell(part, "skill")), str(figure_cell(part)), points(part["floor"])]
        if is_skipped(report, name):
            own = ["–"] * 3
        rows.append([clip_text(name, 14), *own, f"{part['attempted']}/{part['tasks']}"])
    if len(rows) > _TRACKS:
        rows[_TRACKS - 1 :] = [[f"… {len(rows) - _TRACKS + 1} more", *[""] * 4]]
    table = Table("", ["track", "skill [95%]", "points [95%]", "floor", "answered"], rows)
    if all(part["skill"] is None for part in tracks.values()):
        table = table.without_columns("skill [95%]", "floor")
    return table


def _extremes(report: Report) -> Table:
    """Return the weakest and the strongest families beside each other; no row when redacted."""
    ranked = families_of(report)
    half = min(_EXTREMES, len(ranked) // 2)
    names = Counter(family.name for family in ranked)
    rows = []
    for pair in zip(ranked[:half], ranked[: -half - 1 : -1], strict=True):
        row = []
        for family in pair:
            name = family.name if names[family.name] == 1 else f"{family.track} {family.name}"
            row += [clip_text(name, 20), points(family.value), str(family.tasks)]
        rows.append(row)
    figures = (counted_by([report]), "tasks")
    return Table("", ["weakest families", *figures, "strongest families", *figures], rows)


def _answers(census: Mapping[str, Any]) -> str:
    """Return how much was answered, and why the rest is invalid."""
    text = (
        f"of {census['tasks']} tasks {census['scored']} scored, {census['missing']} missing, "
        f"{census['invalid']} invalid"
    )
    reasons = _most_frequent(census["invalid_reasons"])
    return f"{text}: {reasons}" if reasons else text


def _most_frequent(counts: Mapping[str, Any]) -> str:
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    texts = [f"{name} {count(number)}" for name, number in ranked[:_COUNTED]]
    return ", ".join([*texts, *(["…"] if ranked[_COUNTED:] else [])])


def report_view(report: Report, tracks: Tracks) -> RenderableType:
    """Return every table of one submission, of its tracks and attempts, and its first notes."""
    tables: list[Table] = []
    for name, part in report["tracks"].items():
        tables.append(variants(name, part, reading_of([report])))
        tables += pages_of(tracks[name]).tables(report)
    if "attempts" in report:
        tables.append(runs(report, tracks))
    notices = report["notices"]
    parts: list[RenderableType] = [*map(TerminalTable, tables)]
    parts += [Text.assemble(("note: ", "yellow"), notice) for notice in notices[:_NOTICES]]
    if len(notices) > _NOTICES:
        parts.append(Text(f"… and {len(notices) - _NOTICES} more notes in --json", "yellow"))
    return Group(*parts)
