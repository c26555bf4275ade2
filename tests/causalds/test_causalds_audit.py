"""Second derivations agree with what is published, and notice what is wrong."""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from causalds_scenes import private, public, specs, variant_of, world
from random_queries import random_query

from builder.equations.noise import NOISE_FAMILIES
from builder.graphs import identification
from builder.graphs.graph import LatentDAG
from builder.graphs.motifs import MOTIFS, PLANTED
from builder.release.arrow import table_from_rows
from builder.splits.track import BuiltInstance
from builder.tracks.causalds.check import audit
from builder.tracks.causalds.check import graph as audit_graph
from builder.tracks.causalds.check.audit import _check_measurement, audit_instance
from builder.tracks.causalds.check.equations import Array
from builder.tracks.causalds.check.stored_scene import StoredScene
from builder.tracks.causalds.plan.config import SceneSettings
from builder.tracks.causalds.rows import SCHEMAS
from builder.tracks.causalds.track import TRACK

COARSE = ("coarsened_continuous",)


def _written(built: BuiltInstance) -> dict[str, list[dict[str, Any]]]:
    """Rows as they come back from a shard: plain lists and floats."""
    return {
        config: table_from_rows(built.rows[config], schema).to_pylist()
        for config, schema in SCHEMAS.items()
    }


def _audit(found: dict[str, list[dict[str, Any]]]) -> list[str]:
    return audit_instance(
        found["causalds_worlds"][0],
        found["causalds_truth"],
        (found["causalds_labels"] or [None])[0],  # type: ignore[list-item]
        found["causalds_scenes"][0],
    )


def test_every_truth_of_both_splits_agrees_with_its_second_derivation() -> None:
    """The gate must pass on what the builder writes."""
    some = (*public()[::4], *private()[::4])  # the gate of the mini release audits all of it
    problems = [line for built in some for line in _audit(_written(built))]
    assert problems == []


def test_truths_of_coarsened_worlds_agree_with_their_second_derivation() -> None:
    """All continuous variables but treatment and outcome have few values."""
    assert SceneSettings.model_fields["profiles"].default.continuous.keys().isdisjoint(COARSE)
    profiles = {"continuous": dict.fromkeys(COARSE, 1), "binary": {"noisy_or": 1}}
    planned = specs(scenes=12, motifs=dict.fromkeys(MOTIFS, 1), profiles=profiles)
    for built in map(TRACK.build, planned[::2]):
        assert _audit(_written(built)) == []
        record = world(built)
        ends = record["treatment"], record["outcome"]
        for node in record["world"]["nodes"]:
            assert ("grid" in node) == (node["name"] not in ends)
        (shown,) = built.rows["causalds_scenes"]
        few = {record["variables"][n]["name"] for n in record["columns"] if n not in ends}
        assert all(len(set(c["values"])) < 20 for c in shown["data"] if c["name"] in few)


def test_what_chance_did_at_a_first_look_is_looked_at_again(monkeypatch):
    """Of ten million right numbers some are five standard errors off. Units that stray are put in
    place of the first: they refuse a right scene, and the second look does not. A number that is
    just far enough off for a first look is refused by both."""
    found = _written(
        next(b for b in public() if world(b)["plan"]["structure"]["outcome_kind"] == "continuous")
    )
    row = found["causalds_worlds"][0]
    looks = found["causalds_truth"], found["causalds_labels"][0], found["causalds_scenes"][0]
    first = StoredScene.read(row["instance_id"], row["world_json"])
    first.population.noise[first.y] *= 1.1
    monkeypatch.setattr(audit, "_read_scene", lambda *_: first)
    assert any("outcome_sd" in line for line in audit._problems(first, *looks))
    assert _audit(found) == []

    monkeypatch.undo()
    record = json.loads(row["world_json"])
    told = record["quantities"]["outcome_sd"]
    seen = StoredScene.read(row["instance_id"], row["world_json"]).population.sd(first.y)
    told["value"] = seen.value + 5.5 * math.hypot(seen.se, told["se"])
    row["world_json"] = json.dumps(record)
    changed = StoredScene.read(row["instance_id"], row["world_json"])
    again = changed.with_new_units().population.sd(first.y)
    assert again.se < 0.6 * seen.se
    assert any("outcome_sd" in line for line in _audit(found))


def _scene_with(key: str, motif: str | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Written rows of a public scene, and the truth row of one of its variants."""
    for built in public():
        ids = {variant_of(task): task["task_id"] for task in built.rows["causalds"]}
        if key in ids and motif in (None, built.rows["causalds_worlds"][0]["motif"]):
            found = _written(built)
            truth = next(r for r in found["causalds_truth"] if r["task_id"] == ids[key])
            return found, truth
    raise AssertionError(f"no scene with {key} and {motif}")


def _target(truth: dict[str, Any], **changes: object) -> None:
    truth["target_json"] = json.dumps({**json.loads(truth["target_json"]), **changes})


POINT, ETT = "effect_estimate.ate_point", "counterfactual_effect.effect_point"
SIZE, SETS = "association.effect_size_point", "identification.all_minimal_adjustment_sets"
BROKEN: list[tuple[str, str | None, Callable[[dict[str, Any]], object], str]] = [
    (POINT, "confounding", lambda t: t.update(value=t["value"] + 0.2), "published"),
    ("effect_estimate.ate_uq_95", "fork", lambda t: t.update(value=1e-6), "structural_zero"),
    (POINT, "iv", lambda t: t.update(value=0.4, should_abstain=False), "should_abstain"),
    (ETT, "mediation", lambda t: t.update(value=-t["value"]), "published"),
    (ETT, "frontdoor", lambda t: t.update(value=None, should_abstain=True), "should_abstain"),
    (SIZE, "chain", lambda t: t.update(value=t["value"] + 0.05), "published"),
    (SIZE, "chain", lambda t: t.update(value_se=0.1), "published"),
    ("association.sign_only", "collider", lambda t: _target(t, accepted=["+"]), "unknown"),
    ("identification.method_label", "iv", lambda t: _target(t, accepted=["backdoor"]), "none"),
    (SETS, "chain", lambda t: _target(t, sets=[["M"]]), "derived {'category': 'set'"),
    ("causal_sketch.edges_only", None, lambda t: _target(t, edges=[]), "derived"),
    ("prediction.point_predictor", None, lambda t: _target(t, sd=0.9), "derived"),
    ("prediction.prediction_interval", None, lambda t: _target(t, rows=7), "'rows': 7"),
]


@pytest.mark.parametrize(("key", "motif", "harm", "message"), BROKEN)
def test_a_wrong_truth_is_named(key, motif, harm, message):
    found, truth = _scene_with(key, motif)
    harm(truth)
    problems = _audit(found)
    start = f"{truth['task_id']}: {key}"
    assert any(line.startswith(start) and message in line for line in problems), problems
    assert all(line.startswith(truth["task_id"]) for line in problems)


def _loose(quantity: dict[str, Any]) -> None:
    """As if only its first digit were known."""
    quantity["se"] = abs(quantity["value"]) / 3


WRONG_NUMBERS: list[tuple[str, Callable[[dict[str, Any]], object], str]] = [
    ("mediation", lambda q: q["nde"].update(value=q["nde"]["value"] + 0.2), "nde: published"),
    ("mediation", lambda q: q.update(nde=q["nie"], nie=q["nde"]), "nde: published"),
    ("mediation", lambda q: q.update(nie=None), "nie: missing, derived identifiable"),
    ("iv", lambda q: q.update(nde=q["association"]), "nde: given, derived not identifiable"),
    ("chain", lambda q: q["nde"].update(value=0.01), "nde: 0.01 (structural_zero), zero by"),
    ("chain", lambda q: q["nie"].update(se=0.1), "nie: standard error 0.1 above its bound"),
    ("chain", lambda q: q["partial"]["M"].update(value=0.05), "partial given M: "),
    ("mediation", lambda q: q["partial"]["M"].update(value=-q["partial"]["M"]["value"]),
     "partial given M: published"),
    ("mediation", lambda q: q["partial"]["M"].update(value=0.0, source="structural_zero"),
     "partial given M: called a structural zero"),
    ("collider", lambda q: q["change"]["Z"].update(value=0.0, se=0.0, source="structural_zero"),
     "change given Z: called a structural zero"),
    ("collider", lambda q: q["association"].update(value=0.004), "association: 0.004"),
    ("collider", lambda q: q["partial"].pop("Z"), "partial correlations are given [], not ['Z']"),
    ("confounding", lambda q: q["outcome_sd"].update(value=q["outcome_sd"]["value"] * 1.2),
     "outcome_sd: published"),
    # The prompt promises the margin: four combined standard errors must leave it standing.
    ("confounding", lambda q: _loose(q["ate"]), "effect_estimate.ate_sign_only: asked although"),
    ("confounding", lambda q: _loose(q["ate"]), "effect_estimate.ate_point: asked although"),
    ("chain", lambda q: q["nie"].update(value=0.0), "mediation_effect.effect_uq_95: asked"),
    ("confounding", lambda q: _loose(q["association"]), "association.sign_only: asked although"),
    ("confounding", lambda q: _loose(q["change"]["Z"]), "delta_sign_only: asked although"),
    ("confounding", lambda q: q["outcome_sd"].update(se=9 * q["outcome_sd"]["value"]),
     "counterfactual_effect.sign_only: asked although"),
]  # fmt: skip


@pytest.mark.parametrize(("motif", "harm", "message"), WRONG_NUMBERS)
def test_a_wrong_or_loose_stored_number_is_named_without_a_task(motif, harm, message):
    """World rows are published too, and tasks of later versions rest on them."""
    found, _ = _scene_with("causal_sketch.edges_only", motif)
    row = found["causalds_worlds"][0]
    record = json.loads(row["world_json"])
    harm(record["quantities"])
    row["world_json"] = json.dumps(record)
    start = "" if "asked" in message else "quantities: "
    assert any(start + message in line for line in _audit(found))


def test_labels_out_of_step_with_the_features_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turned-around labels keep their sd, so only their company gives them away."""
    monkeypatch.setattr(audit, "_resample_scene", lambda scene: scene)  # the same for rows alone
    scenes, noticed = iter(public()), 0
    while noticed < 3:  # at least where some feature predicts the outcome well
        found = _written(next(scenes))
        found["causalds_labels"][0]["values"].reverse()
        noticed += any("held out" in line for line in _audit(found))


def test_data_of_another_world_are_noticed() -> None:
    found, _ = _scene_with("prediction.point_predictor", "mediation")
    for column in found["causalds_scenes"][0]["data"][:1]:
        column["values"] = column["values"][::-1]
    assert any("correlate" in line for line in _audit(found))


def test_an_unreadable_world_is_a_problem_not_a_crash() -> None:
    found, _ = _scene_with("causal_sketch.edges_only")
    found["causalds_worlds"][0]["world_json"] = "{}"
    (problem,) = _audit(found)
    assert "cannot be read" in problem


VERDICTS = [("ate", False), ("ett", True), ("ett", False), ("nde", False), ("nie", False)]
"""Effects, each with whether the treatment is binary."""


def _graph_verdicts(graph: LatentDAG, x: str, y: str) -> tuple[object, object]:
    """All labels by the builder's code and by the audit's."""
    other = audit_graph.graph_of(graph.edges, graph.nodes)
    valid = audit_graph.valid_adjustment_sets(other, x, y, graph.latent)
    mine = [
        set(identification.valid_adjustment_sets(graph, x, y)),
        set(identification.minimal_adjustment_sets(graph, x, y)),
        str(identification.identification_method(graph, x, y)),
        *(identification.is_identifiable(graph, x, y, e, binary_treatment=b) for e, b in VERDICTS),  # type: ignore[arg-type]
    ]
    known = other, x, y, graph.latent
    theirs = [
        set(valid),
        set(audit_graph.minimal_sets(valid)),
        audit_graph.method_label(*known),
        *(audit_graph.is_identifiable(*known, e, binary_treatment=b) for e, b in VERDICTS),
    ]
    return mine, theirs


def test_graph_labels_of_random_graphs_agree() -> None:
    """Two implementations without a common line, on graphs that no motif resembles."""
    rng = np.random.default_rng(11)
    drawn = [random_query(rng, (4, 7), (0, 2)) for _ in range(400)]
    backwards = [(graph, y, x) for graph, x, y in drawn[::4]]
    named = [motif.effect for motif in (*MOTIFS.values(), *PLANTED.values())]
    for graph, x, y in (*drawn, *backwards, *named):
        mine, theirs = _graph_verdicts(graph, x, y)
        assert mine == theirs, graph


def test_a_sample_without_large_values_is_no_wrong_law() -> None:
    """Of 270 Laplace draws those beyond 2.5 standard deviations may be missing, by chance."""
    one = {
        "column": "M",
        "mechanism": "linear_additive",
        "parameters": {"bias": 0.0, "weights": [1.0]},
        "noise": {"family": "laplace", "scale": 1.0, "shape": []},
    }

    def laplace(count: int) -> Array:
        """So many values at even quantiles."""
        return NOISE_FAMILIES["laplace"].from_uniform((np.arange(count) + 0.5) / count, ())

    short = np.clip(laplace(270), -1.5, 1.5)
    assert float(np.mean(short**2)) < 0.7
    assert list(_check_measurement(one, short, np.zeros(270))) == []
    found = next(_check_measurement(one, 0.7 * laplace(2000), np.zeros(2000)))
    assert "times the noise variance" in found
