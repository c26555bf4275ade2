"""What changed between two releases: files, manifests, and every column of every config.

Rows are matched by id, so that a new row does not make all later ones look changed. Numbers are
compared wherever they sit (columns, nested tables, ``*_json`` texts); a relative difference under
:data:`NOISE` is what another processor's last digits may do, and is called that.
"""

import filecmp
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import duckdb

from builder.release.reader import SIDES, column_names, configs, shards, splits
from grader.errors import UsageError
from grader.io import parquet
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
_FOLLOWS_FROM_ROWS: Final = ("shards", "configs")
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
        if not (folder / "public" / "manifest.json").is_file():
            raise UsageError(
                f"{folder}: no release there (public/manifest.json is absent); name the folder "
                "that `build --out` wrote"
            )
    lines: list[str] = []
    for side in SIDES:
        here, there = (a / side).is_dir(), (b / side).is_dir()
        if here and there:
            lines += _manifest_lines(side, a / side, b / side)
            lines += _table_lines(a / side, b / side)
        elif here or there:
            lines.append(f"{side}: {_only_in(here)}")
    first, second = _files(a), _files(b)
    lines += _paper_lines(first, second)
    return DiffReport(not lines, tuple(lines) or (f"identical: {len(first)} files",))


def _only_in(first: object) -> str:
    return f"only in {'the first' if first else 'the second'}"


def _files(root: Path) -> dict[str, Path]:
    return {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}


def _paper_lines(first: Mapping[str, Path], second: Mapping[str, Path]) -> Iterator[str]:
    """Files other than shards and manifests."""
    for name in sorted(first.keys() | second.keys()):
        if name.endswith((".parquet", "/manifest.json")):
            continue
        if name not in first or name not in second:
            yield f"{name}: {_only_in(name in first)}"
        elif not filecmp.cmp(first[name], second[name], shallow=False):
            yield f"{name}: differs"


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
    file = root / "manifest.json"
    try:
        manifest = json.loads(file.read_bytes())
    except (OSError, ValueError):
        raise UsageError(f"{file}: cannot be read; build the release again") from None
    if not isinstance(manifest, dict):
        raise UsageError(f"{file}: not a JSON object; build the release again")
    return {key: value for key, value in manifest.items() if key not in _FOLLOWS_FROM_ROWS}


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
            elif not _same_bytes(first, second):
                yield from _config_lines(config, split, first, second)


def _same_bytes(first: Sequence[Path], second: Sequence[Path]) -> bool:
    return [path.name for path in first] == [path.name for path in second] and all(
        filecmp.cmp(p, q, shallow=False) for p, q in zip(first, second, strict=True)
    )


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
            changes = _Changes(name)
            for *row, before, after in _ask(cells, first, second):
                changes.add(tuple(row), before, after)
            touched.update(changes.rows, changes.noisy)
            details += changes.line()
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


@dataclass(slots=True)
class _Changes:
    """How one column differs: rows with other content, rows with noise alone, largest errors."""

    column: str
    rows: list[Key] = field(default_factory=list)
    noisy: list[Key] = field(default_factory=list)
    absolute: float = 0.0
    relative: float = 0.0

    def add(self, key: Key, old: object, new: object) -> None:
        """Counts a row whose cell differs."""
        absolute, relative = _distance(self._read(old), self._read(new))
        (self.rows if relative >= NOISE else self.noisy).append(key)
        if math.isfinite(relative):
            self.absolute = max(self.absolute, absolute)
            self.relative = max(self.relative, relative)

    def line(self) -> list[str]:
        """The line about the column, none where nothing differs."""
        parts = []
        if self.rows:
            parts.append(f"{_counted(self.rows)} changed ({_shown(self.rows)})")
        if self.noisy:
            parts.append(f"{_counted(self.noisy)} with numerical noise (under {NOISE:g} relative)")
        if self.relative > 0:
            parts.append(
                f"largest difference {self.absolute:.3g} absolute, {self.relative:.3g} relative"
            )
        return [f"  {self.column}: {'; '.join(parts)}"] if parts else []

    def _read(self, cell: object) -> object:
        """``*_json`` texts as what they say."""
        if self.column.endswith("_json") and isinstance(cell, str):
            try:
                return json.loads(cell)
            except ValueError:
                return cell
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
