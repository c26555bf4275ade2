"""What the gate reads of a written release: typed rows and where each row lies in its file.

The gate looks at a release as a stranger would: from the Parquet files alone, never from the
builder's memory.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from grader.errors import UsageError
from grader.tracks import TRACKS

SHARD: Final = re.compile(
    r"(?P<split>[A-Za-z0-9_]+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.parquet"
)
PRIVATE_PARTS: Final = ("truth", "labels", "worlds")
"""The configs ``<track>_<part>`` that hold what an exam must not give away."""


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


def shards(root: Path, config: str, split: str) -> list[Path]:
    """The Parquet files of ``config`` for ``split`` under ``root``, in shard order."""
    folder = root / config
    if not folder.is_dir():
        return []
    found = [(path, SHARD.fullmatch(path.name)) for path in sorted(folder.iterdir())]
    return [path for path, match in found if match is not None and match["split"] == split]


def configs(root: Path) -> list[str]:
    """The configs present under ``root`` (``public`` or ``private``), sorted."""
    return sorted({path.parent.name for path in root.glob("*/*-00000-of-*.parquet")})


def splits(root: Path, config: str) -> list[str]:
    """The splits that ``config`` has under ``root``, sorted."""
    found = (SHARD.fullmatch(path.name) for path in (root / config).glob("*.parquet"))
    return sorted({match["split"] for match in found if match is not None})


def tracks(public: Path) -> list[str]:
    """The tracks of which ``public`` holds tasks, in the grader's order."""
    return [track for track in TRACKS if splits(public, track)]


def public_side(release: Path) -> Path:
    """``release/public``; raises ``UsageError`` when there is no release."""
    public = release / "public"
    if not public.is_dir():
        raise UsageError(f"{release}: no release here (no folder 'public'); build one first")
    return public


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
        tasks={row.task_id: row for row in _tasks(shards(public, track, split))},
        scenes={
            (row.instance_id, row.view): row
            for row in _scenes(shards(public, f"{track}_scenes", split))
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


def rows(paths: Sequence[Path], columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """The rows of some shards, one row group in memory at a time."""
    for row, _ in placed_rows(paths, columns):
        yield row


def placed_rows(
    paths: Sequence[Path], columns: list[str] | None = None
) -> Iterator[tuple[dict[str, Any], Place]]:
    """The rows of some shards, each with its :class:`Place`."""
    for table, places in _groups(paths, columns):
        yield from zip(table.to_pylist(), places, strict=True)


def scene_rows(paths: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Rows of ``<track>_scenes``; values of the nested tables are float32 arrays, not lists."""
    for group, _ in _groups(paths, None):
        nested = [name for name in NESTED if name in group.column_names]
        plain = group.drop_columns(nested).to_pylist()
        tables = {name: [_series(cell) for cell in group.column(name)] for name in nested}
        for index, row in enumerate(plain):
            yield {**row, **{name: cells[index] for name, cells in tables.items()}}


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


def open_shard(path: Path) -> pq.ParquetFile:
    """Open one shard; raises ``UsageError`` when it is no Parquet file."""
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise UsageError(
            f"{path}: cannot be read as a release shard ({str(error).splitlines()[0]}); build again"
        ) from None


def _groups(
    paths: Sequence[Path], columns: list[str] | None
) -> Iterator[tuple[pa.Table, list[Place]]]:
    position = 0
    for shard, path in enumerate(paths):
        with open_shard(path) as file:
            for group in range(file.metadata.num_row_groups):
                meta = file.metadata.row_group(group)
                chunks = tuple(
                    meta.column(chunk).total_compressed_size for chunk in range(meta.num_columns)
                )
                sizes = (meta.total_byte_size, sum(chunks), *chunks)
                places = [
                    Place(position + offset, shard, group, offset, sizes)
                    for offset in range(meta.num_rows)
                ]
                position += meta.num_rows
                yield file.read_row_group(group, columns=columns), places


def _tasks(paths: Sequence[Path]) -> Iterator[TaskRow]:
    for row, place in placed_rows(paths):
        yield TaskRow(
            row["task_id"],
            row["instance_id"],
            row["rung"],
            row["family"],
            row["variant"],
            row["view"],
            row["input_mode"],
            row["prompt"],
            row["answer_schema"],
            row["answer_file"],
            json.loads(row["inputs_json"]),
            place,
        )


def _scenes(paths: Sequence[Path]) -> Iterator[SceneRow]:
    """Scene rows; the nested tables are only measured, never turned into Python numbers."""
    for table, places in _groups(paths, None):
        described = table.select(["instance_id", "view", "story", "columns"]).to_pylist()
        data, test = (_measure(table.column(name)) for name in ("data", "test_features"))
        for index, (row, place) in enumerate(zip(described, places, strict=True)):
            yield SceneRow(
                row["instance_id"],
                row["view"],
                row["story"],
                tuple((column["name"], column["kind"]) for column in row["columns"]),
                data[index][0],
                test[index][0],
                (data[index][1], test[index][1]),
                place,
            )


def _measure(column: pa.ChunkedArray) -> list[tuple[tuple[str, ...], int]]:
    """Names and length of each nested table ``list<struct<name, values>>``; 0 where empty."""
    measured: list[tuple[tuple[str, ...], int]] = []
    for cell in column:
        series = cell.values
        if series is None or len(series) == 0:
            measured.append(((), 0))
            continue
        names = tuple(series.field("name").to_pylist())
        lengths = set(series.field("values").value_lengths().to_pylist())
        if len(lengths) != 1:
            raise UsageError(f"a nested table has columns of different lengths {sorted(lengths)}")
        measured.append((names, lengths.pop()))
    return measured
