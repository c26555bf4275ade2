"""Nothing private in a public repository, told by what files hold, whatever they are called.

The gate has looked for keys, salts and whole worlds in every public text. Here the rest: shards of
a private split have the columns of public tables and no others, no public row is about a private
task beside them, and papers repeat nothing of the private side's.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from builder.publishing.errata import ERRATA
from builder.release.exams import EXAM_SCHEMA
from builder.release.flat import CONFIG
from builder.release.manifest import MANIFEST
from builder.release.reader import configs, open_shard, rows, shards, splits
from builder.release.schemas import COMMITMENTS, FLAT
from builder.release.shards import COMMITTED
from builder.release.workspace import GATE_FILE
from builder.splits.track import Track
from grader.errors import UsageError
from grader.release.release import Release

_TELLING: Final = 12
"""A line of the private side's papers with fewer letters and digits could stand anywhere."""
_WORD: Final = re.compile(r"[0-9A-Za-z]")


def refuse_private(opened: Release, tracks: Mapping[str, Track]) -> None:
    """Raise ``UsageError`` for the first thing in the public side that is private."""
    for problem in private_in_public(opened, tracks):
        raise UsageError(f"{opened.public.path}: {problem}; nothing was sent")


def private_in_public(opened: Release, tracks: Mapping[str, Track]) -> Iterator[str]:
    """What is private in the public side of a release, one line each."""
    hidden = [name for name in opened.splits if not opened.has_public_truth(name)]
    public = opened.public.path
    yield from _tables(public, tracks, frozenset(hidden))
    if opened.private is not None:
        ids = _private_ids(opened.private.path)
        yield from _rows_about(public, ids, frozenset(hidden))
        yield from _repeated(public, opened.private.path)


def _tables(public: Path, tracks: Mapping[str, Track], hidden: frozenset[str]) -> Iterator[str]:
    """Shards of a private split whose columns are not those of a public table."""
    shown: dict[str, pa.Schema] = {CONFIG: FLAT, COMMITTED: COMMITMENTS}
    for name, track in tracks.items():
        shown |= {config: s for config, s in track.tables.items() if config not in track.private}
        shown[f"{name}_exams"] = EXAM_SCHEMA
    for config in configs(public):
        for split in hidden.intersection(splits(public, config)):
            for file in shards(public, config, split):
                with open_shard(file) as opened:
                    schema = opened.schema_arrow
                if config not in shown or not schema.equals(shown[config]):
                    yield f"{config}/{file.name} is no public table of the private split {split}"
            if config == CONFIG and any(
                row["answer"] is not None for row in rows(shards(public, config, split), ["answer"])
            ):
                yield f"{CONFIG} has answers to the private split {split}"


def _private_ids(private: Path) -> frozenset[str]:
    """The ids of private rows: tasks and instances."""
    return frozenset(
        row[name]
        for config in configs(private)
        for split in splits(private, config)
        for row, name in _first_column(shards(private, config, split))
    )


def _first_column(files: list[Path]) -> Iterator[tuple[dict[str, Any], str]]:
    for file in files:
        with open_shard(file) as opened:
            name = opened.schema_arrow.names[0]
        yield from ((row, name) for row in rows([file], [name]))


def _rows_about(public: Path, ids: frozenset[str], hidden: frozenset[str]) -> Iterator[str]:
    """Rows about a private task in the shards of a split whose truth is public."""
    for config in configs(public):
        for split in set(splits(public, config)) - hidden:
            for row, name in _first_column(shards(public, config, split)):
                if row[name] in ids:
                    yield f"{config}, split {split}, has a row of the private side ({row[name]})"
                    break


def _repeated(public: Path, private: Path) -> Iterator[str]:
    """Errata with a line in them of the private side's manifest or of what the gate found."""
    if not (public / ERRATA).is_file():
        return
    told = set[str]()
    for file in (private / MANIFEST, private.parent / GATE_FILE):
        if file.is_file():
            told |= _lines(file)
    for line in sorted(_lines(public / ERRATA) & told - _lines(public / MANIFEST)):
        yield f"{ERRATA} repeats the private side ({line[:60]})"


def _lines(file: Path) -> set[str]:
    lines = (line.strip() for line in file.read_text(encoding="utf-8").splitlines())
    return {line for line in lines if len(_WORD.findall(line)) >= _TELLING}
