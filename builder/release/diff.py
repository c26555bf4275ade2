"""The differences of two releases: files, manifests, and every column of every config.

Rows are matched by id, so that a new row does not make all later ones look changed. Of a column of
numbers the largest difference is told: the last digit, as another processor may give it, or more.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa

from builder.release.reader import SIDES, configs, open_shard, public_side, shards, splits
from grader.errors import UsageError
from grader.io import parquet
from grader.io.files import file_sha256
from grader.io.printing import plural

EXAMPLES: Final = 3
"""Keys of rows that a line names."""
KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "_exams": ("exam", "position"),
    "_scenes": ("instance_id", "view"),
}
"""Row keys by ending of the config; elsewhere the first column is the id."""


def diff_releases(a: Path, b: Path) -> list[str]:
    """Return the differences of release ``b`` from release ``a``, as lines for people; empty if no
    file differs. Raises ``UsageError`` when one of the folders is no release."""
    for folder in (a, b):
        public_side(folder)
    lines: list[str] = []
    for side in SIDES:
        here, there = (a / side).is_dir(), (b / side).is_dir()
        if here and there:
            lines += _manifest_lines(side, a / side, b / side)
            lines += _table_lines(a / side, b / side)
        elif here or there:
            lines.append(f"{side}: {_only_in(here)}")
    first, second = (
        {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
        for root in (a, b)
    )
    for name in sorted(first.keys() | second.keys()):
        if not name.endswith((".parquet", "/manifest.json")):
            if name not in first or name not in second:
                lines.append(f"{name}: {_only_in(name in first)}")
            elif first[name].read_bytes() != second[name].read_bytes():
                lines.append(f"{name}: differs")
    return lines


def _only_in(first: object) -> str:
    return f"only in {'the first' if first else 'the second'}"


def _manifest_lines(side: str, a: Path, b: Path) -> Iterator[str]:
    """Yield a line that names the members that differ in the manifests of a side, those apart that
    follow from its rows. Manifests may be of another format."""
    try:
        first, second = (json.loads((root / "manifest.json").read_bytes()) for root in (a, b))
        keys = sorted((first.keys() | second.keys()) - {"shards", "configs"})
    except (OSError, ValueError, AttributeError):
        what = f"{a / 'manifest.json'} or {b / 'manifest.json'}: cannot be read; build it again"
        raise UsageError(what) from None
    if changed := [key for key in keys if first.get(key) != second.get(key)]:
        yield f"{side} manifest: {', '.join(changed)} differ"


def _table_lines(a: Path, b: Path) -> Iterator[str]:
    """Yield the differences of all configs of one side; ``a`` and ``b`` are its folders."""
    for config in sorted({*configs(a), *configs(b)}):
        for split in sorted({*splits(a, config), *splits(b, config)}):
            first, second = shards(a, config, split), shards(b, config, split)
            if not first or not second:
                yield f"{config}/{split}: {_only_in(first)}"
            elif [*map(file_sha256, first)] != [*map(file_sha256, second)]:
                yield from _config_lines(config, split, first, second)


def _config_lines(
    config: str, split: str, first: Sequence[Path], second: Sequence[Path]
) -> Iterator[str]:
    """Yield the differences of one config and split between the shards of two releases: of rows by
    an anti-join of their keys, of cells by a join."""
    old, new = (open_shard(paths[0]).schema_arrow for paths in (first, second))
    ids = next((ids for end, ids in KEYS.items() if config.endswith(end)), (old.names[0],))
    key = ", ".join(map(parquet.identifier, ids))
    few = f"list(concat_ws('/', {key}) ORDER BY {key})[:{EXAMPLES + 1}]"
    absent = (
        f"SELECT count(*), {few} FROM {parquet.SCAN} x ANTI JOIN {parquet.SCAN} y USING ({key})"
    )
    added, removed = _query(absent, second, first), _query(absent, first, second)
    details = [
        f"  {label}: {_examples(names)}"
        for label, (count, names) in {"added": added, "removed": removed}.items()
        if count
    ]
    details += [
        f"  {name}: column {_only_in(name in old.names)}"
        for name in sorted({*old.names} ^ {*new.names})
    ]
    cells, conditions = f"FROM {parquet.SCAN} x JOIN {parquet.SCAN} y USING ({key}) WHERE", []
    for name in (name for name in old.names if name in new.names and name not in ids):
        x, y = (f"{side}.{parquet.identifier(name)}" for side in "xy")
        conditions.append(f"{x} IS DISTINCT FROM {y}")
        numbers = "NULL, NULL"
        if pa.types.is_floating(old.field(name).type) or pa.types.is_integer(old.field(name).type):
            gap = f"abs({x}::DOUBLE - {y}::DOUBLE)"
            numbers = f"max({gap}), max({gap} / greatest(abs({x}::DOUBLE), abs({y}::DOUBLE)))"
        query = f"SELECT count(*), {few}, {numbers} {cells} {conditions[-1]}"
        count, names, absolute, relative = _query(query, first, second)
        if count:
            line = f"  {name}: {plural(count, 'row')} changed ({_examples(names)})"
            if absolute is not None:
                line += f"; largest difference {absolute:.3g} absolute, {relative:.3g} relative"
            details.append(line)
    (changed,) = _query(
        f"SELECT count(*) {cells} {' OR '.join(conditions) or 'false'}", first, second
    )
    yield f"{config}/{split}: {added[0]} rows added, {removed[0]} removed, {changed} changed"
    yield from details or ["  the same rows, stored differently (order, row groups or encoding)"]


def _query(query: str, x: Sequence[Path], y: Sequence[Path]) -> tuple[Any, ...]:
    """Return the one row of a query whose two parameters are the shards ``x`` and ``y``."""
    files = [[parquet.literal(path) for path in paths] for paths in (x, y)]
    with parquet.connect() as connection:
        try:
            (row,) = connection.execute(query, files).fetchall()
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise UsageError(f"{x[0]} and {y[0]}: cannot be compared ({reason})") from None
    return tuple(row)


def _examples(names: Sequence[str]) -> str:
    return ", ".join(names[:EXAMPLES]) + (", ..." if len(names) > EXAMPLES else "")
