"""Hand-made releases for tests of the gate: small, honest unless a leak is planted.

Nothing here uses the builder's sampler or writer: a mistake there must not hide from these tests.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from builder.graphs import identification as derived
from builder.graphs.motifs import MOTIFS
from builder.release.exams import EXAM_SCHEMA
from builder.release.rows import TrueValue, task_row, truth_row
from builder.tracks.causalds.rows import PRIVATE_CONFIGS
from builder.tracks.causalds.rows import SCHEMAS as FORMAT
from grader.tracks import VARIANTS

SCHEMAS = {**FORMAT, "causalds_exams": EXAM_SCHEMA}
ID_COLUMN = {"causalds": "task_id", "causalds_truth": "task_id", "causalds_exams": "exam"}
SEVEN = ("chain", "confounding", "fork", "collider", "mediation", "frontdoor", "iv")
SYLLABLES = ("ba", "ko", "mi", "ra", "tu", "se", "lo", "ni", "va", "pe")

Tables = dict[str, list[dict[str, Any]]]


WRITTEN = frozenset(
    {
        "association.sign_only", "causal_sketch.edges_only", "effect_estimate.ate_point",
        "identification.method_label", "identification.all_minimal_adjustment_sets",
    }
)  # fmt: skip
"""The variants that this module writes tasks of."""


@dataclass
class Plan:
    """What to make. ``order`` may replace the honest column order, ``task_id`` the honest id."""

    scenes: int = 40
    seed: int = 1
    private: bool = False
    train: int = 4
    test: int = 3
    motifs: tuple[str, ...] = SEVEN
    variants: frozenset[str] = field(default_factory=lambda: WRITTEN)
    order: Callable[[Any, np.random.Generator], list[str]] | None = None
    task_id: Callable[[str, str], str] | None = None


def make_tables(plan: Plan) -> Tables:
    """The rows of every config, sorted by id as a release has them."""
    rng = np.random.default_rng(plan.seed)
    tables: Tables = {config: [] for config in SCHEMAS}
    for index in range(plan.scenes):
        _scene(plan, index, rng, tables)
    for config, rows in tables.items():
        if config != "causalds_exams":
            id_column = ID_COLUMN.get(config, "instance_id")
            rows.sort(key=lambda row, c=id_column: row[c])
    ids = sorted(row["task_id"] for row in tables["causalds"])
    order = rng.permutation(len(ids))
    tables["causalds_exams"] = [
        {"exam": "all_of_it", "position": place, "task_id": ids[number]}
        for place, number in enumerate(order)
    ]
    return tables


def _scene(plan: Plan, index: int, rng: np.random.Generator, tables: Tables) -> None:
    motif = MOTIFS[plan.motifs[index % len(plan.motifs)]]
    graph = motif.graph
    names = _names(rng, len(graph.nodes))
    told = dict(zip(graph.nodes, names, strict=True))
    kinds = {
        node: "binary" if node not in graph.latent and rng.random() < 0.4 else "continuous"
        for node in graph.nodes
    }
    instance = _hex_id("scene", rng)
    shuffled = [str(node) for node in rng.permutation(list(graph.observed_nodes))]
    nodes = plan.order(motif, rng) if plan.order else shuffled
    columns = [told[node] for node in nodes]
    # Of one length for every variable and edge, in random order.
    sentences = [f"There is a quantity called {told[node]}." for node in graph.nodes]
    sentences += [f"It is known that {told[a]} drives {told[b]}." for a, b in graph.edges]
    sentences += [f"Nobody records {told[node]}." for node in sorted(graph.latent)]
    story = " ".join(str(sentence) for sentence in rng.permutation(sentences))
    data = {told[node]: _column(rng, kinds[node], plan.train + plan.test) for node in nodes}
    outcome, treatment = told[motif.outcome], told[motif.treatment]
    value = round(float(rng.normal()), 6)
    asked = [variant for variant in VARIANTS if variant.key in plan.variants]
    if plan.private:
        asked = [asked[index % len(asked)]]
    ships = any(variant.shape.input_mode == "data" for variant in asked)
    tables["causalds_scenes"].append(
        {
            "instance_id": instance, "view": "clean", "story": story,
            "columns": [{"name": told[n], "kind": kinds[n]} for n in nodes] if ships else [],
            "data": [{"name": n, "values": data[n][: plan.train]} for n in columns if ships],
            "test_features": [], "calibration": [],
        }
    )  # fmt: skip
    tables["causalds_labels"].append(
        {
            "instance_id": instance, "outcome": outcome, "kind": kinds[motif.outcome],
            "values": data[outcome][plan.train :],
        }
    )  # fmt: skip
    world = {
        "nodes": [{"name": node, "kind": kinds[node]} for node in graph.nodes],
        "edges": [list(edge) for edge in graph.edges],
        "latent": sorted(graph.latent),
    }
    hidden = {"world": world, "treatment": motif.treatment, "outcome": motif.outcome}
    tables["causalds_worlds"].append(
        {
            "instance_id": instance, "index": index, "attempt": 0, "world_key": rng.bytes(32).hex(),
            "structure": motif.name, "motif": motif.name, "treatment": treatment,
            "outcome": outcome, "world_json": json.dumps(hidden),
        }
    )  # fmt: skip
    identifiable = derived.is_identifiable(graph, motif.treatment, motif.outcome, "ate")
    for variant in asked:
        task_id = _hex_id("cds", rng)
        if plan.task_id:
            task_id = plan.task_id(task_id, motif.name)
        inputs, target = _ask(variant.key, motif, told, kinds, rng)
        abstain = variant.shape.abstainable and not identifiable
        is_number = variant.shape.name == "ate" and not abstain
        number = TrueValue(value, 0.0, None, "graph") if is_number else None
        shown = {**inputs, "variant": variant.key}
        prompt = f"{story}\n\nQuestion: {json.dumps(shown)}. Answer in {task_id}.json."
        tables["causalds"].append(task_row(task_id, instance, variant, prompt, inputs))
        tables["causalds_truth"].append(
            truth_row(task_id, instance, motif.name, target, number, should_abstain=abstain)
        )


def _ask(
    key: str, motif: Any, told: dict[str, str], kinds: dict[str, str], rng: np.random.Generator
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The inputs and the target of a task of the variant ``key``."""
    graph, x, y = motif.graph, motif.treatment, motif.outcome
    ends = {"treatment": told[x], "outcome": told[y]}
    listed = [str(name) for name in rng.permutation([told[node] for node in graph.observed_nodes])]
    if key == "association.sign_only":
        return ends, {"accepted": [str(rng.choice(["+", "-", "unknown"]))]}
    if key == "causal_sketch.edges_only":
        edges = [[told[a], told[b]] for a, b in graph.edges]
        return {"variables": len(graph.nodes)}, {"nodes": list(told.values()), "edges": edges}
    if key == "identification.method_label":
        label = derived.identification_method(graph, x, y)
        return {**ends, "observed": listed}, {"accepted": [label]}
    if key == "effect_estimate.ate_point":
        binary = kinds[x] == "binary"
        return {**ends, **({"x0": 0, "x1": 1} if binary else {"x0": -0.7, "x1": 0.71})}, {}
    sets = [
        sorted(told[n] for n in found) for found in derived.minimal_adjustment_sets(graph, x, y)
    ]
    category = "set"
    if not derived.is_identifiable(graph, x, y, "ate"):
        category, sets = "non_id", []
    elif not derived.valid_adjustment_sets(graph, x, y):
        category = "no_backdoor"
    available = [name for name in listed if name not in ends.values()]
    return {**ends, "available": available}, {"category": category, "sets": sets}


def _names(rng: np.random.Generator, count: int) -> list[str]:
    names: list[str] = []
    while len(names) < count:
        name = "".join(str(part) for part in rng.choice(SYLLABLES, size=rng.integers(2, 5)))
        if name not in names:
            names.append(name)
    return names


def _column(rng: np.random.Generator, kind: str, rows: int) -> list[float]:
    if kind == "binary":
        return [float(value) for value in rng.integers(0, 2, rows)]
    return [round(float(value), 4) for value in rng.normal(size=rows)]


def _hex_id(prefix: str, rng: np.random.Generator) -> str:
    return f"{prefix}-{rng.bytes(8).hex()}"


def write(tables: Tables, out: Path, *, private: bool = False, split: str = "dev") -> Path:
    """Write ``tables`` as a release with manifests; returns ``out``."""
    sides = {"public": [c for c in SCHEMAS if not private or c not in PRIVATE_CONFIGS]}
    if private:
        sides["private"] = [c for c in SCHEMAS if c in PRIVATE_CONFIGS]
    for side, configs in sides.items():
        for config in configs:
            path = out / side / config / f"{split}-00000-of-00001.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            table = pa.Table.from_pylist(tables[config], schema=SCHEMAS[config])
            size = 20 if config == "causalds_scenes" else 1000
            pq.write_table(table, path, row_group_size=size, compression="zstd")
        manifest = {"splits": {split: {"truth": "private" if private else "public"}}}
        (out / side / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return out
