"""Whether anything private of a split stands somewhere in the public repository.

Of keys, salts and worlds only hashes of their beginnings are held, of the public text one row group
of a shard at a time: where a hash is met, what stands there is compared with the whole.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from builder.gate.roll import Roll
from builder.release.engine import Workers
from builder.release.reader import SHARD, column_names, configs, open_shard, rows, shards
from builder.tracks import TRACKS

SHARED_COLUMNS: Final = frozenset({"task_id", "instance_id"})
"""Columns that private configs have in common with public ones by design."""

_KEY_DIGITS: Final = 64
"""Hexadecimal digits of a key or a salt."""
_HEX: Final = re.compile(rf"[0-9a-f]{{{_KEY_DIGITS},}}")
_HAS_HEX: Final = rf"[0-9a-f]{{{_KEY_DIGITS}}}"
_HEAD: Final = 80
"""Characters by which a world is told from others that begin alike."""

Numbers = npt.NDArray[np.uint64]

Worlds = Callable[[], Iterable[str]]


def secrecy_problems(release: Path, hidden: Sequence[Roll], workers: Workers) -> list[list[str]]:
    """Of each roll whose truth is private what of its hidden side is anywhere in the public
    repository.

    Keys and salts are looked for in every text there is, whole worlds in the papers and in the
    shards of private splits: a large public-truth split beside them is gigabytes of prompts.
    """
    public, private = release / "public", release / "private"
    salts = {roll.split: _salts(private, roll.split) for roll in hidden}
    keys = (row["key"] for roll in hidden for row in _worlds(private, roll))
    secrets = [*keys, *(salt for own in salts.values() for salt in own.values())]

    def worlds() -> Iterator[str]:
        return (row["world_json"] for roll in hidden for row in _worlds(private, roll))

    needles = Needles.of(secrets, worlds)
    splits = frozenset(roll.split for roll in hidden)
    files = [path for path in sorted(public.rglob("*")) if path.is_file()]
    jobs = (_Search(needles, path, _tells(path, splits)) for path in files)
    found = Found.together(workers.map(_search, jobs))
    return [
        [
            *_columns(public, private, roll),
            *_shown(private, roll, needles, found),
            *(
                f"the salt '{name}' is public"
                for name, salt in salts[roll.split].items()
                if salt in found.runs
            ),
        ]
        for roll in hidden
    ]


def _salts(private: Path, split: str) -> dict[str, str]:
    told = json.loads((private / "manifest.json").read_bytes()).get("salts", {})
    return dict(told.get(split, {}))


def _worlds(private: Path, roll: Roll) -> Iterator[dict[str, Any]]:
    paths = shards(private, f"{roll.track}_worlds", roll.split)
    return rows(paths, ["instance_id", "key", "world_json"])


def _columns(public: Path, private: Path, roll: Roll) -> Iterator[str]:
    """Private configs in public, and private columns in public configs."""
    for config in sorted(TRACKS[roll.track].private):
        if shards(public, config, roll.split):
            yield f"public/{config}: private config of split {roll.split} is public"
    hidden = {
        name
        for config in configs(private)
        for name in column_names(shards(private, config, roll.split))
    } - SHARED_COLUMNS
    for config in configs(public):
        names = set(column_names(shards(public, config, roll.split)))
        yield from (f"{config}: has the private column {n}" for n in sorted(names & hidden))


def _shown(private: Path, roll: Roll, needles: "Needles", found: "Found") -> Iterator[str]:
    """The keys and worlds of a split that were met."""
    for row in _worlds(private, roll):
        if row["key"] in found.runs:
            yield f"{row['instance_id']}: its key is in the public repository"
        if needles.is_met(row["world_json"], found):
            yield f"{row['instance_id']}: its world is in the public repository"


def _tells(path: Path, splits: frozenset[str]) -> bool:
    """Whether worlds are looked for in a file: a paper, or a shard of a private split."""
    match = SHARD.fullmatch(path.name)
    return match is None or match["split"] in splits


@dataclass(frozen=True, slots=True)
class Found:
    """What may be a key (``runs``), and text that begins as a world may, by its beginning."""

    runs: frozenset[str]
    worlds: dict[str, frozenset[str]]

    @staticmethod
    def together(several: Iterable["Found"]) -> "Found":
        """What was found in several files."""
        runs, worlds = set[str](), dict[str, set[str]]()
        for one in several:
            runs |= one.runs
            for begin, texts in one.worlds.items():
                worlds.setdefault(begin, set()).update(texts)
        return Found(frozenset(runs), {head: frozenset(texts) for head, texts in worlds.items()})


@dataclass(frozen=True, slots=True)
class Needles:
    """Hashes, sorted, of what is looked for: of keys their first half, of worlds their first
    ``width`` characters. All worlds begin with ``begin``."""

    keys: Numbers
    heads: Numbers
    begin: str
    width: int

    @staticmethod
    def of(keys: Sequence[str], worlds: Worlds) -> "Needles":
        """What is looked for; ``worlds`` gives all worlds, as often as it is asked."""
        low, high, width = None, "", _HEAD
        for world in worlds():
            width = min(width, len(world))
            low = world[:_HEAD] if low is None else min(low, world[:_HEAD])
            high = max(high, world[:_HEAD])
        begin = (low or "")[:width]
        while not high.startswith(begin):
            begin = begin[:-1]
        heads = [] if low is None else [_hash(world[:width]) for world in worlds()]
        firsts = [_hash(key[: _KEY_DIGITS // 2]) for key in keys]
        return Needles(_sorted(firsts), _sorted(heads), begin, width)

    def found_in(self, texts: Iterable[str], tell: bool) -> Found:
        """What of it stands in some texts; worlds are looked for if ``tell``."""
        runs, worlds = set[str](), dict[str, set[str]]()
        for text in texts:
            runs.update(run for run in _runs(text) if self._is_in(self.keys, run[: len(run) // 2]))
            place = text.find(self.begin) if tell and len(self.heads) else -1
            while place >= 0:
                head = text[place : place + self.width]
                if self._is_in(self.heads, head):
                    worlds.setdefault(head, set()).add(text[place:])
                place = text.find(self.begin, place + 1)
        return Found(frozenset(runs), {head: frozenset(tails) for head, tails in worlds.items()})

    def may_be_in(self, cells: pa.Array, tell: bool) -> pa.Array:
        """The cells in which something of it may stand; most are told apart by a look at all at
        once, a tenth of the work of looking at each."""
        hit = pc.match_substring_regex(cells, _HAS_HEX)
        if tell and len(self.heads):
            hit = pc.or_(hit, pc.match_substring(cells, self.begin))
        return cells.filter(hit)

    def is_met(self, world: str, found: Found) -> bool:
        """Whether a whole world stands where something began like it."""
        return any(text.startswith(world) for text in found.worlds.get(world[: self.width], ()))

    @staticmethod
    def _is_in(hashes: Numbers, text: str) -> bool:
        mark = np.uint64(_hash(text))
        place = int(np.searchsorted(hashes, mark))
        return place < len(hashes) and bool(hashes[place] == mark)


def worlds_in(blob: str, worlds: Sequence[str]) -> set[str]:
    """Those of ``worlds`` that occur in ``blob``."""
    needles = Needles.of([], lambda: worlds)
    found = needles.found_in([blob], tell=True)
    return {world for world in worlds if needles.is_met(world, found)}


def _sorted(hashes: Sequence[int]) -> Numbers:
    return np.unique(np.array(hashes, dtype=np.uint64))


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest(), "big")


def _runs(text: str) -> Iterator[str]:
    """Whatever in a text could be a key: runs of digits, at every place where one may begin."""
    for run in _HEX.findall(text):
        for place in range(len(run) - _KEY_DIGITS + 1):
            yield run[place : place + _KEY_DIGITS]


@dataclass(frozen=True, slots=True)
class _Search:
    """A public file, and what is looked for in it."""

    needles: Needles
    path: Path
    tell: bool


def _search(job: _Search) -> Found:
    """What may be private in a file; runs in a worker."""
    return job.needles.found_in(_texts_of(job), job.tell)


def _texts_of(job: _Search) -> Iterator[str]:
    """Papers, Parquet metadata, and string cells at any depth in which something may stand."""
    path = job.path
    if path.suffix != ".parquet":
        yield path.read_text(encoding="utf-8", errors="replace")
        return
    with open_shard(path) as file:
        for key, value in (file.metadata.metadata or {}).items():
            yield f"{key!r} {value!r}"
        leaves = (file.schema.column(place) for place in range(len(file.schema)))
        told = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        for number in range(file.num_row_groups):
            for column in file.read_row_group(number, columns=told).columns:
                for cells in _strings(column.combine_chunks()):
                    yield from job.needles.may_be_in(cells, job.tell).to_pylist()


def _strings(array: pa.Array) -> Iterator[pa.Array]:
    if pa.types.is_string(array.type):
        yield array
    elif pa.types.is_list(array.type):
        yield from _strings(array.flatten())
    elif pa.types.is_struct(array.type):
        for child in array.flatten():
            yield from _strings(child)
