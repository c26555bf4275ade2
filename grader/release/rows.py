"""Rows of a release's shards as tasks and truths; what many of them share is once in memory."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from sys import intern
from typing import Any, Final

from grader.io.jsonio import as_mapping
from grader.scoring.model import Truth
from grader.scoring.shape import Task, Variant
from grader.scoring.track import Track

TASK_COLUMNS: Final = (
    "task_id", "instance_id", "track", "rung", "family", "variant", "view", "input_mode",
    "prompt", "answer_schema", "answer_file", "inputs_json",
)  # fmt: skip
TRUTH_COLUMNS: Final = (
    "task_id", "instance_id", "should_abstain", "structure", "value", "value_se", "target_json",
)  # fmt: skip
_SHARED: Final = 1 << 14
"""So many texts of JSON are remembered: tasks of a scene say much alike."""


class Rows:
    """A reader of rows; what equal texts of JSON say is one object, which nobody may change."""

    def __init__(self, tracks: Mapping[str, Track]) -> None:
        self._parse: Callable[[str], Mapping[str, Any]] = lru_cache(_SHARED)(as_mapping)
        self._variants: dict[tuple[str, str, str], Variant] = {
            (spec.track, spec.family, spec.name): spec
            for track in tracks.values()
            for spec in track.variants
        }

    def task(self, row: Mapping[str, Any]) -> Task:
        """A row of a config ``<track>``; raises ``KeyError`` for a variant nobody knows."""
        spec = self._variants[row["track"], row["family"], row["variant"]]
        return Task(
            task_id=row["task_id"],
            instance_id=_once(row["instance_id"]),
            spec=spec,
            view=_once(row["view"]),
            input_mode=_once(row["input_mode"]),
            prompt=row["prompt"],
            answer_schema=_once(row["answer_schema"]),
            answer_file=row["answer_file"],
            inputs=self._parse(row["inputs_json"]),
        )

    def truth(self, row: Mapping[str, Any], labels: Sequence[float] | None = None) -> Truth:
        """A row of a config ``<track>_truth``, with what the labels hold for its task."""
        return Truth(
            task_id=row["task_id"],
            instance_id=_once(row["instance_id"]),
            should_abstain=row["should_abstain"],
            structure=_once(row["structure"]),
            value=row["value"],
            value_se=row["value_se"],
            target=self._parse(row["target_json"]),
            labels=None if labels is None else tuple(labels),
        )


def task_of(row: Mapping[str, Any], tracks: Mapping[str, Track]) -> Task:
    """One row of a config ``<track>``; raises ``KeyError`` for a variant nobody knows."""
    return Rows(tracks).task(row)


def truth_of(row: Mapping[str, Any], labels: Sequence[float] | None = None) -> Truth:
    """One row of a config ``<track>_truth``, with what the labels hold for its task."""
    return Rows({}).truth(row, labels)


def _once(value: Any) -> Any:
    """The one object for what many rows repeat."""
    return intern(value) if type(value) is str else value
