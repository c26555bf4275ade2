"""The rows of one staged part, as its check reads them back from disk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from builder.gate.tables import Place, SplitTables, scene_row, table_rows, task_row
from builder.release.parts import Part

Row = Mapping[str, Any]

_NOWHERE: Final = Place(0, 0, 0, 0, ())
"""Parts have no place in a file yet."""


@dataclass(frozen=True, slots=True)
class PartRows:
    """All rows of some instances. ``tables`` has no exams and no places; ``tasks``, ``truths`` and
    ``labels`` are rows as they stand, by instance; ``scenes`` are in order of instance and view.
    """

    tables: SplitTables
    tasks: Mapping[str, Sequence[Row]]
    truths: Mapping[str, Sequence[Row]]
    labels: Mapping[str, Row]
    scenes: Sequence[Row]


def read_part(part: Part) -> PartRows:
    """Every row of a staged part."""
    track = part.origin.track
    tasks, truths = _rows(part, track), _rows(part, f"{track}_truth")
    scenes = sorted(_rows(part, f"{track}_scenes"), key=lambda r: (r["instance_id"], r["view"]))
    tables = SplitTables(
        split=part.origin.split,
        track=track,
        private=part.origin.private,
        tasks={row["task_id"]: task_row(row, _NOWHERE) for row in tasks},
        scenes={(row["instance_id"], row["view"]): scene_row(row, _NOWHERE) for row in scenes},
        exams=(),
        truth={row["task_id"]: row for row in truths},
        worlds={row["instance_id"]: row for row in _rows(part, f"{track}_worlds")},
    )
    labels = {row["instance_id"]: row for row in _rows(part, f"{track}_labels")}
    return PartRows(tables, _by_instance(tasks), _by_instance(truths), labels, scenes)


def _rows(part: Part, config: str) -> list[dict[str, Any]]:
    return list(table_rows(part.read(config))) if config in part.sizes else []


def _by_instance(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["instance_id"], []).append(row)
    return found
