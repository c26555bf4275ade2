"""A small real release of all tracks for tests of the gate, and ways to damage a copy of it."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builder.build import check_release

SPLITS = """
name = "gated"
version = "0.1.0"
floor_tasks = 2

[splits.dev]
truth = "public"
seed = "gate 1"
[splits.dev.causalds]
scenes = 6
rows = { train = 60, test = 20 }
motifs = { chain = 1, confounding = 1, fork = 1, collider = 1, mediation = 1, iv = 1 }
treatment_binary = 0.5
outcome_binary = 0.4
[splits.dev.ccr]
direct = 2
components = [2, 2]
[splits.dev.replayscm]
full = 3
matched = 0
[splits.dev.causalab]
graphs = 1
suites = ["main-3"]
[splits.dev.exams.practice]
causalds = { tasks = "all" }

[splits.test]
truth = "private"
secret_env = "GATE_SECRET"
[splits.test.causalds]
scenes = 4
rows = { train = 60, test = 20 }
motifs = { chain = 1, confounding = 1, collider = 1, iv = 1 }
treatment_binary = 0.5
outcome_binary = 0.4
[splits.test.exams.demo]
causalds = { tasks = "all" }
"""

Rows = list[dict[str, Any]]


def edit(release: Path, side: str, name: str, change: Callable[[Rows], Rows | None]) -> None:
    """Changes the rows of a config's first shard; ``name`` is config and split."""

    def changed(table: pa.Table) -> pa.Table:
        rows = table.to_pylist()
        return pa.Table.from_pylist(change(rows) or rows, schema=table.schema)

    replace_table(release, side, name, changed)


def replace_table(
    release: Path, side: str, name: str, change: Callable[[pa.Table], pa.Table]
) -> None:
    """Changes a config's first shard and puts its new hash and row count into the manifest."""
    (path,) = (release / side).glob(f"{name}-00000-of-*.parquet")
    table = change(pq.read_table(path))
    pq.write_table(table, path)
    manifest = release / side / "manifest.json"
    document = json.loads(manifest.read_text(encoding="utf-8"))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    told = {"sha256": digest, "bytes": path.stat().st_size, "rows": table.num_rows}
    document["shards"][path.relative_to(release / side).as_posix()] |= told
    manifest.write_text(json.dumps(document), encoding="utf-8")


def failures(release: Path) -> dict[str, str]:
    """The checks that refuse a release, each with its problems."""
    report = check_release(release)
    assert not report.ok
    assert "**FAIL**" in report.markdown
    assert all(" (below): " in line.figure for line in report.lines if not line.ok)
    return {line.check: " / ".join(line.problems) for line in report.lines if not line.ok}
