"""The search for anything private of a split in the public repository.

Keys and salts are looked for in every text there is; whole worlds in the papers and in the shards
of private splits, as a large split of public truth beside them is gigabytes of prompts.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from builder.release.reader import SHARD, configs, open_shard, rows, shards, splits

_KEY_DIGITS: Final = 64
"""Hexadecimal digits of a key or a salt."""
_HEX: Final = rf"[0-9a-f]{{{_KEY_DIGITS},}}"


def secrecy_problems(release: Path) -> list[str]:
    """Return a line for each private thing in the public side of a release: configs first.

    Empty if there is none, or no private side. A private column in a public config is not looked
    for here, as the rule of schemas finds it.
    """
    public, private = release / "public", release / "private"
    if not private.is_dir():
        return []
    keys, worlds = read_secrets(private)
    hidden = {(split, config) for config in configs(private) for split in splits(private, config)}
    published = [
        f"public/{config}: private config of split {split} is public"
        for split, config in sorted(hidden)
        if shards(public, config, split)
    ]
    found = set[str]()
    for path in sorted(path for path in public.rglob("*") if path.is_file()):
        shard = SHARD.fullmatch(path.name)
        whole = shard is None or shard["split"] in {split for split, _ in hidden}
        for text in _texts(path, os.path.commonprefix([*worlds])):  # noqa: RUF071
            for run in re.findall(_HEX, text):  # a key may begin anywhere in a run of digits
                parts = (run[at : at + _KEY_DIGITS] for at in range(len(run) - _KEY_DIGITS + 1))
                found |= {keys[part] for part in parts if part in keys}
            if whole:
                found |= {told for world, told in worlds.items() if world in text}
    return [*published, *sorted(found)]


def read_secrets(private: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts that must not be public, each with the line that reports it: keys of private
    instances and salts of commitments (64 hexadecimal digits), and whole worlds as JSON.

    ``private`` is the folder of the private side.
    """
    keys, worlds = dict[str, str](), dict[str, str]()
    for config in (config for config in configs(private) if config.endswith("_worlds")):
        for split in splits(private, config):
            paths = shards(private, config, split)
            for row in rows(paths, ["instance_id", "world_key", "world_json"]):
                keys[row["world_key"]] = (
                    f"{row['instance_id']}: its key is in the public repository"
                )
                told = f"{row['instance_id']}: its world is in the public repository"
                worlds[row["world_json"]] = told
    salts = json.loads((private / "manifest.json").read_bytes()).get("salts", {})
    for split, own in salts.items():
        keys |= {salt: f"the salt '{name}' of {split} is public" for name, salt in own.items()}
    return keys, worlds


def _texts(path: Path, begin: str) -> Iterator[str]:
    """Yield the texts of a public file in which a secret may be.

    They are a whole paper or, of a shard, its metadata and those cells of text, at any depth, that
    hold a run of digits as long as a key or ``begin``, with which all worlds begin.
    """
    if path.suffix != ".parquet":
        yield path.read_text(encoding="utf-8", errors="replace")
        return
    with open_shard(path) as file:
        yield repr(file.metadata.metadata or {})
        leaves = (file.schema.column(place) for place in range(len(file.schema)))
        names = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        for number in range(file.num_row_groups):
            for column in file.read_row_group(number, columns=names).columns:
                for cells in _strings(column.combine_chunks()):
                    may_be = pc.or_(
                        pc.match_substring_regex(cells, _HEX), pc.match_substring(cells, begin)
                    )
                    yield from cells.filter(may_be).to_pylist()


def _strings(array: pa.Array) -> Iterator[pa.Array]:
    """Yield the arrays of text inside an array, at any depth."""
    if pa.types.is_string(array.type):
        yield array
    elif pa.types.is_list(array.type):
        yield from _strings(array.flatten())
    elif pa.types.is_struct(array.type):
        for child in array.flatten():
            yield from _strings(child)
