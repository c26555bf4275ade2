"""What a release holds beside tasks and truths: scenes with their tables, and hidden worlds."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from grader.io import parquet
from grader.io.jsonio import as_mapping
from grader.release.release import Release
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


def scenes(release: Release, split: str, instances: Sequence[str]) -> dict[tuple[str, str], Scene]:
    """The scenes of some instances by (instance, view); none for a track that ships none."""
    found = {}
    columns = ("instance_id", "view", "story", "columns", *TABLES)
    for row in _rows(release, release.public, "{}_scenes", split, columns, instances):
        tables = {name: _columns(row[name]) for name in TABLES if row.get(name)}
        found[row["instance_id"], row["view"]] = Scene(row["story"], row["columns"], tables)
    return found


def worlds(release: Release, split: str, instances: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The hidden worlds of some instances; the truth side must be here."""
    side, columns = release.truth_side(split), ("instance_id", "world_json")
    rows = _rows(release, side, "{}_worlds", split, columns, instances)
    return {row["instance_id"]: dict(as_mapping(row["world_json"])) for row in rows}


def sources(release: Release, split: str, tasks: Sequence[str]) -> dict[str, dict[str, Any]]:
    """How each number among some truths was worked out: ``value_source``, ``value_draws``."""
    side, columns = release.truth_side(split), ("task_id", "value_source", "value_draws")
    rows = _rows(release, side, "{}_truth", split, columns, tasks)
    return {row.pop("task_id"): row for row in rows}


def _rows(
    release: Release,
    side: Side,
    config: str,
    split: str,
    columns: Sequence[str],
    wanted: Iterable[str],
) -> Iterator[dict[str, Any]]:
    """The rows of one config of every track whose first column is wanted; those of ``columns``
    that a file has."""
    names = sorted(set(wanted))
    if not names:
        return
    # Rows are sorted, so that the range leaves most of a file unread.
    suffix = f"WHERE {columns[0]} BETWEEN ? AND ? AND list_contains(?, {columns[0]}) ORDER BY 1"
    with parquet.connect() as connection:
        for track in release.tracks:
            files = side.shards(config.format(track), split)
            there = parquet.column_names(connection, files)
            if columns[0] not in there:
                continue
            shown = [column for column in columns if column in there]
            for row in parquet.read(connection, files, shown, suffix, [names[0], names[-1], names]):
                yield dict(zip(shown, row, strict=True))


def _columns(table: Sequence[Mapping[str, Any]]) -> list[Column]:
    return [(str(column["name"]), column["values"]) for column in table]
