"""Reading a written release: which shards there are, and their rows a row group at a time. A *side*
is ``release/public`` or ``release/private``: a folder of configs, each with the shards of its
splits."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

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
    """Return the Parquet files of ``config`` for ``split`` on a side, in shard order; empty if
    none."""
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
    """Yield each row group of some shards as a table, one in memory at a time, with its
    metadata."""
    wanted = None if columns is None else list(columns)
    for path in paths:
        with open_shard(path) as file:
            for number in range(file.num_row_groups):
                table = file.read_row_group(number, columns=wanted)
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
                places = [place for place, key in enumerate(keys) if key == value]
                if places:
                    yield from file.read_row_group(number).take(places).to_pylist()


def open_shard(path: Path) -> pq.ParquetFile:
    """Open one shard; raises ``UsageError`` when it is no Parquet file."""
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise UsageError(
            f"{path}: cannot be read as a release shard ({str(error).splitlines()[0]}); build again"
        ) from None
