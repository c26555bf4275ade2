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
from grader.io.jsonio import clip

EXAMPLES: Final = 3
"""Keys of rows that a line names."""
MAX_MANIFEST_LINES: Final = 20
"""Members of a manifest that are listed."""
KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "_exams": ("exam", "position"),
    "_scenes": ("instance_id", "view"),
}
"""Row keys by ending of the config; elsewhere the first column is the id."""
Key = tuple[Any, ...]
"""The values of a row's key columns."""


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
    first, second = _files(a), _files(b)
    for name in sorted(first.keys() | second.keys()):
        if not name.endswith((".parquet", "/manifest.json")):
            if name not in first or name not in second:
                lines.append(f"{name}: {_only_in(name in first)}")
            elif first[name].read_bytes() != second[name].read_bytes():
                lines.append(f"{name}: differs")
    return lines


def _only_in(first: object) -> str:
    """Return the words for something that only one of two releases has: the first if ``first`` is
    true."""
    return f"only in {'the first' if first else 'the second'}"


def _files(root: Path) -> dict[str, Path]:
    """Return every file below ``root`` by its relative path."""
    return {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}


def _manifest_lines(side: str, a: Path, b: Path) -> Iterator[str]:
    """Yield a line for each member that differs in the manifests of the same side of two releases.

    Of many only the first, and how many more there are. Members that follow from the rows are not
    compared.
    """
    first, second = (dict(_leaves(_manifest(root))) for root in (a, b))
    keys = sorted(first.keys() | second.keys())
    changed = [key for key in keys if first.get(key) != second.get(key)]
    for key in changed[:MAX_MANIFEST_LINES]:
        old, new = (clip(m[key], 40) if key in m else "absent" for m in (first, second))
        yield f"{side} manifest, {key}: {old} -> {new}"
    if len(changed) > MAX_MANIFEST_LINES:
        yield f"{side} manifest: {len(changed) - MAX_MANIFEST_LINES} more members differ"


def _manifest(root: Path) -> dict[str, Any]:
    """Return the manifest in the folder of a side without the members that follow from its rows.

    It may be of another format. Raises ``UsageError`` when it cannot be read.
    """
    try:
        members = json.loads((root / "manifest.json").read_bytes()).items()
    except (OSError, ValueError, AttributeError):
        raise UsageError(f"{root / 'manifest.json'}: cannot be read; build it again") from None
    return {key: value for key, value in members if key not in ("shards", "configs")}


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield the dotted path and the value of every nested member that holds no members itself."""
    if isinstance(value, dict) and value:
        for key, member in value.items():
            yield from _leaves(member, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def _table_lines(a: Path, b: Path) -> Iterator[str]:
    """Yield the differences of all configs of one side; ``a`` and ``b`` are its folders."""
    for config in sorted({*configs(a), *configs(b)}):
        for split in sorted({*splits(a, config), *splits(b, config)}):
            first, second = shards(a, config, split), shards(b, config, split)
            if not first or not second:
                yield f"{config}/{split}: {_only_in(first)}"
            elif [(p.name, file_sha256(p)) for p in first] != [
                (p.name, file_sha256(p)) for p in second
            ]:
                yield from _config_lines(config, split, first, second)


def _config_lines(
    config: str, split: str, first: Sequence[Path], second: Sequence[Path]
) -> Iterator[str]:
    """Yield the differences of one config and split between the shards of two releases.

    Rows are compared by an anti-join of their keys, cells by a join.
    """
    old, new = (open_shard(paths[0]).schema_arrow for paths in (first, second))
    ids = next((ids for end, ids in KEYS.items() if config.endswith(end)), (old.names[0],))
    key = ", ".join(parquet.identifier(name) for name in ids)
    absent = f"FROM {parquet.SCAN} x ANTI JOIN {parquet.SCAN} y USING ({key}) ORDER BY {key}"
    added = _query(f"SELECT {key} {absent}", second, first)
    removed = _query(f"SELECT {key} {absent}", first, second)
    found = {"added": added, "removed": removed}
    details = [f"  {label}: {_examples(keys)}" for label, keys in found.items() if keys]
    details += [
        f"  {name}: column {_only_in(name in old.names)}"
        for name in sorted({*old.names} ^ {*new.names})
    ]
    changed: set[Key] = set()
    for name in old.names:
        if name in new.names and name not in ids:
            one, other = (f"{side}.{parquet.identifier(name)}" for side in "xy")
            numbers = f"{one}, {other}" if _holds_numbers(old.field(name)) else "NULL, NULL"
            query = (
                f"SELECT {key}, {numbers} FROM {parquet.SCAN} x JOIN {parquet.SCAN} y "
                f"USING ({key}) WHERE {one} IS DISTINCT FROM {other} ORDER BY {key}"
            )
            rows = _query(query, first, second)
            changed.update(row[:-2] for row in rows)
            details += _column_line(name, rows)
    if not details:
        details = ["  the same rows, stored differently (order, row groups or encoding)"]
    counts = f"{len(added)} rows added, {len(removed)} removed"
    yield f"{config}/{split}: {counts}, {len(changed)} changed"
    yield from details


def _holds_numbers(column: pa.Field) -> bool:
    """Tell whether a column holds floats or integers, not nested."""
    return bool(pa.types.is_floating(column.type) or pa.types.is_integer(column.type))


def _query(query: str, x: Sequence[Path], y: Sequence[Path]) -> list[Key]:
    """Return the rows of a query whose two parameters are the shards ``x`` and ``y``; raises
    ``UsageError``."""
    files = [[parquet.literal(path) for path in paths] for paths in (x, y)]
    with parquet.connect() as connection:
        try:
            return connection.execute(query, files).fetchall()
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise UsageError(f"{x[0]} and {y[0]}: cannot be compared ({reason})") from None


def _column_line(column: str, rows: Sequence[Key]) -> Iterator[str]:
    """Yield one line on a column that differs, none without ``rows``.

    These are the changed rows: the values of the key, then the old and the new number. Both are
    None where the column holds no numbers.
    """
    if rows:
        line = f"  {column}: {len(rows)} {'row' if len(rows) == 1 else 'rows'} changed"
        line += f" ({_examples([row[:-2] for row in rows])})"
        pairs = [(old, new) for *_, old, new in rows if None not in (old, new)]
        if pairs:
            gap = max(abs(old - new) for old, new in pairs)
            share = max(abs(old - new) / max(abs(old), abs(new)) for old, new in pairs)
            line += f"; largest difference {gap:.3g} absolute, {share:.3g} relative"
        yield line


def _examples(keys: Sequence[Key]) -> str:
    """Return the first ``EXAMPLES`` keys as text, with dots if there are more."""
    more = ", ..." if len(keys) > EXAMPLES else ""
    return ", ".join("/".join(map(str, key)) for key in keys[:EXAMPLES]) + more
