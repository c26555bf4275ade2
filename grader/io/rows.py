"""Rows of a release's shards as tasks and truths; what many of them share is once in memory."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from sys import intern
from typing import Any, Final

from grader.io.jsonio import as_mapping
from grader.model import Truth
from grader.shape import Task, Variant
from grader.tracks import variant

TASK_COLUMNS: Final = (
    "task_id", "instance_id", "track", "rung", "family", "variant", "view", "input_mode",
    "prompt", "answer_schema", "answer_file", "inputs_json",
)  # fmt: skip
TRUTH_COLUMNS: Final = (
    "task_id", "instance_id", "should_abstain", "structure", "value", "value_se", "target_json",
)  # fmt: skip
_REPEATED: Final = ("instance_id", "view", "input_mode", "answer_schema", "structure")
_STATED: Final = (
    "task_id", "instance_id", "view", "input_mode", "prompt", "answer_schema", "answer_file",
)  # fmt: skip
_SHARED: Final = 1 << 14
"""So many texts of JSON are remembered: tasks of a scene say much alike."""


class Rows:
    """A reader of rows; what equal texts of JSON say is one object, which nobody may change."""

    def __init__(self) -> None:
        self._parse: Callable[[str], Mapping[str, Any]] = lru_cache(_SHARED)(as_mapping)
        self._variant: Callable[[str, str], Variant] = lru_cache(_SHARED)(variant)

    def task(self, row: Mapping[str, Any]) -> Task:
        """A row of a config ``<track>``; raises ``KeyError`` for a variant nobody knows."""
        spec = self._variant(row["track"], f"{row['family']}.{row['variant']}")
        return Task(spec=spec, inputs=self._parse(row["inputs_json"]), **_stated(row, _STATED))

    def truth(
        self,
        row: Mapping[str, Any],
        labels: Sequence[float] | None = None,
        models: str | None = None,
    ) -> Truth:
        """A row of a config ``<track>_truth``, with what the labels hold for its task."""
        return Truth(
            target=self._parse(row["target_json"]),
            labels=None if labels is None else tuple(labels),
            models=None if models is None else self._parse(models),
            **_stated(row, TRUTH_COLUMNS[:-1]),
        )


def task_of(row: Mapping[str, Any]) -> Task:
    """One row of a config ``<track>``; raises ``KeyError`` for a variant nobody knows."""
    return Rows().task(row)


def truth_of(
    row: Mapping[str, Any], labels: Sequence[float] | None = None, models: str | None = None
) -> Truth:
    """One row of a config ``<track>_truth``, with what the labels hold for its task."""
    return Rows().truth(row, labels, models)


def _stated(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    found = {name: row[name] for name in names}
    for name in _REPEATED:
        if isinstance(text := found.get(name), str):
            found[name] = intern(text)
    return found
