"""A scene and its tasks as rows of the release (``docs/release-format.md``)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from string import ascii_lowercase
from typing import Final

import numpy as np
import pyarrow as pa

from builder.equations.quantities import Quantity
from builder.release import rows
from builder.release.arrow import round_truth
from builder.release.schemas import TASKS, TRUTH, labels_schema, scenes_schema, worlds_schema
from builder.splits.seeds import public_id
from builder.splits.track import InstanceSpec, Row
from builder.tracks.causalds.ask.wording import Question, write_prompt
from builder.tracks.causalds.design.scene_plan import CLEAN
from builder.tracks.causalds.make.observe import Observation, measurement_name
from builder.tracks.causalds.make.scene import Column, Scene
from grader.scoring.shape import Variant

SCHEMAS: Final[Mapping[str, pa.Schema]] = {
    "causalds": TASKS,
    "causalds_scenes": scenes_schema(pa.float32()),
    "causalds_truth": TRUTH,
    "causalds_labels": labels_schema(pa.float32()),
    "causalds_worlds": worlds_schema("motif", "treatment", "outcome"),
}
"""Explicit Arrow schema by config; the first column is the id."""

_FIT_DECIMALS: Final = 4
"""Of R^2 and AUC: further ones depend on the order in which the fitting library adds."""

PRIVATE_CONFIGS: Final = frozenset({"causalds_truth", "causalds_labels", "causalds_worlds"})


def task_id(spec: InstanceSpec, variant: Variant, detail: str, view: str) -> str:
    """The public id of a task: it depends on the id key, the variant, what the question names and
    the view alone."""
    parts = [variant.key, f"of {detail}" if detail else "", "" if view == CLEAN.name else view]
    return public_id("cds", spec.id_key, "/".join(part for part in parts if part))


def task_row(
    spec: InstanceSpec, scene: Scene, shown: Observation, variant: Variant, question: Question
) -> Row:
    """A row of ``causalds``."""
    name = task_id(spec, variant, question.detail, shown.view.name)
    inputs = dict(question.inputs)
    if "columns" in inputs:
        inputs["columns"] = [column.name for column in shown.columns]
    prompt = write_prompt(scene, shown, variant, question, name + variant.shape.suffix)
    return rows.task_row(name, spec.instance_id, variant, prompt, inputs, view=shown.view.name)


def truth_row(
    spec: InstanceSpec, scene: Scene, shown: Observation, variant: Variant, question: Question
) -> Row:
    """A row of ``causalds_truth``."""
    truth, quantity = question.truth, question.truth.quantity
    number = None
    if quantity is not None:
        number = rows.TrueValue(
            round_truth(quantity.value), round_truth(quantity.se), quantity.draws, quantity.source
        )
    return rows.truth_row(
        task_id(spec, variant, question.detail, shown.view.name),
        spec.instance_id,
        scene.plan.structure.label,
        truth.target,
        number,
        should_abstain=truth.should_abstain,
    )


def scene_row(
    spec: InstanceSpec, scene: Scene, shown: Observation, *, data: bool, test_features: bool
) -> Row:
    """A row of ``causalds_scenes``, without tables that no task of the scene may show.

    ``test_features`` leave out the outcome, and measurements of it.
    """
    names = [column.name for column in shown.columns]
    features = [column.name for column in shown.columns if column.node != scene.motif.outcome]
    return {
        "instance_id": spec.instance_id,
        "view": shown.view.name,
        "story": scene.narration.telling.story,
        "columns": [
            {"name": column.name, "kind": column.kind} for column in (shown.columns if data else ())
        ],
        "data": _table(shown.train, names if data else []),
        "test_features": _table(shown.test, features if test_features else []),
        "calibration": _table(shown.calibration, list(shown.calibration) if data else []),
    }


def label_row(spec: InstanceSpec, scene: Scene) -> Row:
    """A row of ``causalds_labels``: the outcome of each row of ``test_features``, in its order."""
    return {
        "instance_id": spec.instance_id,
        "outcome": scene.outcome.name,
        "kind": scene.outcome.kind,
        "values": scene.tables.test[scene.motif.outcome],
    }


def world_row(
    spec: InstanceSpec,
    scene: Scene,
    views: Sequence[Observation],
    attempt: int,
    tasks: Mapping[str, tuple[str, str, str]],
) -> Row:
    """A row of ``causalds_worlds``; ``tasks`` maps task ids to (variant, view, detail)."""
    return rows.world_row(
        spec,
        attempt,
        scene.plan.structure.label,
        _world(scene, views, tasks),
        key=scene.plan.equations.world_key,
        motif=scene.motif.name,
        treatment=scene.treatment.name,
        outcome=scene.outcome.name,
    )


def _world(
    scene: Scene, views: Sequence[Observation], tasks: Mapping[str, tuple[str, str, str]]
) -> dict[str, object]:
    """Everything that is true of a scene: enough to regenerate and to audit it."""
    truths, narration = scene.truths, scene.narration
    return {
        "plan": scene.plan.record(),
        "world": scene.world.to_json(),
        "treatment": scene.motif.treatment,
        "outcome": scene.motif.outcome,
        "variables": {node: variable.to_json() for node, variable in scene.variables.items()},
        "hows": [[*edge, clause] for edge, clause in sorted(narration.mechanism_clauses.items())],
        "columns": list(scene.columns),
        "levels": list(truths.levels),
        "quantities": {
            "association": _quantity(truths.association),
            "partial": {node: _quantity(q) for node, q in truths.partial.items()},
            "change": {node: _quantity(q) for node, q in truths.change.items()},
            "outcome_sd": _quantity(truths.outcome_sd),
            "ate": _quantity(truths.ate),
            "ett": _quantity(truths.ett),
            "nde": _quantity(truths.nde),
            "nie": _quantity(truths.nie),
        },
        **_seeded(scene),
        "attestations": [attestation.to_json() for attestation in narration.telling.attestations],
        "views": {shown.view.name: _view(scene, shown) for shown in views},
        "tasks": {name: key for name, (key, _, _) in tasks.items()},
        "task_views": {name: view for name, (_, view, _) in tasks.items()},
        "task_details": {name: detail for name, (_, _, detail) in tasks.items() if detail},
    }


def _seeded(scene: Scene) -> dict[str, object]:
    """The pair of CauseNet that the names start from, and its support, where that is known."""
    for seed in scene.plan.telling.seeds:
        if seed.support and all(scene.name(node) == name for node, name in seed.names):
            pair = [name for _, name in seed.names]
            return {"causenet": {"pair": pair, "support": seed.support}}
    return {}


def _view(scene: Scene, shown: Observation) -> dict[str, object]:
    """The columns of a view, and how each measurement comes about."""
    letters = {
        node: [
            {"column": measurement_name(scene, node, letter), **one.to_json()}
            for letter, one in zip(ascii_lowercase, bundle.measurements, strict=False)
        ]
        for node, bundle in shown.bundles.items()
    }
    return {
        "columns": [asdict(column) for column in shown.columns],
        "calibration": list(shown.chosen),
        "bundles": {
            node: {
                "measurements": letters[node],
                "information": {k: round_truth(v) for k, v in bundle.summary.items()},
                "support": [round_truth(v) for v in bundle.support],
                "draws": bundle.draws,
                **(
                    {"recoverability": {k: round(v, _FIT_DECIMALS) for k, v in found.items()}}
                    if (found := shown.recovered.get(node))
                    else {}
                ),
            }
            for node, bundle in shown.bundles.items()
        },
    }


def _quantity(quantity: Quantity | None) -> dict[str, object] | None:
    if quantity is None:
        return None
    rounded = replace(quantity, value=round_truth(quantity.value), se=round_truth(quantity.se))
    return asdict(rounded)


def _table(table: Mapping[str, Column], names: list[str]) -> list[dict[str, object]]:
    return [{"name": name, "values": np.asarray(table[name])} for name in names]
