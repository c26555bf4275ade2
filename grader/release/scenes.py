"""What a release holds beside tasks and truths: scenes with their tables, and hidden worlds."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from grader.errors import UsageError
from grader.io.jsonio import as_mapping
from grader.release.release import AGAIN, ReleaseFolder
from grader.release.rows import finite
from grader.release.side import Side
from grader.scoring.shape import Task

Column = tuple[str, Sequence[float]]
"""A name and its values."""

TABLES: Final = ("data", "test_features", "calibration")


@dataclass(frozen=True, slots=True)
class Scene:
    """What a test taker is shown of an instance: story, what columns are, tables by name."""

    story: str
    columns: Sequence[Mapping[str, Any]]
    tables: Mapping[str, Sequence[Column]]

    def tables_of(self, task: Task) -> dict[str, Sequence[Column]]:
        """Return the tables that a task comes with, by name: none of a task of the story alone,
        and the features to predict from only where a prediction is asked for."""
        predicts = task.shape.kind == "predictions"
        return {
            name: table
            for name, table in self.tables.items()
            if task.input_mode == "data" and (predicts or name != "test_features")
        }


def read_scenes(
    release: ReleaseFolder, split: str, instances: Sequence[str]
) -> dict[tuple[str, str], Scene]:
    """Return the scenes of some instances by (instance, view); none of a track that ships none."""
    scenes = {}
    columns = ("instance_id", "view", "story", "columns", *TABLES)
    for row in _rows(release, release.public, "{}_scenes", split, columns, instances):
        place = row["instance_id"], row.get("view", "")
        try:
            tables = {name: _table(name, row[name]) for name in TABLES if row.get(name)}
            if None in (row["story"], row["columns"], *place, *(row["columns"] or ())):
                raise ValueError("story, columns or view: null")
        except (ValueError, KeyError) as error:
            raise _scene_error(release, place, str(error)) from None
        scenes[place] = Scene(row["story"], row["columns"], tables)
    return scenes


def scenes_at(
    release: ReleaseFolder, split: str, places: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], Scene]:
    """Return the scenes at all of some (instance, view); raises ``UsageError`` without one."""
    scenes = read_scenes(release, split, [instance for instance, _ in places])
    for place in places:
        if place not in scenes:
            raise _scene_error(release, place, "absent")
    return scenes


def _table(table: str, columns: Sequence[Mapping[str, Any]]) -> list[Column]:
    """Return the columns of a table; raises ``ValueError`` where names or numbers are not sound."""
    names = [column["name"].lower() for column in columns if column and column["name"]]
    if len(set(names)) != len(columns) or any("\0" in name for name in names):
        raise ValueError(f"{table}: a column without a name of its own")
    found = [(str(c["name"]), finite(c["values"] or (), table)) for c in columns]
    if len({len(values) for _, values in found}) > 1:
        raise ValueError(f"{table}: columns of unequal lengths")
    return found


def _scene_error(release: ReleaseFolder, place: tuple[object, ...], problem: str) -> UsageError:
    where = f"{release.public.path}: the scene of instance {place[0]} in view {place[1]}"
    return UsageError(f"{where}: {problem}; {AGAIN}")


def read_worlds(
    release: ReleaseFolder, split: str, instances: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return the hidden worlds of some instances by instance, without those of tracks that ship
    none. Raises ``UsageError`` without the side that holds the truth."""
    side, columns = release.truth_side(split), ("instance_id", "world_json")
    worlds = {}
    for row in _rows(release, side, "{}_worlds", split, columns, instances):
        try:
            worlds[row["instance_id"]] = dict(as_mapping(row.get("world_json") or ""))
        except ValueError as error:
            where = f"{side.path}: the world of instance {row['instance_id']}"
            raise UsageError(f"{where} cannot be read ({error}); {AGAIN}") from None
    return worlds


def read_value_sources(
    release: ReleaseFolder, split: str, tasks: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return ``value_source`` and ``value_draws`` of some truths by task id."""
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
    """Yield the rows of one config of every track whose first column is one of ``ids``."""
    names = sorted(set(ids))
    if names:
        # Rows are sorted, so that the range leaves most of a file unread.
        key = columns[0]
        suffix = f"WHERE {key} BETWEEN ? AND ? AND list_contains(?, {key}) ORDER BY {key}"
        ends = (names[0], names[-1], names)
        yield from release.rows(side, config, split, columns, suffix, ends, optional=True)
