"""The tables of one report, and of several: variants, attempts, census, tasks."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from grader.draw.table import Cell, Row, Table, figure, word
from grader.draw.words import clipped, number, points
from grader.model import Score, Truth
from grader.report.export import truth_json
from grader.show.leaderboard import Ranked
from grader.show.systems import SYSTEM, Report, headline, name_of, skill
from grader.tracks import TRACKS

LISTED: Final = 2_000
"""Tasks on a page; beyond them ``--csv`` and ``--parquet`` have every row."""


def variants(name: str, track: Mapping[str, Any]) -> Table:
    """Skill, points and losses by variant, under the headlines of the track."""
    scaled = track["skill"] is not None
    columns = (
        word("level", "variant"),
        word("tasks"),
        word("missing"),
        word("invalid"),
        *([figure("skill", "skill", points), figure("floor", "floor", points)] if scaled else []),
        figure("points", "points", points),
        figure("pass_rate", "pass rate"),
        figure("med_nrel_err", "NRel err"),
        figure("med_f1_loss", "F1 loss"),
    )
    title = f"{name}: {skill(track)} skill, " if scaled else f"{name}: "
    title += f"{headline(track)} points"
    rows = [{**row, "level": level} for level, row in track["slices"]["variant"].items()]
    return Table.of(title, columns, rows)


def runs(report: Report) -> Table:
    """Each attempt as a complete exam, with mean and spread."""
    attempts = report["attempts"]
    own = [track.run_figure for track in TRACKS.values() if track.run_figure is not None]
    figures = [("points", "points", 1), *((one.name, one.label, one.digits) for one in own)]
    rows = []
    for key, label, digits in figures:
        for name, spread in attempts.get(key, {}).items():
            values = [run[key].get(name) for run in attempts["runs"]]
            ends = [None, None] if spread is None else [spread["mean"], spread["sd"]]
            if any(value is not None for value in values):
                cells = [number(value, digits) for value in [*values, *ends]]
                rows.append([f"{label}, {name}", *cells])
    head = ["figure", *(run["attempt"] for run in attempts["runs"]), "mean", "SD"]
    return Table("attempts as complete exams", head, rows)


def census(ranked: Ranked) -> Table:
    """What was answered, and why the rest is invalid."""
    columns = (
        word("place", "#"), SYSTEM, word("scored"), word("missing"), word("invalid"),
        word("reasons", "why invalid"),
    )  # fmt: skip
    rows: list[Row] = []
    for place, report in ranked:
        counts = report["census"]
        reasons = ", ".join(f"{name} {n}" for name, n in counts["invalid_reasons"].items()) or "–"
        rows.append({**counts, "place": place, "system": name_of(report), "reasons": reasons})
    return Table.of("What was answered", columns, rows, left=2)


def tasks(scores: Sequence[Score], truths: Mapping[str, Truth]) -> Table:
    """One row per task; ``truths`` is empty unless they are to be revealed."""
    head = ["task", "variant", "view", "status", "points", "loss", "value", "why"]
    note = "" if len(scores) <= LISTED else f"The first {LISTED:,} tasks."
    rows: list[list[str | Cell]] = []
    for score in scores[:LISTED]:
        value = "–" if score.value is None else f"{score.metric} {number(score.value)}"
        reason = f"{score.reason}: {score.message}" if score.reason else score.message
        revealed = [truth_json(truths[score.task_id])] if truths else []
        rows.append(
            [
                Cell(score.task_id, "id"),
                f"{score.family}.{score.variant}",
                score.view,
                score.status + (" (abstained)" if score.abstained else ""),
                number(score.points),
                number(score.loss),
                value,
                *(Cell(clipped(text, 400), "long") for text in [reason, *revealed]),
            ]
        )
    return Table("", [*head, "truth"] if truths else head, rows, left=4, note=note)
