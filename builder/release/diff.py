"""What changed between two releases: files, manifests, and every column of every config.

Rows are matched by id, so that a new row does not make all later ones look changed. Numbers are
compared wherever they sit (columns, nested tables, ``*_json`` texts); a relative difference under
:data:`NOISE` is what another processor's last digits may do, and is called that.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from builder.gate.tables import configs, open_shard, shards, splits
from grader.errors import UsageError
from grader.io.jsonio import clip

NOISE: Final = 1e-6
"""Relative differences below this are numerical noise: float32 keeps six digits, truths nine."""
EXAMPLES: Final = 3
MAX_MANIFEST_LINES: Final = 20
SIDES: Final = ("public", "private")
KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "_exams": ("exam", "position"),
    "_scenes": ("instance_id", "view"),
}
"""Row keys by ending of the config; elsewhere the first column is the id."""
_FOLLOWS_FROM_ROWS: Final = ("shards", "configs", "commitments")

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class DiffReport:
    """``identical`` when no file differs; ``lines`` say what does, for people."""

    identical: bool
    lines: tuple[str, ...]


@dataclass(slots=True)
class _Change:
    """How one column differs: rows with other content, rows with noise alone, largest errors."""

    changed: list[Key] = field(default_factory=list)
    noisy: int = 0
    absolute: float = 0.0
    relative: float = 0.0

    def line(self, column: str) -> str:
        parts = []
        if self.changed:
            shown = ", ".join("/".join(map(str, key)) for key in self.changed[:EXAMPLES])
            more = ", ..." if len(self.changed) > EXAMPLES else ""
            rows = "row" if len(self.changed) == 1 else "rows"
            parts.append(f"{len(self.changed)} {rows} changed ({shown}{more})")
        if self.noisy:
            rows = "row" if self.noisy == 1 else "rows"
            parts.append(f"{self.noisy} {rows} with numerical noise (under {NOISE:g} relative)")
        if self.relative > 0:
            parts.append(
                f"largest difference {self.absolute:.3g} absolute, {self.relative:.3g} relative"
            )
        return f"  {column}: {'; '.join(parts)}"


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
        if (a / side).is_dir() != (b / side).is_dir():
            lines.append(f"{side}: only in {'the first' if (a / side).is_dir() else 'the second'}")
        elif (a / side).is_dir():
            lines += _manifest_lines(side, a / side, b / side)
            lines += _table_lines(a / side, b / side)
    lines += _paper_lines(a, b)
    if not lines:
        return DiffReport(True, (f"identical: {len(_files(a))} files",))
    return DiffReport(False, tuple(lines))


def _files(root: Path) -> dict[str, Path]:
    return {
        path.relative_to(root).as_posix(): path
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def _paper_lines(a: Path, b: Path) -> Iterator[str]:
    """Files other than shards and manifests."""
    first, second = _files(a), _files(b)
    for name in sorted(first.keys() | second.keys()):
        if name.endswith((".parquet", "/manifest.json")):
            continue
        if name not in first or name not in second:
            yield f"{name}: only in {'the first' if name in first else 'the second'}"
        elif first[name].read_bytes() != second[name].read_bytes():
            yield f"{name}: differs"


def _manifest_lines(side: str, a: Path, b: Path) -> Iterator[str]:
    """Members that do not merely follow from the rows."""
    first, second = (dict(_flat(_manifest(root))) for root in (a, b))
    changed = [key for key in sorted(first.keys() | second.keys())
               if first.get(key) != second.get(key)]  # fmt: skip
    for key in changed[:MAX_MANIFEST_LINES]:
        yield (f"{side} manifest, {key}: {_shown(first, key)} -> {_shown(second, key)}")
    if len(changed) > MAX_MANIFEST_LINES:
        yield f"{side} manifest: {len(changed) - MAX_MANIFEST_LINES} more members differ"


def _shown(members: Mapping[str, object], key: str) -> str:
    return clip(members[key], 40) if key in members else "absent"


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
            where = f"{config}/{split}"
            if not first or not second:
                yield f"{where}: only in {'the first' if first else 'the second'}"
            elif not _same_bytes(first, second):
                yield from _config_lines(where, config, first, second)


def _same_bytes(first: list[Path], second: list[Path]) -> bool:
    return [path.name for path in first] == [path.name for path in second] and all(
        p.stat().st_size == q.stat().st_size and p.read_bytes() == q.read_bytes()
        for p, q in zip(first, second, strict=True)
    )


def _config_lines(where: str, config: str, first: list[Path], second: list[Path]) -> Iterator[str]:
    names = [open_shard(paths[0]).schema_arrow.names for paths in (first, second)]
    ending = next((ending for ending in KEYS if config.endswith(ending)), "")
    key_columns = KEYS.get(ending, tuple(names[0][:1]))
    keys = [_keys(paths, key_columns) for paths in (first, second)]
    added = [key for key in keys[1] if key not in keys[0]]
    removed = [key for key in keys[0] if key not in keys[1]]
    common = [key for key in keys[0] if key in keys[1]]
    details = [
        f"  {name}: column only in {'the first' if name in names[0] else 'the second'}"
        for name in sorted(set(names[0]) ^ set(names[1]))
    ]
    touched: set[Key] = set()
    for name in names[0]:
        if name in names[1] and name not in key_columns:
            change = _Change()
            touched |= _compare_column(name, (first, second), keys, common, change)
            if change.changed or change.noisy:
                details.append(change.line(name))
    if not (added or removed or details):
        details.append("  the same rows, stored differently (order, row groups or encoding)")
    yield f"{where}: {len(added)} rows added, {len(removed)} removed, {len(touched)} changed"
    for label, found in (("added", added), ("removed", removed)):
        if found:
            shown = ", ".join("/".join(map(str, key)) for key in found[:EXAMPLES])
            yield f"  {label}: {shown}{', ...' if len(found) > EXAMPLES else ''}"
    yield from details


def _read(paths: list[Path], columns: list[str]) -> pa.Table:
    """Some columns of a config; one column at a time keeps large tables in memory bounds."""
    return pa.concat_tables(
        [open_shard(path).read(columns=columns).replace_schema_metadata(None) for path in paths]
    )


def _keys(paths: list[Path], columns: tuple[str, ...]) -> dict[Key, int]:
    table = _read(paths, list(columns))
    values = [table.column(name).to_pylist() for name in columns]
    return {key: row for row, key in enumerate(zip(*values, strict=True))}


def _compare_column(
    name: str,
    sides: tuple[list[Path], list[Path]],
    keys: list[dict[Key, int]],
    common: list[Key],
    change: _Change,
) -> set[Key]:
    first, second = (_read(paths, [name]).column(0) for paths in sides)
    touched: set[Key] = set()
    for key in common:
        old, new = first[keys[0][key]], second[keys[1][key]]
        if old.equals(new):
            continue
        touched.add(key)
        absolute, relative = _distance(*(_value(name, cell.as_py()) for cell in (old, new)))
        if math.isinf(relative) or relative >= NOISE:
            change.changed.append(key)
        else:
            change.noisy += 1
        if math.isfinite(relative):
            change.absolute = max(change.absolute, absolute)
            change.relative = max(change.relative, relative)
    return touched


def _value(name: str, cell: object) -> object:
    """``*_json`` texts as what they say."""
    if name.endswith("_json") and isinstance(cell, str):
        try:
            return json.loads(cell)
        except ValueError:
            return cell
    return cell


def _distance(old: Any, new: Any) -> tuple[float, float]:
    """Largest absolute and relative difference of the numbers in two values.

    Relative to the larger of the two magnitudes. Infinite when something other than a number
    differs: a text, a length, a key, a null.
    """
    if isinstance(old, bool) or isinstance(new, bool) or old is None or new is None:
        return _apart(old is new)
    if isinstance(old, int | float) and isinstance(new, int | float):
        gap, size = abs(old - new), max(abs(old), abs(new))
        return float(gap), float(gap / size) if size > 0 else 0.0
    if isinstance(old, dict) and isinstance(new, dict):
        if old.keys() != new.keys():
            return _apart(False)
        return _largest(_distance(old[key], new[key]) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return _apart(False)
        if old and all(isinstance(value, float) for value in (*old, *new)):
            return _array_distance(np.array(old), np.array(new))
        return _largest(_distance(p, q) for p, q in zip(old, new, strict=True))
    return _apart(old == new)


def _apart(equal: bool) -> tuple[float, float]:
    return (0.0, 0.0) if equal else (math.inf, math.inf)


def _array_distance(old: Any, new: Any) -> tuple[float, float]:
    gaps, sizes = np.abs(old - new), np.maximum(np.abs(old), np.abs(new))
    relative = np.divide(gaps, sizes, out=np.zeros_like(gaps), where=sizes > 0)
    return float(gaps.max()), float(relative.max())


def _largest(distances: Iterator[tuple[float, float]]) -> tuple[float, float]:
    absolute = relative = 0.0
    for gap, ratio in distances:
        absolute, relative = max(absolute, gap), max(relative, ratio)
    return absolute, relative
