"""What answering cost: ``usage.jsonl`` of a submission as totals, means and cost for quality."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from grader.model import Score
from grader.report.table import ScoreTable
from grader.submission.attempts import USAGE_FIGURES, amount_of, mean_usage

Usage = Mapping[str, Mapping[str, Any]]
"""Task id to one line of ``usage.jsonl``, as submitted: nothing in it is to be trusted."""

ENDINGS: Final = (
    "answered", "no answer", "missing after submit", "step limit", "token limit", "time limit",
    "cost limit", "context limit", "refused", "stopped", "error",
)  # fmt: skip
"""Why a task may have ended, in the order in which reports count them."""


def fill_usage(table: ScoreTable, usage: Usage, scores: Sequence[Score]) -> None:
    """The table ``usage``: plausible figures of the exam's tasks, and why they ended."""
    rows = [
        (
            score.task_id,
            *(amount_of(usage[score.task_id], figure) for figure in USAGE_FIGURES),
            _ending_of(usage[score.task_id]),
        )
        for score in scores
        if score.task_id in usage
    ]
    table.fill("usage", ("task_id", *USAGE_FIGURES, "ending"), rows)


def _ending_of(line: Mapping[str, Any]) -> str | None:
    """Why a task ended, where a known reason is told."""
    told = line.get("ending")
    return told if isinstance(told, str) and told in ENDINGS else None


def usage_means(usage: Usage, task_ids: Sequence[str]) -> dict[str, Any]:
    """Means per task over the tasks of the exam that have the figure; null where none has."""
    rows = [usage[task_id] for task_id in task_ids if task_id in usage]
    return {"tasks": len(rows), **dict.fromkeys(USAGE_FIGURES), **mean_usage(rows)}


def count_endings(usage: Usage, task_ids: Sequence[str]) -> dict[str, int]:
    """How many tasks of the exam ended how, as far as that is told."""
    told = [_ending_of(usage[task_id]) for task_id in task_ids if task_id in usage]
    return {name: count for name in ENDINGS if (count := told.count(name))}
