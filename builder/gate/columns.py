"""Whether every shard of a release has the columns that its config has: a reader that meets others
fails far from here, or reads the wrong one."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from builder.release.exams import EXAM_SCHEMA
from builder.release.flat import CONFIG
from builder.release.reader import SIDES, configs, open_shard, shards, splits
from builder.release.schemas import COMMITMENTS, FLAT
from builder.release.shards import COMMITTED
from builder.splits.track import Track
from grader.errors import UsageError


def expected_schemas(tracks: Mapping[str, Track]) -> dict[str, pa.Schema]:
    """The schema of every config that a release may have."""
    found = {CONFIG: FLAT, COMMITTED: COMMITMENTS}
    for name, track in tracks.items():
        found |= {**track.tables, f"{name}_exams": EXAM_SCHEMA}
    return found


def schema_problems(release: Path, tracks: Mapping[str, Track]) -> Iterator[str]:
    """Columns that are absent, of another type, or nobody's; one line for each shard. What is no
    Parquet file fails by its hash."""
    expected = expected_schemas(tracks)
    for side in SIDES:
        for config in configs(release / side):
            for split in splits(release / side, config):
                for path in shards(release / side, config, split):
                    try:
                        schema = open_shard(path).schema_arrow
                    except UsageError:
                        continue  # no shard at all: its hash is another, which is said elsewhere
                    problem = _difference(schema, expected.get(config))
                    if problem is not None:
                        yield f"{side}/{config}/{path.name}: {problem}"


def _difference(found: pa.Schema, wanted: pa.Schema | None) -> str | None:
    if wanted is None:
        return "no config of a release"
    for name in [*wanted.names, *found.names]:
        if name not in found.names:
            return f"lacks the column {name}"
        if name not in wanted.names:
            return f"has the column {name}, which its config has not"
        if found.field(name).type != wanted.field(name).type:
            return f"the column {name} is {found.field(name).type}, not {wanted.field(name).type}"
    return None if found.names == wanted.names else "its columns are in another order"
