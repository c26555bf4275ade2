"""One row per task for the page; its truth only where it was asked for."""

from collections.abc import Mapping, Sequence
from typing import Final

from grader.draw.svg import text
from grader.model import Score, Truth
from grader.report.export import truth_json
from grader.show.table import table
from grader.show.words import number

LISTED: Final = 2_000
"""Tasks in the table; beyond them ``--csv`` and ``--parquet`` have every row."""


def tasks_section(scores: Sequence[Score], truths: Mapping[str, Truth]) -> tuple[str, str]:
    """Title and content; ``truths`` is empty unless they are to be revealed."""
    head = ["task", "variant", "view", "status", "points", "loss", "value", "why"]
    if truths:
        head.append("truth")
    rows = [_cells(score, truths) for score in scores[:LISTED]]
    note = "" if len(scores) <= LISTED else f'<p class="note">The first {LISTED:,} tasks.</p>'
    found = note + table(head, rows, left=4)
    title = f"Every task ({len(scores):,})"
    return title, f'<details class="tasks"><summary>{len(scores):,} rows</summary>{found}</details>'


def _cells(score: Score, truths: Mapping[str, Truth]) -> list[str]:
    value = "–" if score.value is None else f"{text(score.metric)} {number(score.value)}"
    reason = f"{score.reason}: {score.message}" if score.reason else score.message
    cells = [
        f"<code>{text(score.task_id, 60)}</code>",
        text(f"{score.family}.{score.variant}", 80),
        text(score.view, 30),
        text(score.status) + (" (abstained)" if score.abstained else ""),
        number(score.points),
        number(score.loss),
        value,
        f'<span class="long">{text(reason, 300)}</span>',
    ]
    if truths:
        shown = truth_json(truths[score.task_id])
        cells.append(f'<span class="long">{text(shown, 400)}</span>')
    return cells
