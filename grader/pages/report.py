"""The tables of one report, and of several: variants, attempts, census, costliest tasks, tasks."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from grader.pages.leaderboard import Ranked
from grader.pages.systems import SYSTEM, Report, headline, name_of, reading_of, readings_from, skill
from grader.pages.table import Cell, Column, Row, Table, figure, find, word
from grader.pages.words import clipped, interval_text, number, points
from grader.reports.table import truth_json
from grader.scoring.model import Score, Truth
from grader.scoring.route import READINGS
from grader.tracks import TRACKS

SHOWN: Final = 10
_NOTHING: Final = 1e-9


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


@dataclass(frozen=True, slots=True)
class Lead:
    """A figure in the reading that was asked for, its interval (or nothing), and how to read it."""

    label: str
    value: str
    interval: str
    aside: str


def leads(report: Report) -> Iterator[Lead]:
    """The figures that lead in another reading than the usual one; nothing of a redacted report.

    Skill and points are of the usual reading alone: in the other, leaving out could help.
    """
    first, other = readings_from(reading_of([report]))
    if first == READINGS[0]:
        return
    for name, part in report["tracks"].items():
        figure = TRACKS[name].run_figure
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
