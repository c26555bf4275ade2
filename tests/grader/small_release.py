"""A small hand-made release, written with DuckDB alone: no builder, no NumPy, no PyArrow.

Every number is small enough to grade by hand. ``dev`` has public truth and holds each variant in
each form it can take, with truths that are worked by hand; ``test`` has private truth, one scene a
task. :data:`TASKS` maps the short names that tests and case tables use (``ate``, ``ate_unid`` …) to
tasks and their truths: ``_unid`` where abstaining is right, ``_none`` where there is no adjustment
set, ``_zero`` where an effect is exactly 0.
"""

import hashlib
import hmac
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
from case_files import CASE_FILES, tasks_by_name

from grader.scoring.shape import Variant
from grader.tracks import TRACKS, VARIANTS

NAMES = ("Brass density", 'Corsin "flow"', "Dusk; level", "Übel rate")
"""Story names with what breaks careless SQL, CSV and Unicode handling."""


@dataclass(frozen=True, slots=True)
class HandTask:
    """One task with its truth; ``scene`` is the short name of its scene."""

    key: str
    scene: str
    inputs: dict[str, Any]
    target: dict[str, Any] = field(default_factory=dict)
    value: float | None = None
    abstain: bool = False


@dataclass(frozen=True, slots=True)
class HandScene:
    """A scene: its motif and the held-out labels of its outcome."""

    motif: str
    kind: str
    labels: tuple[float, ...]


# Population sd of (0, 0, 2, 2) is 1, so the divisor 1 + sd is 2; of (0, 0, 1, 1) it is 0.5.
SCENES = {
    "lake": HandScene("confounding", "continuous", (0.0, 0.0, 2.0, 2.0)),
    "fog": HandScene("iv", "continuous", (0.0, 0.0, 2.0, 2.0)),
    "mill": HandScene("frontdoor", "binary", (0.0, 0.0, 1.0, 1.0)),
}
A, B, C, U = NAMES
TASKS: dict[str, HandTask] = {
    name: HandTask(key, **task) for name, (key, task) in tasks_by_name(CASE_FILES).items()
}
"""Short name to task, from the file of each variant."""

TEXT = "VARCHAR"
TABLE = 'STRUCT("name" VARCHAR, "values" FLOAT[])[]'
SCHEMAS: dict[str, dict[str, str]] = {
    "causalds": dict.fromkeys(("task_id", "instance_id", "track"), TEXT)
    | {"rung": "TINYINT"}
    | dict.fromkeys(
        ("family", "variant", "view", "input_mode", "prompt", "answer_schema", "answer_file",
         "inputs_json"), TEXT),
    "commitments": {"config": TEXT, "row_id": TEXT, "sha256": TEXT},
    "causalds_exams": {"exam": TEXT, "position": "INTEGER", "task_id": TEXT},
    "causalds_scenes": dict.fromkeys(("instance_id", "view", "story"), TEXT)
    | {"columns": "STRUCT(name VARCHAR, kind VARCHAR)[]", "data": TABLE, "test_features": TABLE},
    "causalds_truth": {
        "task_id": TEXT, "instance_id": TEXT, "should_abstain": "BOOLEAN", "structure": TEXT,
        "value": "DOUBLE", "value_se": "DOUBLE", "value_draws": "BIGINT", "value_source": TEXT,
        "target_json": TEXT,
    },
    "causalds_labels": {
        "instance_id": TEXT, "outcome": TEXT, "kind": TEXT, "values": "FLOAT[]",
    },
    "causalds_worlds": {"instance_id": TEXT, "index": "INTEGER", "attempt": "SMALLINT"}
    | dict.fromkeys(
        ("world_key", "structure", "motif", "treatment", "outcome", "world_json"), TEXT
    ),
}  # fmt: skip
for track in ("replayscm", "ccr", "causalab"):
    exams = SCHEMAS["causalds_exams"] | {"bundle": TEXT, "arm": TEXT}
    own = {"": SCHEMAS["causalds"], "_truth": SCHEMAS["causalds_truth"], "_exams": exams}
    SCHEMAS |= {track + suffix: columns for suffix, columns in own.items()}
PRIVATE = ("causalds_truth", "causalds_labels", "causalds_worlds")
FLOORS = {
    variant.key: {
        "answer": "by hand",
        "points": {"pass": 0.5, "f1": 0.25}.get(variant.shape.pool, 0.4),
        "tasks": 200,
    }
    for variant in VARIANTS
    if variant.track == "causalds"
}
"""Of both splits."""
SALT_KEY = hashlib.sha256(b"row salts of the small release").digest()
OUTSIDE_EXAM = "ate_extra"
"""In ``dev`` but not in its exam ``mini``; ``--exam all`` holds it too."""
FEW = (
    "argmax", "sign", "ett", "ate", "ate_extra", "sketch", "sets", "method", "predict", "interval",
)  # fmt: skip
"""Tasks of ``dev`` for a release of a few."""
SECRET_TASKS = ("predict", "interval", "sketch", "method_unid", "sets", "ate", "ate_unid", "ett")
"""The tasks of split ``test``, each in a scene of its own."""


def variant_of(key: str) -> Variant:
    (found,) = [variant for variant in VARIANTS if variant.key == key]
    return found


def task_id(name: str, split: str = "dev") -> str:
    return "cds-" + hashlib.sha256(f"{split}/{name}".encode()).hexdigest()[:16]


def answer_file(name: str, split: str = "dev") -> str:
    return task_id(name, split) + variant_of(TASKS[name].key).shape.suffix


def scene_id(name: str, split: str = "dev") -> str:
    """The public id of the scene of task ``name``: shared in ``dev``, its own in ``test``."""
    label = TASKS[name].scene if split == "dev" else name
    return "scene-" + hashlib.sha256(f"{split}/{label}".encode()).hexdigest()[:16]


def write_release(root: Path, names: Sequence[str] = tuple(TASKS)) -> Path:
    """Write ``root``/public and ``root``/private with these tasks in ``dev``; returns ``root``."""
    rows = {"dev": _split_rows("dev", names), "test": _split_rows("test", SECRET_TASKS)}
    shards: dict[str, dict[str, Any]] = {"public": {}, "private": {}}
    connection = duckdb.connect()
    for split, configs in rows.items():
        for config, members in configs.items():
            side = "private" if split == "test" and config in PRIVATE else "public"
            name = f"{config}/{split}-00000-of-00001.parquet"
            write_shard(connection, root / side / name, config, members)
            shards[side][name] = shard_entry(root / side / name, members)
    committed = [
        {"config": config, "row_id": next(iter(row.values())),
         "sha256": commitment(config, "test", row)}
        for config in sorted(PRIVATE) for row in rows["test"][config]
    ]  # fmt: skip
    name = "commitments/test-00000-of-00001.parquet"
    write_shard(connection, root / "public" / name, "commitments", committed)
    shards["public"][name] = shard_entry(root / "public" / name, committed)
    connection.close()
    for side, entries in shards.items():
        write_manifest(root / side, manifest_of(side, entries, len(names)))
    return root


def write_manifest(side: Path, manifest: dict[str, Any]) -> None:
    text = json.dumps(manifest, sort_keys=True, indent=1, ensure_ascii=False)
    (side / "manifest.json").write_text(text, encoding="utf-8")


def write_shard(
    connection: duckdb.DuckDBPyConnection, path: Path, config: str, rows: Sequence[dict[str, Any]]
) -> None:
    """One Parquet file with the columns and types of ``config``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    types = SCHEMAS[config]
    selected = ", ".join(
        f'unnest(${k}::{kind}[]) AS "{name}"' for k, (name, kind) in enumerate(types.items(), 1)
    )
    connection.execute(
        f"CREATE OR REPLACE TABLE shard AS SELECT {selected}",
        [[row[name] for row in rows] for name in types],
    )
    quoted = str(path).replace("'", "''")
    connection.execute(f"COPY shard TO '{quoted}' (FORMAT parquet, COMPRESSION zstd)")


def shard_entry(path: Path, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    data = path.read_bytes()
    content = json.dumps(rows, sort_keys=True).encode()
    return {
        "rows": len(rows),
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "content_sha256": hashlib.sha256(content).hexdigest(),
    }


def rewrite(
    side: Path, shard: str, change: Callable[[list[dict[str, Any]]], object]
) -> list[dict[str, Any]]:
    """Change the rows of a shard in place, and the manifest with them; the rows that are there."""
    with duckdb.connect() as connection:
        cursor = connection.execute("FROM read_parquet(?)", [str(side / shard)])
        columns = [column[0] for column in cursor.description or ()]
        rows = [dict(zip(columns, values, strict=True)) for values in cursor.fetchall()]
        change(rows)
        write_shard(connection, side / shard, shard.partition("/")[0], rows)
    restate(side, shard, rows)
    return rows


def restate(side: Path, shard: str, rows: Sequence[dict[str, Any]] = ()) -> None:
    """Let the manifest say of a shard what is true of the file now."""
    manifest = json.loads((side / "manifest.json").read_text("utf-8"))
    manifest["shards"][shard] = shard_entry(side / shard, rows)
    write_manifest(side, manifest)


def commitment(config: str, split: str, row: dict[str, Any]) -> str:
    """SHA-256 over salt and canonical row, written out again from the format's description."""
    row_id = next(iter(row.values()))
    salt = hmac.new(SALT_KEY, f"{config}/{split}/{row_id}".encode(), hashlib.sha256).digest()
    text = json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(salt + text.encode("utf-8")).hexdigest()


def _split_rows(split: str, names: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    ordered = sorted(names, key=lambda name: task_id(name, split))
    exam = "mini" if split == "dev" else "demo"
    members = [name for name in names if name != OUTSIDE_EXAM]
    scenes = {scene_id(name, split): TASKS[name] for name in names}
    return {
        "causalds": [_task_row(name, split) for name in ordered],
        "causalds_exams": [
            {"exam": exam, "position": position, "task_id": task_id(name, split)}
            for position, name in enumerate(members)
        ],
        "causalds_scenes": [_scene_row(i, task, split) for i, task in sorted(scenes.items())],
        "causalds_truth": [_truth_row(name, split) for name in ordered],
        "causalds_labels": [
            {"instance_id": i, "outcome": B, "kind": SCENES[task.scene].kind,
             "values": list(SCENES[task.scene].labels)}
            for i, task in sorted(scenes.items())
        ],
        "causalds_worlds": [
            {"instance_id": i, "index": 0, "attempt": 0, "world_key": "00" * 32,
             "structure": SCENES[task.scene].motif, "motif": SCENES[task.scene].motif,
             "treatment": A, "outcome": B, "world_json": "{}"}
            for i, task in sorted(scenes.items())
        ],
    }  # fmt: skip


def _task_row(name: str, split: str) -> dict[str, Any]:
    task = TASKS[name]
    spec = variant_of(task.key)
    file = answer_file(name, split)
    return {
        "task_id": task_id(name, split), "instance_id": scene_id(name, split),
        "track": "causalds", "rung": spec.rung, "family": spec.family, "variant": spec.name,
        "view": "clean", "input_mode": spec.shape.input_mode,
        "prompt": f"Question {name} of {', '.join(NAMES)}.\n\nWrite the answer to {file}.\n",
        "answer_schema": spec.shape.name, "answer_file": file,
        "inputs_json": json.dumps(task.inputs, sort_keys=True, ensure_ascii=False),
    }  # fmt: skip


def _truth_row(name: str, split: str) -> dict[str, Any]:
    task = TASKS[name]
    known = task.value is not None
    return {
        "task_id": task_id(name, split), "instance_id": scene_id(name, split),
        "should_abstain": task.abstain, "structure": SCENES[task.scene].motif,
        "value": task.value, "value_se": 0.0005 if known else None,
        "value_draws": 4096 if known else None, "value_source": "rqmc" if known else None,
        "target_json": json.dumps(task.target, sort_keys=True, ensure_ascii=False),
    }  # fmt: skip


def _scene_row(instance_id: str, task: HandTask, split: str) -> dict[str, Any]:
    scene = SCENES[task.scene]
    shown = split == "dev" or variant_of(task.key).shape.input_mode == "data"
    names = (A, B, C) if shown else ()
    kinds = {A: "continuous", B: scene.kind, C: "continuous"}
    held_out = split == "dev" or task.key.startswith("prediction.")
    data = [{"name": name, "values": [0.5, 1.5, -2.0, 0.25]} for name in names]
    features = [table for table in data if table["name"] != B] if held_out and shown else []
    return {
        "instance_id": instance_id, "view": "clean",
        "story": f"{A} drives {B}.", "columns": [{"name": n, "kind": kinds[n]} for n in names],
        "data": data, "test_features": features,
    }  # fmt: skip


def manifest_of(side: str, shards: dict[str, Any], tasks: int = len(TASKS)) -> dict[str, Any]:
    """The manifest of one side with these shards and so many tasks in ``dev``."""
    configs: dict[str, dict[str, Any]] = {}
    for name, entry in shards.items():
        config, _, rest = name.partition("/")
        table = {key: entry[key] for key in ("rows", "bytes", "content_sha256")}
        configs.setdefault(config, {})[rest.split("-")[0]] = table
    composition = {"instances": len(SCENES), "tasks": tasks}
    tracks = {"causalds": {"requested": composition, "realised": composition}}
    manifest = {
        "format": 1, "release": "small", "version": "0.0.1", "visibility": side,
        "builder": "by hand", "source_sha256": "0" * 64, "libraries": {},
        "canary": "00000000-0000-0000-0000-000000000000", "fingerprint": "1" * 64,
        "configuration": {}, "configs": configs, "shards": shards,
        "splits": {
            "dev": {"truth": "public", "seed": "by hand", "tracks": tracks,
                    "exams": {"mini": {"causalds": tasks - 1}}},
            "test": {"truth": "private", "seed_commitment": "2" * 64, "tracks": tracks,
                     "exams": {"demo": {"causalds": len(SECRET_TASKS)}}},
        },
    }  # fmt: skip
    entry = {"causalds": {"rules": TRACKS["causalds"].rules, "variants": FLOORS}}
    manifest["floors"] = dict.fromkeys(("dev", "test"), entry)
    if side == "private":
        manifest["salts"] = {"test": {"rows": SALT_KEY.hex(), "seed": "3" * 64}}
    return manifest
