"""What the gate reads of a written release: typed rows and where each row lies in its file.

The gate looks at a release as a stranger would: from the Parquet files alone, never from the
builder's memory.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from builder.release.reader import groups, public_side, rows, shards, splits
from grader.errors import UsageError
from grader.tracks import TRACKS


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row lies: everything the file layout says about it.

    ``group_bytes`` are the uncompressed and compressed sizes of the row's group, in bytes, then
    the compressed size of each of its column chunks.
    """

    position: int
    shard: int
    group: int
    offset: int
    group_bytes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One row of ``<track>``."""

    task_id: str
    instance_id: str
    track: str
    rung: int
    family: str
    variant: str
    view: str
    input_mode: str
    prompt: str
    answer_schema: str
    answer_file: str
    inputs: Mapping[str, Any]
    place: Place

    @property
    def key(self) -> str:
        """``family.variant``."""
        return f"{self.family}.{self.variant}"


NESTED: Final = ("data", "test_features", "calibration")
"""Columns of ``<track>_scenes`` that hold tables."""


@dataclass(frozen=True, slots=True)
class SceneRow:
    """One row of ``<track>_scenes`` without its tables; ``rows`` counts them (train, test)."""

    instance_id: str
    view: str
    story: str
    columns: tuple[tuple[str, str], ...]
    data_columns: tuple[str, ...]
    test_columns: tuple[str, ...]
    rows: tuple[int, int]
    place: Place


@dataclass(frozen=True, slots=True)
class SplitTables:
    """One track of one split, both sides. Mappings are in file order."""

    split: str
    track: str
    private: bool
    tasks: Mapping[str, TaskRow]
    scenes: Mapping[tuple[str, str], SceneRow]
    exams: tuple[tuple[str, int, str], ...]
    truth: Mapping[str, Mapping[str, Any]]
    worlds: Mapping[str, Mapping[str, Any]]


def tracks(public: Path) -> list[str]:
    """The tracks of which ``public`` holds tasks, in the grader's order."""
    return [track for track in TRACKS if splits(public, track)]


def split_tables(release: Path, track: str, split: str) -> SplitTables:
    """Read one track of one split; raises ``UsageError`` when its private side is not there."""
    public, private = public_side(release), release / "private"
    hidden = not shards(public, f"{track}_truth", split)
    truth_root = private if hidden else public
    if not shards(truth_root, f"{track}_truth", split):
        raise UsageError(
            f"{truth_root / (track + '_truth')}: no truth of split '{split}'; "
            "put the private side beside the public one"
        )
    return SplitTables(
        split=split,
        track=track,
        private=hidden,
        tasks={
            row["task_id"]: _task(row, place)
            for row, place in _placed_rows(shards(public, track, split))
        },
        scenes={
            (row["instance_id"], row["view"]): _scene(row, place)
            for row, place in _placed_rows(shards(public, f"{track}_scenes", split))
        },
        exams=tuple(
            (row["exam"], row["position"], row["task_id"])
            for row in rows(shards(public, f"{track}_exams", split))
        ),
        truth={row["task_id"]: row for row in rows(shards(truth_root, f"{track}_truth", split))},
        worlds={
            row["instance_id"]: row for row in rows(shards(truth_root, f"{track}_worlds", split))
        },
    )


def scene_rows(paths: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Rows of ``<track>_scenes``; values of the nested tables are float32 arrays, not lists."""
    return (row for row, _ in _placed_rows(paths))


def _series(cell: pa.Scalar) -> list[dict[str, Any]]:
    """One nested table as ``[{"name": ..., "values": array}, ...]``."""
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


def _placed_rows(paths: Sequence[Path]) -> Iterator[tuple[dict[str, Any], Place]]:
    """The rows of some shards and where each lies; nested tables as :func:`_series` gives them."""
    position = 0
    for shard, path in enumerate(paths):
        for number, (group, meta) in enumerate(groups([path])):
            chunks = [meta.column(chunk).total_compressed_size for chunk in range(meta.num_columns)]
            sizes = (meta.total_byte_size, sum(chunks), *chunks)
            nested = [name for name in NESTED if name in group.column_names]
            tables = {name: [_series(cell) for cell in group.column(name)] for name in nested}
            for offset, row in enumerate(group.drop_columns(nested).to_pylist()):
                shown = {name: cells[offset] for name, cells in tables.items()}
                yield {**row, **shown}, Place(position + offset, shard, number, offset, sizes)
            position += meta.num_rows


def _task(row: Mapping[str, Any], place: Place) -> TaskRow:
    told = {**row, "inputs": json.loads(row["inputs_json"]), "place": place}
    return TaskRow(**{name: told[name] for name in TaskRow.__slots__})


def _scene(row: Mapping[str, Any], place: Place) -> SceneRow:
    """A scene row; the nested tables are only measured, never turned into Python numbers."""
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
