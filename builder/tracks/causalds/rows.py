"""Write a scene and its tasks as rows of the release (``docs/release-format.md``)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import pyarrow as pa

from builder.release import rows
from builder.release.arrow import round_truth
from builder.release.rows import TASKS, TRUTH, labels_schema, scenes_schema, worlds_schema
from builder.splits.seeds import public_id
from builder.splits.track import InstanceSpec, Row
from builder.tracks.causalds.ask.wording import Question, write_prompt
from builder.tracks.causalds.design.eligibility import VARIANTS
from builder.tracks.causalds.design.scene_plan import CLEAN
from builder.tracks.causalds.make.observe import Observation, measurement_columns
from builder.tracks.causalds.make.scene import Scene

SCHEMAS: Final[Mapping[str, pa.Schema]] = {
    "causalds": TASKS,
    "causalds_scenes": scenes_schema(pa.float32()),
    "causalds_truth": TRUTH,
    "causalds_labels": labels_schema(pa.float32()),
    "causalds_worlds": worlds_schema("motif", "treatment", "outcome"),
}
"""Explicit Arrow schema by config; the first column is the id."""

PRIVATE_CONFIGS: Final = frozenset({"causalds_truth", "causalds_labels", "causalds_worlds"})

_FIT_DECIMALS: Final = 4
"""Decimals of R^2 and AUC. Further ones depend on the order in which the fitting library adds."""

Asked = tuple[Observation, Sequence[tuple[str, Question]]]
"""A view of a scene, and the questions in it with their variants' keys."""


def instance_rows(
    spec: InstanceSpec, scene: Scene, attempt: int, asked: Sequence[Asked]
) -> dict[str, list[Row]]:
    """Return a scene's rows by config. A private scene shows only the tables its task needs."""
    found: dict[str, list[Row]] = {config: [] for config in SCHEMAS}
    label = scene.plan.structure.label
    tasks: dict[str, tuple[str, str, str]] = {}
    for shown, questions in asked:
        variants = [VARIANTS[key] for key, _ in questions]
        data = not spec.private or any(one.shape.input_mode == "data" for one in variants)
        predicted = not spec.private or any(one.family == "prediction" for one in variants)
        for variant, (key, question) in zip(variants, questions, strict=True):
            view, inputs, truth = shown.view.name, dict(question.inputs), question.truth
            detail = f"of {question.detail}" * bool(question.detail)
            parts = filter(None, [key, detail, view * (view != CLEAN.name)])
            name = public_id("cds", spec.id_key, "/".join(parts))
            tasks[name] = (key, view, question.detail)
            if "columns" in inputs:
                inputs["columns"] = [column.name for column in shown.columns]
            prompt = write_prompt(scene, shown, variant, question, name + variant.shape.suffix)
            row = rows.task_row(name, spec.instance_id, variant, prompt, inputs, view=view)
            found["causalds"].append(row)
            quantity = truth.quantity
            number = (
                None if quantity is None else rows.TrueValue(**_round_numbers(asdict(quantity)))
            )
            place = name, spec.instance_id, label, truth.target, number
            row = rows.truth_row(*place, should_abstain=truth.should_abstain)
            found["causalds_truth"].append(row)
        found["causalds_scenes"].append(_scene_row(spec, scene, shown, data, predicted))
        if predicted:  # in the order of the rows of ``test_features``
            labels: Row = {
                "instance_id": spec.instance_id,
                "outcome": scene.outcome.name,
                "kind": scene.outcome.kind,
                "values": scene.rows[scene.motif.outcome][scene.plan.equations.train :],
            }
            found["causalds_labels"] = [labels]
    views = [shown for shown, _ in asked]
    ends = {"treatment": scene.treatment.name, "outcome": scene.outcome.name}
    own_key = scene.plan.equations.world_key
    world = _world(scene, views, tasks)
    row = rows.world_row(spec, attempt, label, world, key=own_key, motif=scene.motif.name, **ends)
    found["causalds_worlds"].append(row)
    return found


def _scene_row(
    spec: InstanceSpec, scene: Scene, shown: Observation, data: bool, predicted: bool
) -> Row:
    """Return a row of ``causalds_scenes``; test features never show the outcome."""
    names = [column.name for column in shown.columns] if data else []
    features = [c.name for c in shown.columns if predicted and c.node != scene.motif.outcome]
    train = scene.plan.equations.train
    chosen, replaced = list(shown.chosen), [n for n in scene.rows if n in shown.bundles]
    return {
        "instance_id": spec.instance_id,
        "view": shown.view.name,
        "story": scene.narration.telling.story,
        "columns": [{"name": c.name, "kind": c.kind} for c in shown.columns if data],
        "data": [{"name": n, "values": shown.rows[n][:train]} for n in names],
        "test_features": [{"name": n, "values": shown.rows[n][train:]} for n in features],
        "calibration": [
            {"name": name, "values": shown.rows[name][chosen]}
            for name in (*names, *map(scene.name, replaced))
            if chosen and data
        ],
    }


def _world(
    scene: Scene, views: Sequence[Observation], tasks: Mapping[str, tuple[str, str, str]]
) -> dict[str, object]:
    """Return ``world_json``: enough to regenerate and to audit a scene."""
    narration, quantities = scene.narration, _round_numbers(asdict(scene.truths))
    levels = quantities.pop("levels")
    return {
        "plan": scene.plan.record(),
        "world": scene.world.to_json(),
        "treatment": scene.motif.treatment,
        "outcome": scene.motif.outcome,
        "variables": {node: asdict(variable) for node, variable in scene.variables.items()},
        "hows": [[*edge, clause] for edge, clause in sorted(narration.mechanism_clauses.items())],
        "columns": list(scene.rows),
        "levels": list(levels),
        "quantities": quantities,
        **_causenet_pair(scene),
        "attestations": [asdict(one) for one in narration.telling.attestations],
        "views": {shown.view.name: _view(scene, shown) for shown in views},
        "tasks": {name: key for name, (key, _, _) in tasks.items()},
        "task_views": {name: view for name, (_, view, _) in tasks.items()},
        "task_details": {name: detail for name, (_, _, detail) in tasks.items() if detail},
    }


def _round_numbers(found: Any) -> Any:
    """Return JSON of quantities, their values and standard errors rounded as they are released."""
    if not isinstance(found, dict):
        return found
    if isinstance(found.get("se"), int | float):  # a quantity; others are by names of nodes
        return {**found, "value": round_truth(found["value"]), "se": round_truth(found["se"])}
    return {key: _round_numbers(one) for key, one in found.items()}


def _causenet_pair(scene: Scene) -> dict[str, object]:
    """Return the CauseNet pair that names an edge at the outcome, as ``{"causenet": …}``, or {}."""
    for seed in scene.plan.telling.seeds:
        if seed.support and all(scene.name(node) == name for node, name in seed.names):
            pair = [name for _, name in seed.names]
            return {"causenet": {"pair": pair, "support": seed.support}}
    return {}


def _view(scene: Scene, shown: Observation) -> dict[str, object]:
    """Return a view for ``world_json``: columns, calibration rows, measurements by node."""
    bundles: dict[str, dict[str, object]] = {}
    for node, bundle in shown.bundles.items():
        bundles[node] = {
            "measurements": [
                {"column": name, **one.to_json()}
                for name, one in measurement_columns(scene, node, bundle).items()
            ],
            "information": {key: round_truth(value) for key, value in bundle.summary.items()},
            "support": [round_truth(value) for value in bundle.support],
            "draws": bundle.draws,
        }
        if found := shown.recovered.get(node):
            fits = {key: round(value, _FIT_DECIMALS) for key, value in found.items()}
            bundles[node]["recoverability"] = fits
    return {
        "columns": [asdict(column) for column in shown.columns],
        "calibration": list(shown.chosen),
        "bundles": bundles,
    }
