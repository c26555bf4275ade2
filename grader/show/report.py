"""The tables of one report, and of several: variants, attempts, census, tasks."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from grader.draw.table import Cell, Column, Row, Table, figure, word
from grader.draw.words import clipped, number, points
from grader.model import Score, Truth
from grader.report.export import truth_json
from grader.route import READINGS
from grader.show.costliest import costliest
from grader.show.leaderboard import Ranked
from grader.show.systems import SYSTEM, Report, headline, name_of, skill
from grader.tracks import TRACKS

_DATE: Final = 40
LISTED: Final = 2_000
"""Tasks on a page; beyond them ``--csv`` and ``--parquet`` have every row."""


def variants(name: str, track: Mapping[str, Any], reading: str = READINGS[0]) -> Table:
    """Skill, points and losses by variant in a reading, under the headlines of the track."""
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
    rows = [
        {**row, **row.get("readings", {}).get(reading, {}), "level": level}
        for level, row in track["slices"]["variant"].items()
    ]
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
    """What was answered, and why the rest is invalid; of a board, the files and their dates."""
    columns = [
        SYSTEM, word("file"), word("date"), word("scored"), word("missing"), word("invalid"),
        Column("why invalid", lambda row: Cell(row["reasons"], "long")),
    ]  # fmt: skip
    rows: list[Row] = []
    for _, report in ranked:
        counts, submission = report["census"], report["submission"]
        reasons = ", ".join(f"{name} {n}" for name, n in counts["invalid_reasons"].items()) or "–"
        date = submission["run"].get("date")
        rows.append(
            {
                **counts,
                "system": name_of(report),
                "reasons": reasons,
                "file": submission.get("file", ""),
                "date": date[:_DATE] if isinstance(date, str) else "–",
            }
        )
    table = Table.of("What was answered", columns, rows, left=3)
    return table if any(row["file"] for row in rows) else table.without("file", "date")


def dearest(scores: Sequence[Score]) -> Table:
    """The tasks that cost most, each leading to its row among all tasks."""
    columns = ["task", "variant", "costs", "points", "loss", "why"]
    rows: list[list[str | Cell]] = [
        [
            Cell(cost.score.task_id, "id", link=f"#{cost.score.task_id}"),
            f"{cost.score.family}.{cost.score.variant}",
            number(cost.points, 2),
            number(cost.score.points),
            number(cost.score.loss),
            Cell(clipped(_why(cost.score), 300), "long"),
        ]
        for cost in costliest(scores)
    ]
    return Table("What went wrong", columns, rows, left=2)


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


def tasks(scores: Sequence[Score], truths: Mapping[str, Truth]) -> Table:
    """One row per task; ``truths`` is empty unless they are to be revealed."""
    head = ["task", "variant", "view", "status", "points", "loss", "value", "why"]
    note = "" if len(scores) <= LISTED else f"The first {LISTED:,} tasks, and the costliest."
    shown = list(scores[:LISTED])
    listed = {score.task_id for score in shown}
    shown += [c.score for c in costliest(scores) if c.score.task_id not in listed]
    rows: list[list[str | Cell]] = []
    for score in shown:
        value = "–" if score.value is None else f"{score.metric} {number(score.value)}"
        reason = f"{score.reason}: {score.message}" if score.reason else score.message
        revealed = [truth_json(truths[score.task_id])] if truths else []
        rows.append(
            [
                Cell(score.task_id, "id", anchor=score.task_id),
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
