"""How figures are named where the Hub gathers them: ``eval.yaml`` and ``.eval_results``."""

from collections.abc import Mapping
from typing import Any, Final

FRAMEWORK: Final = "causal-exams"
"""The identifier of this grader among the frameworks that the Hub knows."""
SETTINGS: Final = ("closed", "open", "mixed")
"""The prompt alone and one reply, tools besides, or different ones in different tracks."""


def task_id(split: str, exam: str, track: str | None = None) -> str:
    """The id of an exam's skill, or of one of its tracks."""
    return "/".join(filter(None, (split, exam, track)))


def setting_of(run: Mapping[str, Any]) -> str:
    """What a system had at hand, as ``run.json`` states it, itself or among its settings.

    Empty where it says nothing, or something else.
    """
    settings = run.get("settings")
    stated = run.get("setting") or (settings.get("setting") if isinstance(settings, dict) else "")
    return stated if stated in SETTINGS else ""
