"""Whether anything private of a split stands somewhere in the public repository."""

import json
import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

import pyarrow as pa

from builder.gate.tables import SplitTables
from builder.release.reader import SHARD, column_names, configs, groups, open_shard, shards
from builder.tracks import TRACKS

SHARED_COLUMNS: Final = frozenset({"task_id", "instance_id"})
"""Columns that private configs have in common with public ones by design."""

_KEY_DIGITS: Final = 64
"""Hexadecimal digits of a key or a salt."""
_HEX: Final = re.compile(rf"[0-9a-f]{{{_KEY_DIGITS},}}")
_HEAD: Final = 80
"""Characters by which a world is told from others that begin alike."""


def secrecy_problems(public: Path, private: Path, table: SplitTables) -> list[str]:
    """Nothing of a private split's hidden side is anywhere in the public repository.

    Keys and salts are looked for in every text there is, whole worlds in the papers and in the
    split's own shards: a large public-truth split beside it is hundreds of megabytes of prompts.
    """
    problems = [
        f"public/{config}: private config of split {table.split} is public"
        for config in sorted(TRACKS[table.track].private)
        if shards(public, config, table.split)
    ]
    hidden = {
        name
        for config in configs(private)
        for name in column_names(shards(private, config, table.split))
    } - SHARED_COLUMNS
    for config in configs(public):
        names = set(column_names(shards(public, config, table.split)))
        problems += [f"{config}: has the private column {n}" for n in sorted(names & hidden)]
    files = [path for path in sorted(public.rglob("*")) if path.is_file()]
    state = tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in files)
    blob, runs = _public_text(state, table.split)
    shown = worlds_in(blob, {world["world_json"] for world in table.worlds.values()})
    for instance, world in table.worlds.items():
        if world["key"] in runs:
            problems.append(f"{instance}: its key is in the public repository")
        if world["world_json"] in shown:
            problems.append(f"{instance}: its world is in the public repository")
    salts = json.loads((private / "manifest.json").read_bytes()).get("salts", {})
    problems += [
        f"the salt '{name}' is public"
        for name, salt in salts.get(table.split, {}).items()
        if salt in runs
    ]
    return problems


def forget() -> None:
    """Let go of the public text that the tracks of one release share: hundreds of megabytes."""
    _public_text.cache_clear()


def worlds_in(blob: str, worlds: Collection[str]) -> set[str]:
    """Those of ``worlds`` that occur in ``blob``, found in one pass for all of them.

    All begin alike, so one search finds every place where one may begin; a few more characters
    then say which it could be.
    """
    if not worlds:
        return set()
    width = min(_HEAD, min(map(len, worlds)))
    heads: dict[str, list[str]] = {}
    for world in worlds:
        heads.setdefault(world[:width], []).append(world)
    low, high = min(heads), max(heads)
    alike = next(
        (n for n, pair in enumerate(zip(low, high, strict=False)) if len({*pair}) > 1), width
    )
    begin = low[:alike]
    found: set[str] = set()
    place = blob.find(begin)
    while place >= 0:
        members = heads.get(blob[place : place + width], ())
        found.update(world for world in members if blob.startswith(world, place))
        place = blob.find(begin, place + 1)
    return found


@lru_cache(maxsize=1)
def _public_text(
    state: tuple[tuple[Path, int, int], ...], split: str
) -> tuple[str, frozenset[str]]:
    """The text of papers and of a split's shards, and whatever could be a key in any text there is.

    Texts are papers, Parquet metadata, and string cells at any depth. ``state`` lists the files,
    with sizes and times: the tracks of one release share the reading, another release does not.
    """
    texts: list[str] = []
    runs: set[str] = set()
    for path, _, _ in state:
        found = list(_texts_of(path))
        for text in found:
            for run in _HEX.findall(text):
                runs.update(run[i : i + _KEY_DIGITS] for i in range(len(run) - _KEY_DIGITS + 1))
        match = SHARD.fullmatch(path.name)
        if match is None or match["split"] == split:
            texts += found
    return "\n".join(texts), frozenset(runs)


def _texts_of(path: Path) -> Iterator[str]:
    if path.suffix != ".parquet":
        yield path.read_text(encoding="utf-8", errors="replace")
        return
    with open_shard(path) as file:
        for key, value in (file.metadata.metadata or {}).items():
            yield f"{key!r} {value!r}"
    for table, _ in groups([path]):
        for column in table.columns:
            yield from _strings(column.combine_chunks())


def _strings(array: pa.Array) -> Iterator[str]:
    if pa.types.is_string(array.type):
        yield from (text for text in array.to_pylist() if text)
    elif pa.types.is_list(array.type):
        yield from _strings(array.flatten())
    elif pa.types.is_struct(array.type):
        for child in array.flatten():
            yield from _strings(child)
