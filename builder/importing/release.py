"""Writes an exam that was read elsewhere as a release with public truth.

Shards, manifest, card and exam are those of a built release, so that `verify`, `workspace`,
`grade` and `load_dataset` work alike. Values are stored as published, not rounded: what was
published is the truth here, to the last digit.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from builder.release.arrow import table_from_rows
from builder.release.exams import EXAM_SCHEMA, exam_table
from builder.release.flat import FlatJob, write_flat
from builder.release.identity import FORMAT, canary
from builder.release.manifest import head, listing
from builder.release.papers import write_papers
from builder.release.shards import GROUP_ROWS, Shard, marked, write_groups
from builder.track import DrawnExam, Row
from grader.io.files import new_folder
from grader.io.jsonio import canonical
from grader.version import __version__

TRACK: Final = "causalds"
RELEASE: Final = ("causalds-reference", "1")
"""Name and version of what is written."""
TITLE: Final = "CausalDS reference exam (imported)"
ABOUT: Final = "The public exam of the CausalDS paper's reference release."
LICENCE: Final = (
    "The imported data are published under CC0 1.0; the code that imported them is Apache-2.0."
)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a config in the order of their ids, read once; ``group`` at a time."""

    schema: pa.Schema
    rows: Iterable[Row]
    group: int = GROUP_ROWS

    @property
    def tables(self) -> Iterator[pa.Table]:
        """The row groups."""
        rows = iter(self.rows)
        while group := list(islice(rows, self.group)):
            yield table_from_rows(group, self.schema, as_published=True)


def write_release(
    out: Path, split: str, seed: str, exam: str, tasks: Sequence[Row], configs: Mapping[str, Rows]
) -> None:
    """Write ``public`` of a release with one split and one exam; it appears under ``out`` when
    whole.

    ``tasks`` are the rows of the tasks in exam order, ``configs`` all tables but that of the exam.
    Raises ``UsageError`` when ``out`` cannot be written.
    """
    listed = exam_table({exam: DrawnExam(tuple(str(row["task_id"]) for row in tasks))})
    more = {f"{TRACK}_exams": Rows(EXAM_SCHEMA, listed.to_pylist())}
    with new_folder(out) as folder:
        public, mark = folder / "public", canary(*RELEASE)
        shards = [
            shard
            for name, config in sorted({**configs, **more}.items())
            for shard in write_groups(
                name, split, public, marked(config.schema, mark), [*config.tables]
            )
        ]
        shards += write_flat(FlatJob(public, split, mark, answered=True))
        write_papers(
            _manifest(split, seed, exam, tasks, shards),
            public,
            template="imported.md",
            licence="cc0-1.0",
            more={"about": ABOUT, "licence": LICENCE, "title": TITLE},
        )


def _manifest(
    split: str, seed: str, exam: str, tasks: Sequence[Row], shards: Sequence[Shard]
) -> dict[str, Any]:
    configuration = {"imported": TITLE, "splits": {split: {"track": TRACK}}}
    identity = {
        "builder": __version__,
        "configuration": configuration,
        "content": {shard.name: shard.content_sha256 for shard in shards},
        "format": FORMAT,
        "release": RELEASE,
    }
    instances = len({row["instance_id"] for row in tasks})
    variants = Counter(f"{row['family']}.{row['variant']}" for row in tasks)
    track = {
        "requested": {"instances": instances},
        "realised": {
            "instances": instances,
            "tasks": len(tasks),
            "variants": dict(sorted(variants.items())),
        },
        "rejections": {},
    }
    return {
        **head(*RELEASE, "public"),
        "fingerprint": hashlib.sha256(canonical(identity).encode("utf-8")).hexdigest(),
        "configuration": configuration,
        "splits": {
            split: {
                "truth": "public",
                "seed": seed,
                "tracks": {TRACK: track},
                "exams": {exam: {TRACK: len(tasks)}},
            }
        },
        **listing(shards),
    }
