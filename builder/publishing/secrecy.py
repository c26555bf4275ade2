"""The check that the public side of a release tells no secret of its private side.

The gate has looked for keys, salts and whole worlds in every public text. The check here looks at
what files hold: shards of a private split have the columns of public tables and no others, no
public row is about a private task beside them, and errata repeat no line of the private side's
papers.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa

from builder.publishing.errata import ERRATA
from builder.release.exams import EXAM_SCHEMA
from builder.release.manifest import MANIFEST
from builder.release.reader import configs, open_shard, rows, shards, splits
from builder.release.rows import COMMITMENTS, FLAT
from builder.release.shards import COMMITTED, CONFIG
from builder.release.workspace import GATE_FILE
from builder.splits.track import Track
from grader.release.release import ReleaseFolder

_LEAST_LETTERS: Final = 12
"""A line of the private side's papers with fewer letters and digits could stand anywhere."""
_LETTER: Final = re.compile(r"[0-9A-Za-z]")


def private_in_public(opened: ReleaseFolder, tracks: Mapping[str, Track]) -> Iterator[str]:
    """Yield a line for each private thing in public; rows and errata need the private side."""
    private_splits = frozenset(n for n in opened.splits if not opened.has_public_truth(n))
    public = opened.public.path
    yield from _private_tables(public, tracks, private_splits)
    if opened.private is not None:
        yield from _private_rows(public, opened.private.path, private_splits)
        yield from _private_lines(public, opened.private.path)


def _private_tables(
    public: Path, tracks: Mapping[str, Track], private_splits: frozenset[str]
) -> Iterator[str]:
    """Yield a line for each shard of a private split that is no public table, or has answers."""
    schemas: dict[str, pa.Schema] = {CONFIG: FLAT, COMMITTED: COMMITMENTS}
    for name, track in tracks.items():
        schemas |= {config: s for config, s in track.tables.items() if config not in track.private}
        schemas[f"{name}_exams"] = EXAM_SCHEMA
    for config in configs(public):
        for split in private_splits.intersection(splits(public, config)):
            for file in shards(public, config, split):
                with open_shard(file) as opened:
                    schema = opened.schema_arrow
                if config not in schemas or not schema.equals(schemas[config]):
                    yield f"{config}/{file.name} is no public table of the private split {split}"
            if config == CONFIG and any(
                row["answer"] is not None for row in rows(shards(public, config, split), ["answer"])
            ):
                yield f"{CONFIG} has answers to the private split {split}"


def _private_rows(public: Path, private: Path, private_splits: frozenset[str]) -> Iterator[str]:
    """Yield a line for each table of a public-truth split with a row id of the private side."""
    private_ids = {
        name
        for config in configs(private)
        for split in splits(private, config)
        for name in _row_ids(shards(private, config, split))
    }
    for config in configs(public):
        for split in set(splits(public, config)) - private_splits:
            names = _row_ids(shards(public, config, split))
            if name := next((name for name in names if name in private_ids), None):
                yield f"{config}, split {split}, has a row of the private side ({name})"


def _row_ids(files: list[Path]) -> Iterator[str]:
    """Yield the first column of every row, which is its id. In the flat table it is the task's."""
    for file in files:
        with open_shard(file) as opened:
            column = opened.schema_arrow.names[0]
        yield from (row[column] for row in rows([file], [column]))


def _private_lines(public: Path, private: Path) -> Iterator[str]:
    """Yield a line of the errata found in private papers but not in the public manifest."""
    private_lines = _long_lines(private / MANIFEST, private.parent / GATE_FILE)
    secret_lines = private_lines - _long_lines(public / MANIFEST)
    for line in sorted(_long_lines(public / ERRATA) & secret_lines):
        yield f"{ERRATA} repeats the private side ({line[:60]})"


def _long_lines(*files: Path) -> set[str]:
    texts = [file.read_text(encoding="utf-8") for file in files if file.is_file()]
    lines = (line.strip() for text in texts for line in text.splitlines())
    return {line for line in lines if len(_LETTER.findall(line)) >= _LEAST_LETTERS}
