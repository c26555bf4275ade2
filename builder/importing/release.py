"""Writes rows that were read elsewhere as a release with public truth.

Shards, manifest, card and exams are those of a built release, so that `verify`, `workspace`,
`grade` and `load_dataset` work alike. Values are stored as published, not rounded: what was
published is the truth here, to the last digit.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from builder.release.arrow import table_from_rows
from builder.release.exams import EXAM_SCHEMA, exam_table
from builder.release.flat import flat_jobs, write_flat
from builder.release.identity import FORMAT, canary
from builder.release.manifest import head, listing
from builder.release.papers import write_papers
from builder.release.schemas import TASKS
from builder.release.shards import GROUP_ROWS, Shard, marked, write_whole
from builder.track import DrawnExam, Row
from grader.errors import UsageError
from grader.io.files import new_folder
from grader.io.jsonio import canonical
from grader.version import __version__

TEMPLATE: Final = "imported.md"
"""The card's template in ``dataset_card/``."""

Rows = Sequence[Row]
Group = Callable[[], Iterable[Rows]]


@dataclass(frozen=True, slots=True)
class RowSource:
    """One table: its schema (the first columns are the id) and its rows, a row group at a time.

    ``groups`` is called once, when the table is written, and must give its rows in the order of
    their ids; large tables are then never in memory as a whole.
    """

    schema: pa.Schema
    groups: Group


@dataclass(frozen=True, slots=True)
class ImportedSplit:
    """One exam that was read: its tables, and what the manifest says of it.

    ``seed`` is the text that the publisher states. ``exams`` map a name to its tasks in order;
    ``left_out`` counts what could not be imported, by reason.
    """

    name: str
    track: str
    seed: str
    configs: Mapping[str, RowSource]
    exams: Mapping[str, DrawnExam]
    tasks: Rows
    structures: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Source:
    """Where an imported release comes from: its name here, licences and a sentence about it."""

    release: str
    version: str
    title: str
    about: str
    licence: str
    licence_text: str


def grouped(rows: Iterable[Row], keys: Sequence[str]) -> Group:
    """Small tables: the rows sorted by ``keys``, in groups of the usual size.

    Raises ``ValueError`` when two rows have the same keys.
    """
    ordered = sorted(rows, key=lambda row: tuple(str(row[key]) for key in keys))
    ids = [tuple(row[key] for key in keys) for row in ordered]
    if len(set(ids)) != len(ids):
        double = next(name for name, count in Counter(ids).items() if count > 1)
        raise ValueError(f"two rows have the id {'/'.join(map(str, double))}")
    return lambda: [ordered[k : k + GROUP_ROWS] for k in range(0, len(ordered), GROUP_ROWS)]


def write_release(out: Path, source: Source, splits: Sequence[ImportedSplit]) -> None:
    """Write ``public``; it appears under ``out`` when whole.

    Raises ``UsageError`` when ``out`` exists or cannot be written.
    """
    with new_folder(out) as folder:
        public = folder / "public"
        shards = [shard for split in splits for shard in _write_split(public, source, split)]
        manifest = _manifest(source, splits, shards)
        write_papers(
            manifest,
            public,
            template=TEMPLATE,
            licence=source.licence,
            more={"about": source.about, "licence": source.licence_text, "title": source.title},
        )


def check_free(out: Path) -> None:
    """Raises ``UsageError`` where something is at ``out`` already."""
    if out.exists():
        raise UsageError(f"--out {out}: exists already; name another folder, or remove it first")


def _write_split(public: Path, source: Source, split: ImportedSplit) -> Iterator[Shard]:
    mark = canary(source.release, source.version)
    exams = exam_table(split.exams)
    configs = {
        split.track: RowSource(TASKS, grouped(split.tasks, ["task_id"])),
        f"{split.track}_exams": RowSource(EXAM_SCHEMA, lambda: [exams.to_pylist()]),
        **split.configs,
    }
    for name, config in sorted(configs.items()):
        tables = (
            table_from_rows(rows, config.schema, as_published=True) for rows in config.groups()
        )
        yield write_whole(name, split.name, public, marked(config.schema, mark), tables)
    for job in flat_jobs(public, split.name, mark):
        yield from write_flat(job)


def _manifest(
    source: Source, splits: Sequence[ImportedSplit], shards: Sequence[Shard]
) -> dict[str, Any]:
    content = {shard.name: shard.content_sha256 for shard in shards}
    configuration: dict[str, Any] = {
        "imported": source.title,
        "splits": {split.name: {"track": split.track} for split in splits},
    }
    identity = {
        "builder": __version__,
        "configuration": configuration,
        "content": content,
        "format": FORMAT,
        "release": [source.release, source.version],
    }
    return {
        **head(source.release, source.version, "public"),
        "fingerprint": hashlib.sha256(canonical(identity).encode("utf-8")).hexdigest(),
        "configuration": configuration,
        "splits": {split.name: _split(split) for split in splits},
        **listing(shards),
    }


def _split(split: ImportedSplit) -> dict[str, Any]:
    instances = len({row["instance_id"] for row in split.tasks})
    variants = Counter(f"{row['family']}.{row['variant']}" for row in split.tasks)
    realised: dict[str, Any] = {
        "instances": instances,
        "tasks": len(split.tasks),
        "variants": dict(sorted(variants.items())),
    }
    if split.structures:
        realised["structures"] = dict(sorted(split.structures.items()))
    track = {
        "requested": {"instances": instances},
        "realised": realised,
        "rejections": dict(sorted(split.left_out.items())),
    }
    return {
        "truth": "public",
        "seed": split.seed,
        "tracks": {split.track: track},
        "exams": {
            name: {split.track: len(exam.task_ids)} for name, exam in sorted(split.exams.items())
        },
    }
