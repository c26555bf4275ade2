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


def with_quality(
    row: Mapping[str, Any], readings: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """One track's costs with tokens / (1 - CausalDSScore) by reading (Table 18).

    Null where the score is 1 or worse, and where an answered task has no token figure: a total
    that leaves tasks out would make a system look cheap.
    """
    quality: dict[str, float | None] = {}
    for name, reading in readings.items():
        score, total = reading["causalds_score"], row["total_tokens"]
        usable = total is not None and not row["unmetered"] and score is not None and score < 1
        quality[name] = total / (1 - score) if usable else None
    return {**row, "tokens_per_quality": quality}
