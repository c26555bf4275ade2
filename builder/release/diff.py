"""What changed between two releases: files, manifests, and every column of every config.

Rows are matched by id, so that a new row does not make all later ones look changed. Numbers are
compared wherever they sit (columns, nested tables, ``*_json`` texts); a relative difference under
:data:`NOISE` is what another processor's last digits may do, and is called that.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb

from builder.release.reader import SIDES, column_names, configs, public_side, shards, splits
from grader.errors import UsageError
from grader.io import parquet
from grader.io.files import file_sha256
from grader.io.jsonio import clip

NOISE: Final = 1e-6
"""Relative differences below this are numerical noise: float32 keeps six digits, truths nine."""
EXAMPLES: Final = 3
MAX_MANIFEST_LINES: Final = 20
KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "_exams": ("exam", "position"),
    "_scenes": ("instance_id", "view"),
}
"""Row keys by ending of the config; elsewhere the first column is the id."""
_ROWS_AT_ONCE: Final = 100
_NUMBER: Final = object()

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class DiffReport:
    """``identical`` when no file differs; ``lines`` say what does, for people."""

    identical: bool
    lines: tuple[str, ...]


def diff_releases(a: Path, b: Path) -> DiffReport:
    """Compare two release folders; raises ``UsageError`` when one of them is none."""
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
    return DiffReport(not lines, tuple(lines) or (f"identical: {len(first)} files",))


def _only_in(first: object) -> str:
    return f"only in {'the first' if first else 'the second'}"


def _files(root: Path) -> dict[str, Path]:
    return {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}


def _manifest_lines(side: str, a: Path, b: Path) -> Iterator[str]:
    """Members that do not merely follow from the rows."""
    first, second = (dict(_flat(_manifest(root))) for root in (a, b))
    keys = sorted(first.keys() | second.keys())
    changed = [key for key in keys if first.get(key) != second.get(key)]
    for key in changed[:MAX_MANIFEST_LINES]:
        old, new = (clip(m[key], 40) if key in m else "absent" for m in (first, second))
        yield f"{side} manifest, {key}: {old} -> {new}"
    if len(changed) > MAX_MANIFEST_LINES:
        yield f"{side} manifest: {len(changed) - MAX_MANIFEST_LINES} more members differ"


def _manifest(root: Path) -> dict[str, Any]:
    """Return the manifest of a side, which may be of another format, without what follows from its
    rows; raises ``UsageError``."""
    try:
        members = json.loads((root / "manifest.json").read_bytes()).items()
    except (OSError, ValueError, AttributeError):
        raise UsageError(f"{root / 'manifest.json'}: cannot be read; build it again") from None
    return {key: value for key, value in members if key not in ("shards", "configs")}


def _flat(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, dict) and value:
        for key, member in value.items():
            yield from _flat(member, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def _table_lines(a: Path, b: Path) -> Iterator[str]:
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
    """Rows by anti-join of the ids, cells by join on them."""
    old, new = column_names(first), column_names(second)
    ids = next((ids for end, ids in KEYS.items() if config.endswith(end)), (old[0],))
    key = ", ".join(parquet.identifier(name) for name in ids)
    absent = f"FROM {parquet.SCAN} x ANTI JOIN {parquet.SCAN} y USING ({key}) ORDER BY {key}"
    found = {
        "added": list(_ask(f"SELECT {key} {absent}", second, first)),
        "removed": list(_ask(f"SELECT {key} {absent}", first, second)),
    }
    details = [f"  {label}: {_shown(keys)}" for label, keys in found.items() if keys]
    details += [f"  {name}: column {_only_in(name in old)}" for name in sorted({*old} ^ {*new})]
    touched: set[Key] = set()
    for name in old:
        if name in new and name not in ids:
            cell = parquet.identifier(name)
            cells = (
                f"SELECT {key}, x.{cell}, y.{cell} FROM {parquet.SCAN} x JOIN {parquet.SCAN} y "
                f"USING ({key}) WHERE x.{cell} IS DISTINCT FROM y.{cell} ORDER BY {key}"
            )
            changes = list(_ask(cells, first, second))
            touched.update(tuple(row) for *row, _, _ in changes)
            details += _column_line(name, changes)
    if not details:
        details = ["  the same rows, stored differently (order, row groups or encoding)"]
    counts = f"{len(found['added'])} rows added, {len(found['removed'])} removed"
    yield f"{config}/{split}: {counts}, {len(touched)} changed"
    yield from details


def _ask(query: str, x: Sequence[Path], y: Sequence[Path]) -> Iterator[Key]:
    """The rows of a query over two sets of shards, some in memory at a time."""
    files = [[parquet.literal(path) for path in paths] for paths in (x, y)]
    with parquet.connect() as connection:
        try:
            connection.execute(query, files)
            while rows := connection.fetchmany(_ROWS_AT_ONCE):
                yield from rows
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise UsageError(f"{x[0]} and {y[0]}: cannot be compared ({reason})") from None


def _column_line(column: str, changes: Sequence[Key]) -> Iterator[str]:
    """Yield how a column differs: rows with other content, rows with noise alone, the largest
    difference of numbers. A change is a row's key and its two cells."""
    rows, noisy, largest = list[Key](), list[Key](), (0.0, 0.0)
    for *key, old, new in changes:
        absolute, relative = _distance(_content(column, old), _content(column, new))
        (rows if relative >= NOISE else noisy).append(tuple(key))
        if math.isfinite(relative):
            largest = max(largest[0], absolute), max(largest[1], relative)
    parts = []
    if rows:
        parts.append(f"{_counted(rows)} changed ({_shown(rows)})")
    if noisy:
        parts.append(f"{_counted(noisy)} with numerical noise (under {NOISE:g} relative)")
    if largest[1] > 0:
        parts.append(f"largest difference {largest[0]:.3g} absolute, {largest[1]:.3g} relative")
    if parts:
        yield f"  {column}: {'; '.join(parts)}"


def _content(column: str, cell: object) -> object:
    """Return what a cell says: of ``*_json``, what is written there."""
    try:
        return json.loads(str(cell)) if column.endswith("_json") else cell
    except ValueError:
        return cell


def _counted(keys: Sequence[Key]) -> str:
    return f"{len(keys)} {'row' if len(keys) == 1 else 'rows'}"


def _shown(keys: Sequence[Key]) -> str:
    more = ", ..." if len(keys) > EXAMPLES else ""
    return ", ".join("/".join(map(str, key)) for key in keys[:EXAMPLES]) + more


def _distance(old: object, new: object) -> tuple[float, float]:
    """Largest absolute and relative difference of the numbers in two values.

    Relative to the larger of the two magnitudes. Infinite when something other than a number
    differs: a text, a length, a key, a null.
    """
    first: list[float] = []
    second: list[float] = []
    if _without_numbers(old, first) != _without_numbers(new, second):
        return math.inf, math.inf
    gaps = [(abs(x - y), max(abs(x), abs(y))) for x, y in zip(first, second, strict=True) if x != y]
    absolute = max((gap for gap, _ in gaps), default=0.0)
    return absolute, max((gap / size for gap, size in gaps), default=0.0)


def _without_numbers(value: object, numbers: list[float]) -> object:
    """``value`` with a sign in the place of each number, which is appended to ``numbers``."""
    if isinstance(value, dict):
        return {key: _without_numbers(value[key], numbers) for key in sorted(value)}
    if isinstance(value, list):
        return [_without_numbers(member, numbers) for member in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        numbers.append(value)
        return _NUMBER
    return value
