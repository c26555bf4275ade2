"""What answering cost: ``usage.jsonl`` of a submission as totals, means and cost for quality."""

from collections.abc import Mapping, Sequence
from typing import Any

from grader.model import Score
from grader.report.table import ScoreTable
from grader.submission.attempts import USAGE_FIGURES, amount_of, mean_usage

Usage = Mapping[str, Mapping[str, Any]]
"""Task id to one line of ``usage.jsonl``, as submitted: nothing in it is to be trusted."""


def fill_usage(table: ScoreTable, usage: Usage, scores: Sequence[Score]) -> None:
    """The table ``usage``: plausible figures of the exam's tasks."""
    rows = [
        (score.task_id, *(amount_of(usage[score.task_id], figure) for figure in USAGE_FIGURES))
        for score in scores
        if score.task_id in usage
    ]
    table.fill("usage", ("task_id", *USAGE_FIGURES), rows)


def usage_means(usage: Usage, task_ids: Sequence[str]) -> dict[str, Any]:
    """Means per task over the tasks of the exam that have the figure; null where none has."""
    rows = [usage[task_id] for task_id in task_ids if task_id in usage]
    return {"tasks": len(rows), **dict.fromkeys(USAGE_FIGURES), **mean_usage(rows)}
