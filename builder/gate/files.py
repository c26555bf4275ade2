"""The gate's checks of the files of a side: the columns of its shards, and its dataset card.

A reader that meets other columns than a config has fails far from here, or reads the wrong one. The
card's YAML is what the Hub loads by.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa
import yaml

from builder.release.exams import EXAM_SCHEMA
from builder.release.flat import CONFIG
from builder.release.reader import SIDES, configs, open_shard, shards, splits
from builder.release.schemas import COMMITMENTS, FLAT
from builder.release.shards import COMMITTED
from builder.splits.track import Track
from grader.errors import UsageError

_CARD: Final = "README.md"


def schema_problems(release: Path, tracks: Mapping[str, Track]) -> Iterator[str]:
    """Yield a line for each shard with columns that are absent, of another type, or nobody's. What
    is no Parquet file fails by its hash."""
    expected = {CONFIG: FLAT, COMMITTED: COMMITMENTS}
    for name, track in tracks.items():
        expected |= {**track.tables, f"{name}_exams": EXAM_SCHEMA}
    for side in SIDES:
        for config in configs(release / side):
            for split in splits(release / side, config):
                for path in shards(release / side, config, split):
                    try:
                        schema = open_shard(path).schema_arrow
                    except UsageError:
                        continue
                    if (problem := _difference(schema, expected.get(config))) is not None:
                        yield f"{side}/{config}/{path.name}: {problem}"


def _difference(schema: pa.Schema, expected: pa.Schema | None) -> str | None:
    """Return the first difference of a shard's columns from those of its config, None if there
    is none."""
    if expected is None:
        return "no config of a release"
    for name in [*expected.names, *schema.names]:
        if name not in schema.names:
            return f"lacks the column {name}"
        if name not in expected.names:
            return f"has the column {name}, which its config has not"
        if (own := schema.field(name).type) != (given := expected.field(name).type):
            return f"the column {name} is {own}, not {given}"
    return None if schema.names == expected.names else "its columns are in another order"


def card_problems(root: Path) -> list[str]:
    """Return where the card's YAML configs do not name each shard exactly once, under its config
    and split."""
    file = root / _CARD
    parts = file.read_text(encoding="utf-8").split("---\n") if file.is_file() else []
    if len(parts) < 3 or parts[0]:
        return [f"{root.name}/{_CARD}: no YAML front matter"]
    declared: Counter[str] = Counter()
    problems = []
    for entry in (yaml.safe_load(parts[1]) or {}).get("configs", []):
        for files in entry.get("data_files", []):
            found = sorted(root.glob(files["path"]))
            expected = shards(root, entry["config_name"], files["split"])
            if not found or found != expected:
                problems.append(
                    f"{root.name}/{_CARD}: {files['path']} matches {len(found)} files, "
                    f"{entry['config_name']} has {len(expected)} of split {files['split']}"
                )
            declared.update(path.relative_to(root).as_posix() for path in found)
    present = {path.relative_to(root).as_posix() for path in root.glob("*/*.parquet")}
    problems += [
        f"{root.name}/{_CARD}: {declared[path]} configs hold {path}, not 1"
        for path in sorted(present)
        if declared[path] != 1
    ]
    return problems
