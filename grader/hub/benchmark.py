"""How figures are named where the Hub gathers them: ``eval.yaml`` and ``.eval_results``."""

from typing import Final

FRAMEWORK: Final = "causal-exams"
"""The identifier of this grader among the frameworks that the Hub knows."""


def task_id(split: str, exam: str, track: str | None = None) -> str:
    """The id of an exam's skill, or of one of its tracks."""
    return "/".join(filter(None, (split, exam, track)))
