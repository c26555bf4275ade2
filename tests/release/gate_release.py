"""A small real release of all tracks for tests of the gate, and ways to damage a copy of it."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from fake_builder import SECRET
from ungated import build_ungated

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


def build(folder: Path, monkeypatch: Any, splits: str = SPLITS) -> Path:
    """Builds the release of a split file under ``folder`` without running a gate over it."""
    monkeypatch.setenv("GATE_SECRET", SECRET)
    file = folder / "gated.toml"
    file.write_text(splits, encoding="utf-8")
    return build_ungated(file, folder / "release")


def edit(release: Path, side: str, name: str, change: Callable[[Rows], Rows | None]) -> None:
    """Changes the rows of a config's first shard and puts its new hash and row count into the
    manifest; ``name`` is config and split."""
    (shard,) = (
        path.relative_to(release / side).as_posix()
        for path in (release / side).glob(f"{name}-00000-of-*.parquet")
    )
    path = release / side / shard
    table = pq.read_table(path)
    rows = table.to_pylist()
    rows = change(rows) or rows
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    manifest = release / side / "manifest.json"
    document = json.loads(manifest.read_text(encoding="utf-8"))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    size = path.stat().st_size
    document["shards"][shard] |= {"sha256": digest, "bytes": size, "rows": len(rows)}
    manifest.write_text(json.dumps(document), encoding="utf-8")


def failures(release: Path) -> dict[str, str]:
    """The checks that refuse a release, each with its problems."""
    report = check_release(release)
    assert not report.ok
    assert "**FAIL**" in report.markdown
    assert all(" (below): " in line.figure for line in report.lines if not line.ok)
    return {line.check: " / ".join(line.problems) for line in report.lines if not line.ok}
