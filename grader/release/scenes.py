"""What a release holds beside tasks and truths: scenes with their tables, and hidden worlds."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from grader.io.jsonio import as_mapping
from grader.release.release import ReleaseFolder
from grader.release.side import Side

Column = tuple[str, Sequence[float]]
"""A name and its values."""

TABLES: Final = ("data", "test_features", "calibration")


@dataclass(frozen=True, slots=True)
class Scene:
    """What a test taker is shown of an instance: its story, what is said of the columns, and
    tables by name."""

    story: str
    columns: Sequence[Mapping[str, Any]]
    tables: Mapping[str, Sequence[Column]]


def read_scenes(
    release: ReleaseFolder, split: str, instances: Sequence[str]
) -> dict[tuple[str, str], Scene]:
    """Return the scenes of some instances by (instance, view); none of a track that ships none."""
    scenes = {}
    columns = ("instance_id", "view", "story", "columns", *TABLES)
    for row in _rows(release, release.public, "{}_scenes", split, columns, instances):
        tables = {
            name: [(str(column["name"]), column["values"]) for column in row[name]]
            for name in TABLES
            if row.get(name)
        }
        scenes[row["instance_id"], row["view"]] = Scene(row["story"], row["columns"], tables)
    return scenes


def read_worlds(
    release: ReleaseFolder, split: str, instances: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return the hidden worlds of some instances by instance, without those of tracks that ship
    none. Raises ``UsageError`` without the side that holds the truth."""
    side, columns = release.truth_side(split), ("instance_id", "world_json")
    rows = _rows(release, side, "{}_worlds", split, columns, instances)
    return {row["instance_id"]: dict(as_mapping(row["world_json"])) for row in rows}


def read_value_sources(
    release: ReleaseFolder, split: str, tasks: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return by task id how the numbers of some truths were worked out: ``value_source`` and
    ``value_draws``."""
    side, columns = release.truth_side(split), ("task_id", "value_source", "value_draws")
    rows = _rows(release, side, "{}_truth", split, columns, tasks)
    return {row.pop("task_id"): row for row in rows}


def _rows(
    release: ReleaseFolder,
    side: Side,
    config: str,
    split: str,
    columns: Sequence[str],
    ids: Iterable[str],
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one config of every track whose first column is one of ``ids``, in their
    order, with those of ``columns`` that a file has."""
    names = sorted(set(ids))
    if names:
        # Rows are sorted, so that the range leaves most of a file unread.
        key = columns[0]
        suffix = f"WHERE {key} BETWEEN ? AND ? AND list_contains(?, {key}) ORDER BY {key}"
        ends = (names[0], names[-1], names)
        yield from release.rows(side, config, split, columns, suffix, ends, optional=True)
