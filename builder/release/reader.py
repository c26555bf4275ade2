"""Reading a written release, or staged parts: which shards there are, their rows a row group at a
time, and rows as the gate reads them: typed, each with its place in its file.

A *side* is ``release/public`` or ``release/private``: folders of configs with shards of splits.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from builder.release.parts import Part, read_staged
from builder.splits.track import RowPlace, SceneRow, TaskRow
from grader.errors import UsageError, error_text

SIDES: Final = ("public", "private")
SHARD: Final = re.compile(
    r"(?P<split>[A-Za-z0-9_]+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.parquet"
)


def public_side(release: Path) -> Path:
    """Return the path ``release/public``; raises ``UsageError`` when it is no folder."""
    public = release / "public"
    if not public.is_dir():
        raise UsageError(
            f"{release}: no release there (no folder 'public'); name the folder that `build --out` "
            "wrote"
        )
    return public


def configs(side: Path) -> list[str]:
    """Return the names of the configs that have shards on a side, sorted."""
    return sorted({path.parent.name for path in side.glob("*/*-00000-of-*.parquet")})


def splits(side: Path, config: str) -> list[str]:
    """Return the names of the splits that have shards of ``config`` on a side, sorted."""
    found = (SHARD.fullmatch(path.name) for path in (side / config).glob("*.parquet"))
    return sorted({match["split"] for match in found if match is not None})


def shards(side: Path, config: str, split: str) -> list[Path]:
    """Return the shards of ``config`` for ``split`` on a side, in order; empty if none."""
    found = [(path, SHARD.fullmatch(path.name)) for path in sorted((side / config).glob("*"))]
    return [path for path, match in found if match is not None and match["split"] == split]


def every_shard(release: Path, config: str) -> dict[str, list[Path]]:
    """Return the shards of ``config`` by split, on whichever side of the release they are."""
    return {
        split: shards(release / side, config, split)
        for side in SIDES
        for split in splits(release / side, config)
    }


@contextmanager
def naming_damage(where: object, track: str) -> Iterator[None]:
    """Raise ``UsageError``, with ``where`` the rows are, for an error of a block that reads worlds
    and targets of ``track``: a damaged row is no bug of ours."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        what = f"{track}_worlds (world_json) or {track}_truth (target_json)"
        told = f"{where}: {what} cannot be read ({error_text(error):.200})"
        raise UsageError(f"{told}; build the release again") from error


def groups(
    paths: Sequence[Path], columns: Sequence[str] | None = None
) -> Iterator[tuple[pa.Table, pq.RowGroupMetaData]]:
    """Yield each row group of some shards, one in memory at a time, with its metadata."""
    for path in paths:
        with open_shard(path) as file:
            for number in range(file.num_row_groups):
                table = file.read_row_group(number, columns=columns and list(columns))
                yield table, file.metadata.row_group(number)


def rows(paths: Sequence[Path], columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of some shards in order; all columns by default."""
    for table, _ in groups(paths, columns):
        yield from table.to_pylist()


def rows_where(paths: Sequence[Path], column: str, value: object) -> Iterator[dict[str, Any]]:
    """Yield the rows with ``value`` in ``column``. Of row groups without one only that column is
    read."""
    for path in paths:
        with open_shard(path) as file:
            for number in range(file.num_row_groups):
                keys = file.read_row_group(number, columns=[column]).column(0).to_pylist()
                if places := [place for place, key in enumerate(keys) if key == value]:
                    yield from file.read_row_group(number).take(places).to_pylist()


def open_shard(path: Path) -> pq.ParquetFile:
    """Open one shard; raises ``UsageError`` when it is no Parquet file."""
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise UsageError(
            f"{path}: cannot be read as a release shard ({str(error).splitlines()[0]}); build again"
        ) from None


Row = Mapping[str, Any]

NESTED: Final = ("data", "test_features", "calibration")
"""Columns of ``<track>_scenes`` that hold tables."""


@dataclass(frozen=True, slots=True)
class SplitTables:
    """The rows of one track of one split, of both sides, by id in file order.

    ``private`` says that its truth is private. ``scenes`` are keyed by instance and view, ``truth``
    by task, ``worlds`` by instance. ``positions`` are places of tasks in an exam.
    """

    split: str
    track: str
    private: bool
    tasks: Mapping[str, TaskRow]
    scenes: Mapping[tuple[str, str], SceneRow]
    positions: Mapping[str, int]
    truth: Mapping[str, Mapping[str, Any]]
    worlds: Mapping[str, Mapping[str, Any]]


def split_tables(
    release: Path, track: str, split: str, keep: Callable[[str], bool] = lambda _: True
) -> SplitTables:
    """Return the rows of one track of one split, for the instances whose ids ``keep`` accepts.
    Raises ``UsageError`` when its private side is not there."""
    public = public_side(release)
    truth_root = truth_side(release, track, split)
    tasks, scenes = (
        _placed_rows(shards(public, name, split), keep) for name in (track, f"{track}_scenes")
    )
    truth, worlds = (
        rows(shards(truth_root, f"{track}_{name}", split)) for name in ("truth", "worlds")
    )
    return SplitTables(
        split=split,
        track=track,
        private=truth_root != public,
        tasks={row["task_id"]: task_row(row, place) for row, place in tasks},
        scenes={(row["instance_id"], row["view"]): scene_row(row, place) for row, place in scenes},
        positions={
            row["task_id"]: row["position"] for row in rows(shards(public, f"{track}_exams", split))
        },
        truth={row["task_id"]: row for row in truth if keep(row["instance_id"])},
        worlds={row["instance_id"]: row for row in worlds if keep(row["instance_id"])},
    )


def truth_side(release: Path, track: str, split: str) -> Path:
    """Return the side that holds a track's truth of a split; raises ``UsageError`` if none does."""
    public, private = public_side(release), release / "private"
    side = public if shards(public, f"{track}_truth", split) else private
    if not shards(side, f"{track}_truth", split):
        raise UsageError(
            f"{side / (track + '_truth')}: no truth of split '{split}'; "
            "put the private side beside the public one"
        )
    return side


def _series(cell: pa.Scalar) -> list[dict[str, Any]]:
    """Return the cell of one nested table as ``[{"name": ..., "values": array}, ...]``."""
    series = cell.values
    if series is None or len(series) == 0:
        return []
    values = series.field("values")
    bounds = values.offsets.to_numpy()
    flat = values.values.to_numpy(zero_copy_only=False)
    return [
        {"name": name, "values": flat[start:end]}
        for name, start, end in zip(
            series.field("name").to_pylist(), bounds[:-1], bounds[1:], strict=True
        )
    ]


def _placed_rows(
    paths: Sequence[Path], keep: Callable[[str], bool]
) -> Iterator[tuple[dict[str, Any], RowPlace]]:
    """Yield the rows of all shards of a config, each with its place."""
    position = 0
    for group, meta in groups(paths):
        for offset, row in enumerate(table_rows(group)):
            if keep(row["instance_id"]):
                yield row, RowPlace(position + offset, offset, meta.total_byte_size)
        position += meta.num_rows


def table_rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table; the values of nested tables are arrays."""
    nested = [name for name in NESTED if name in table.column_names]
    tables = {name: [_series(cell) for cell in table.column(name)] for name in nested}
    for offset, row in enumerate(table.drop_columns(nested).to_pylist()):
        yield {**row, **{name: cells[offset] for name, cells in tables.items()}}


def task_row(row: Mapping[str, Any], place: RowPlace) -> TaskRow:
    """Return a row of ``<track>`` as a task, with its inputs parsed."""
    told = {**row, "inputs": json.loads(row["inputs_json"]), "place": place}
    return TaskRow(**{name: told[name] for name in TaskRow.__slots__})


def scene_row(row: Mapping[str, Any], place: RowPlace) -> SceneRow:
    """Return a row of ``<track>_scenes`` as a scene, with the names and lengths of its nested
    tables only. Raises ``UsageError`` when the columns of a table differ in length."""
    names, lengths = [], []
    for table in (row["data"], row["test_features"]):
        sizes = {len(series["values"]) for series in table} or {0}
        if len(sizes) != 1:
            raise UsageError(f"a nested table has columns of different lengths {sorted(sizes)}")
        names.append(tuple(series["name"] for series in table))
        lengths.append(sizes.pop())
    columns = tuple((column["name"], column["kind"]) for column in row["columns"])
    told = (row["instance_id"], row["view"], row["story"])
    return SceneRow(*told, columns, names[0], names[1], (lengths[0], lengths[1]), place)


_NOWHERE: Final = RowPlace(0, 0, 0)
"""Parts have no place in a file yet."""


@dataclass(frozen=True, slots=True)
class PartRows:
    """All rows of some instances.

    ``tables`` has no positions in exams, and places in files are 0. ``tasks``, ``truths`` and
    ``labels`` are rows as they stand, by instance, ``scenes`` in order of instance and view.
    """

    tables: SplitTables
    tasks: Mapping[str, Sequence[Row]]
    truths: Mapping[str, Sequence[Row]]
    labels: Mapping[str, Row]
    scenes: Sequence[Row]


def read_part(part: Part) -> PartRows:
    """Return all rows of a staged part."""
    track = part.origin.track
    tasks, truths = _rows(part, track), _rows(part, f"{track}_truth")
    scenes = sorted(_rows(part, f"{track}_scenes"), key=lambda r: (r["instance_id"], r["view"]))
    tables = SplitTables(
        split=part.origin.split,
        track=track,
        private=part.origin.private,
        tasks={row["task_id"]: task_row(row, _NOWHERE) for row in tasks},
        scenes={(row["instance_id"], row["view"]): scene_row(row, _NOWHERE) for row in scenes},
        positions={},
        truth={row["task_id"]: row for row in truths},
        worlds={row["instance_id"]: row for row in _rows(part, f"{track}_worlds")},
    )
    labels = {row["instance_id"]: row for row in _rows(part, f"{track}_labels")}
    return PartRows(tables, _by_instance(tasks), _by_instance(truths), labels, scenes)


def _rows(part: Part, config: str) -> list[dict[str, Any]]:
    """Return the rows of a config of the part; none if the part has no such config."""
    return list(table_rows(read_staged(part.folder, config))) if config in part.configs else []


def _by_instance(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["instance_id"]].append(row)
    return found
