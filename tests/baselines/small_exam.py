"""Scenes and a release made by hand: simulated data, stories in plain words, junk for truths."""

import hashlib
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from built_tasks import task_row
from numpy.typing import NDArray
from scipy.special import expit
from small_release import shard_entry, write_manifest, write_shard

from baselines.causalds.regression import is_binary
from baselines.exam import ShownScene
from builder.tracks.causalds.design.eligibility import ELIGIBILITY
from grader.scoring.shape import Task
from grader.tracks import VARIANTS

FloatArray = NDArray[np.float64]
X, Y, Z, M, U = "Lamp Hours", "Moss Cover", "Soil Warmth", "Fern Height", "Draught"

STORIES = {
    "confounding": f"{Z} directly raises {X}, and it also lowers {Y}. {X} acts directly on {Y}.",
    "frontdoor": f"Nobody has ever recorded the {U}. The {U} pushes up {X} and {Y}. "
    f"{M} depends on {X}. {M} directly affects {Y}.",
    "iv": f"{Z} sets {X}. {X} shapes {Y}. The {U} was never measured, but it moves both {X} "
    f"and {Y}. Every gardener feels the {U}.",
    "fork": f"{Z} drives {X}, and {Y} responds directly to {Z}.",
    "collider": f"{X} and {Y} both act directly on {Z}.",
    "mediation": f"{X} acts directly on {M} and on {Y}. {M} directly raises {Y}. {Z} affects "
    f"{M} as well as {Y}.",
}


def simulate(motif: str, n: int, seed: int, binary_y: bool = False) -> dict[str, FloatArray]:
    """Data of a motif with unit noise; the effect of X on Y is 1.5 per unit (log odds if binary).

    In ``frontdoor`` it is 0.8 times 1.5; the latent variable is left out. In ``mediation`` 0.5 of
    it is direct, and 1 goes through M, which Z confounds with Y.
    """
    rng = np.random.default_rng(seed)
    e = rng.standard_normal((4, n))
    hidden = e[3]
    if motif == "confounding":
        z = e[0]
        x = 0.8 * z + e[1]
        line = 1.5 * x - 2 * z
        data = {Z: z, X: x}
    elif motif == "frontdoor":
        x = hidden + e[0]
        m = 0.8 * x + 0.5 * e[1]
        line = 1.5 * m + 1.2 * hidden
        data = {X: x, M: m}
    elif motif == "iv":
        x = e[0] + hidden + e[1]
        line = 1.5 * x + hidden
        data = {Z: e[0], X: x}
    elif motif == "mediation":
        x = e[0]
        m = 2 * x + hidden + 0.5 * e[1]
        line = 0.5 * x + 0.5 * m - hidden
        data = {Z: hidden, X: x, M: m}
    elif motif == "fork":
        x = e[0] + e[1]
        line = 1.5 * e[0]
        data = {Z: e[0], X: x}
    else:
        x, line = e[1], np.zeros(n)
        data = {X: x}
    y = (rng.random(n) < expit(line)).astype(float) if binary_y else line + 0.5 * e[2]
    data[Y] = y
    if motif == "collider":
        data[Z] = x + y + 0.5 * e[0]
    return data


def scene(motif: str, n: int = 1500, seed: int = 1, binary_y: bool = False) -> ShownScene:
    """A scene of ``n`` training and 200 held-out rows."""
    data = simulate(motif, n + 200, seed, binary_y)
    return ShownScene(
        f"scene-{motif}",
        "clean",
        STORIES[motif],
        {name: values[:n] for name, values in data.items()},
        {name: values[n:] for name, values in data.items() if name != Y},
    )


def measured(of: ShownScene, names: tuple[str, ...] = (X, Z), known: int = 300) -> ShownScene:
    """A clean scene with two noisy measurements in place of each named variable."""
    rng = np.random.default_rng(17)
    tables = [dict(of.data), dict(of.test)]
    names = tuple(name for name in names if name in of.data)
    calibration = {name: of.data[name] for name in names}
    for name in names:
        for table in tables:
            true = table.pop(name)
            for letter, slope in (("a", 1.0), ("b", -2.0)):
                noise = rng.standard_normal(len(true))
                table[f"{name}_meas_{letter}"] = slope * true + abs(slope) * noise
    picked = rng.permutation(len(of.data[Y]))[:known]
    rows = {name: values[picked] for name, values in {**tables[0], **calibration}.items()}
    return ShownScene(of.instance_id, "proxy", of.story, tables[0], tables[1], rows)


def inputs(key: str, of: ShownScene) -> dict[str, Any]:
    """The declared inputs of a variant asked about a scene, whatever its view."""
    columns = [X, Y, *(name for name in (Z, M) if name in of.story)]
    others = columns[2:]
    family = key.partition(".")[0]
    kind = "binary" if is_binary(of.data[Y]) else "continuous"
    usual: dict[str, Any] = {
        "treatment": X, "outcome": Y, "outcome_kind": kind, "columns": list(of.data),
        "rows": 200, "alpha": 0.1 if family == "prediction" else 0.05, "x0": -0.5, "x1": 0.5,
        "variables": len(columns) + (U in of.story), "observed": columns, "available": others,
        "candidates": others, "variable": others[0], "conditioning_var": others[0],
        "estimand": "NIE" if family == "mediation_effect" else "ETT",
    }  # fmt: skip
    return {name: usual[name] for name in sorted(ELIGIBILITY[key].inputs)}


def ask(key: str, of: ShownScene, **other: Any) -> Task:
    """A task of the variant ``family.name`` about a scene; ``other`` inputs replace the usual."""
    (spec,) = [variant for variant in VARIANTS if variant.key == key]
    task_id = "cds-" + hashlib.sha256(f"{of.instance_id}/{key}".encode()).hexdigest()[:16]
    return Task(
        task_id, of.instance_id, spec, of.view, spec.shape.input_mode, "A question.",
        spec.shape.name, task_id + spec.shape.suffix, inputs(key, of) | other,
    )  # fmt: skip


def every_task(of: ShownScene) -> list[Task]:
    """One task of every variant about a scene."""
    return [ask(variant.key, of) for variant in VARIANTS if variant.track == "causalds"]


def write_release(root: Path, scenes: list[ShownScene]) -> Path:
    """A release with split ``dev`` and exam ``mini``; its truth, labels and worlds are junk."""
    tasks = [task for each in scenes for task in every_task(each)]
    listed = [{"exam": "mini", "position": i, "task_id": t.task_id} for i, t in enumerate(tasks)]
    rows = {
        "causalds": [task_row(task) for task in tasks],
        "causalds_exams": listed,
        "causalds_scenes": [_scene_row(each) for each in scenes],
    }
    shards, connection = {}, duckdb.connect()
    for config, members in rows.items():
        name = f"{config}/dev-00000-of-00001.parquet"
        write_shard(connection, root / "public" / name, config, members)
        shards[name] = shard_entry(root / "public" / name, members)
    connection.close()
    for config in ("causalds_truth", "causalds_labels", "causalds_worlds"):
        junk = root / "public" / config / "dev-00000-of-00001.parquet"
        junk.parent.mkdir()
        junk.write_bytes(b"whoever opens this fails")
        shards[f"{config}/{junk.name}"] = {"sha256": "0" * 64, "rows": 0, "bytes": 0}
    (root / "private").mkdir()
    (root / "private" / "manifest.json").write_text("whoever opens this fails")
    splits = {"dev": {"truth": "public"}}
    manifest = {"release": "hand", "version": "0", "splits": splits, "shards": shards}
    write_manifest(root / "public", manifest)
    return root


def _scene_row(of: ShownScene) -> dict[str, Any]:
    def table(columns: Any) -> list[dict[str, Any]]:
        return [{"name": name, "values": values.tolist()} for name, values in columns.items()]

    return {
        "instance_id": of.instance_id, "view": of.view, "story": of.story, "columns": [],
        "data": table(of.data), "test_features": table(of.test),
    }  # fmt: skip
