"""A miniature of the public reference release, of its published formats what an import reads.

``ASKED`` lists for each answer the pool and the loss of the published rules, worked by hand; None
is a task that the rules drop.
"""

import json
from collections.abc import Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from grader.release.exam import Exam
from grader.scoring.model import RawAnswer
from grader.scoring.score import check, score
from grader.scoring.shape import Task

LABELS = [1.0, 3.0, 5.0, 7.0]
"""Held-out outcomes: mean 4, population variance 5."""
BINARY_LABELS = [0.0, 1.0, 1.0, 0.0]

NAMES = {
    "X": "Dose",
    "Y": "Recovery",
    "Z": "Age (years)",
    "M": "Blood Level",
    "U": "Frailty",
    "C": "Ward Stay",
    "V1": "Diet",
    "V2": "Weight",
    "AUX1_Z": "Season",
}
"""Story names by node."""


def named(*nodes: str) -> list[str]:
    return [NAMES[node] for node in nodes]


def conditional(node: str, before: float, after: float, sign_after: str = "+") -> dict[str, Any]:
    return {
        "condition_var": NAMES[node],
        "condition_var_id": node,
        "sign_before": "+",
        "sign_after": sign_after,
        "value_before": before,
        "value_after": after,
    }


def ground_truth(
    scene_id: str,
    edges: Sequence[str],
    *,
    latent: Sequence[str] = (),
    sets: Sequence[Sequence[str]] = (),
    identifiable: bool = True,
    method: str = "backdoor",
    ate: float = 0.0,
    ett: float | None = None,
    nde: float | None = None,
    nie: float | None = None,
    forbidden: Mapping[str, Sequence[str]] | None = None,
    conditionals: Sequence[Mapping[str, Any]] = (),
    structure: str = "confounding",
    std: float = 1.0,
    **more: Any,
) -> dict[str, Any]:
    """One ``ground_truth.json``; an edge is written ``"X Y"``."""
    pairs = [edge.split() for edge in edges]
    nodes = list(dict.fromkeys(node for pair in pairs for node in pair))
    kinds = {"ett": identifiable}
    if nie is not None or nde is not None:
        kinds |= {"nde": identifiable, "nie": identifiable}
    truth: dict[str, Any] = {
        "scene_id": scene_id,
        "graph": {
            "nodes": nodes,
            "treatment": "X",
            "outcome": "Y",
            "observed_nodes": [node for node in nodes if node not in latent],
            "nodes_named": named(*nodes),
            "edges_named": [named(*pair) for pair in pairs],
        },
        "mapping": {node: NAMES[node] for node in nodes},
        "causal": {
            "valid_backdoor_sets_named": [named(*one) for one in sets],
            "forbidden_conditioning_named": {
                part: named(*(forbidden or {}).get(part, ()))
                for part in ("descendants", "colliders")
            },
            "true_ate": {"x0": 0.0, "x1": 1.0, "value": ate},
            "identification_named": {"identifiable": identifiable, "method": method},
        },
        "association": {"sign": "+", "value": 0.3},
        "conditional_associations_by_id": {one["condition_var_id"]: one for one in conditionals},
        "counterfactual_identification": {
            kind: {"estimand_kind": kind, "identifiable": verdict}
            for kind, verdict in kinds.items()
        },
        "ett": {"value": ate if ett is None else ett, "sign": "+"},
        "metadata": {"structural_label": structure, "observation_model": {"grid": [0.0] * 10}},
        "outcome_stats": {"std": std, "n_train": 16000, "outcome_name": NAMES["Y"]},
        **more,
    }
    for kind, value in (("nde", nde), ("nie", nie)):
        if value is not None:
            truth[kind] = {"value": value, "sign": "+" if value > 0 else "-"}
    return truth


def item(
    scene_id: str, task_id: str, number: int, view: str = "clean", **inputs: Any
) -> dict[str, Any]:
    """One task as ``exam.json`` has it."""
    family, variant = task_id.split("__")[:2]
    csv = family == "prediction"
    symbolic = family in ("causal_sketch", "identification", "counterfactual_identification")
    symbolic = symbolic or variant == "forbidden_controls_list"
    return {
        "scene_id": scene_id,
        "task_id": task_id,
        "task_type": family,
        "prompt": f"## Task: {family}\n\nA published prompt about {variant}.\n",
        "output_variant": variant,
        "input_mode": "symbolic" if symbolic else "parquet",
        "inputs": inputs,
        "scoring_key": "somewhere",
        "observation_variant": view,
        "answer_filename": f"task{number}.{'csv' if csv else 'json'}",
    }


def table(path: Path, columns: Mapping[str, Sequence[float]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({name: pa.array(values) for name, values in columns.items()}), path)


def write_json(path: Path, document: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")


def write_scene(
    folder: Path, truth: Mapping[str, Any], *, view: str = "clean", binary: bool = False
) -> None:
    """All files of a scene that an import reads."""
    scene_id = str(truth["scene_id"])
    public, private = folder / "scenes" / scene_id, folder / "scenes_private" / scene_id
    place = public / "variants" / view
    labels = BINARY_LABELS if binary else LABELS
    treatment = [0.0, 1.0, 1.0, 0.0]
    observed = [NAMES[node] for node in truth["graph"]["observed_nodes"]]
    conceptual = {
        name: labels if name == NAMES["Y"] else treatment if name == NAMES["X"] else [0.1] * 4
        for name in observed
    }
    table(private / "test.parquet", conceptual)
    features = {name: values for name, values in conceptual.items() if name != NAMES["Y"]}
    if view == "proxy":
        features[f"{NAMES['X']}1"] = features.pop(NAMES["X"])
        table(place / "calibration.parquet", {**features, NAMES["X"]: treatment})
    table(place / "test_features.parquet", features)
    table(place / "data.parquet", {**features, NAMES["Y"]: labels})
    write_json(private / "ground_truth.json", truth)
    (public / "story.md").write_text(f"# {scene_id}\n\nOnce upon a time.\n", encoding="utf-8")


def write_exam(folder: Path, items: Sequence[Mapping[str, Any]]) -> None:
    write_json(
        folder / "exam.json",
        {"exam_id": "exam_12345", "items": list(items), "seed": 12345, "metadata": {"n_tasks": 1}},
    )


def text_of(answer: Any) -> bytes:
    """An answer as its file holds it; a text stays as it is."""
    return (answer if isinstance(answer, str) else json.dumps(answer)).encode()


def task_of(exam: Exam, name: str) -> Task:
    """The task whose answer file has the stem ``name``."""
    return next(task for task in exam.split.tasks if task.task_id == name)


def graded(exam: Exam, name: str, answer: Any) -> Any:
    """The score of one answer to the task called ``name``."""
    task = task_of(exam, name)
    return score(task, exam.truths[name], check(task, RawAnswer(name, text_of(answer))))


MEDIATED, HIDDEN, ZERO, ARROWHEAD, DOOR = (f"scene_00000{k}" for k in range(1, 6))

CONDITIONALS = [conditional("Z", 0.3, 0.1), conditional("M", 0.3, -0.2, "-")]


def scenes() -> dict[str, dict[str, Any]]:
    """Five ground truths; wrong where the reference's own rules make them wrong."""
    return {
        # A mediator in the stored sets, and none among the forbidden controls.
        MEDIATED: ground_truth(
            MEDIATED, ["X M", "M Y", "X Y", "Z X", "Z Y"], sets=[["Z"], ["Z", "M"]],
            ate=0.5, ett=0.4, nde=0.3, nie=-0.25, conditionals=CONDITIONALS, structure="mediation",
        ),
        HIDDEN: ground_truth(
            HIDDEN, ["Z X", "X Y", "U X", "U Y"], latent=["U"], identifiable=False, method="none",
            ate=0.7, conditionals=[conditional("Z", 0.3, 0.2)], structure="iv",
            nde=0.1, nie=0.2,
        ),
        # No effect by the graph, but a number outside the zero band.
        ZERO: ground_truth(
            ZERO, ["X C", "Y C", "AUX1_Z X"], sets=[[], ["AUX1_Z"]], method="trivial_zero",
            ate=0.0161, ett=0.001, forbidden={"colliders": ["C"], "descendants": ["C"]},
            std=0.5, structure="grafted",
            explaining_away=[
                {
                    "collider": NAMES["C"], "collider_id": "C", "association_present": True,
                    "sign": "-", "sign_marginal": "unknown", "value_marginal": 0.001,
                    "value_conditional": -0.4,
                }
            ],
            collider_bias=[{"collider": "C", "collider_named": NAMES["C"], "bias_present": True}],
        ),
        # Conditioning on V2 opens X -> V2 <- V1 -> Y, which the reference does not see.
        ARROWHEAD: ground_truth(
            ARROWHEAD, ["X V2", "V2 Y", "V1 V2", "V1 Y", "X Y"],
            sets=[[], ["V1"], ["V2"], ["V1", "V2"]], ate=-0.2, ett=-0.2, structure="arrowhead",
            nde=-0.12, nie=-0.118,
            forbidden={"colliders": ["V2"], "descendants": []},
            collider_bias=[
                {"collider": "V2", "collider_named": NAMES["V2"], "bias_present": False}
            ],
        ),
        DOOR: ground_truth(
            DOOR, ["X M", "M Y", "U X", "U Y"], latent=["U"], method="frontdoor", ate=0.02,
            ett=-0.01, structure="frontdoor", nde=0.0, nie=0.02,
        ),
    }  # fmt: skip


AVAILABLE = {"available_vars": ["Z", "M"]}
POINT = {"columns": named("X", "Z"), "required_csv_columns": ["prediction"]}
SPLIT_ASKED = {"x0": 0.0, "x1": 1.0, "data_file": "data.parquet"}
SD = sqrt(5)
"""The population standard deviation of 1, 3, 5, 7."""

Case = tuple[Any, str | None, float | None]

ABOUT_C = {"collider": NAMES["C"], "collider_id": "C"}
THROUGH_M = {**SPLIT_ASKED, "mediators": named("M")}
ONE_SET, ALL_SETS = "one_valid_adjustment_set", "all_minimal_adjustment_sets"

ASKED: list[tuple[str, str, dict[str, Any], list[Case]]] = [
    (MEDIATED, "prediction__point_predictor", POINT,
     [("prediction\n1\n3\n5\n9\n", "nrel_point", 1 / (1 + SD)), ("prediction\n1\n", None, None)]),
    (ZERO, "prediction__point_predictor", POINT,
     [("prediction\n.1\n.9\n.6\n.5\n", "nrel_point", sqrt((0.02 + 0.16 + 0.25) / 4) / 1.5)]),
    # Three of width 2, one of width 1 that misses by 1: (6 + 1 + 20) / 4.
    (MEDIATED, "prediction__prediction_interval",
     {"columns": named("X", "Z"), "alpha": 0.1,
      "required_csv_columns": ["prediction", "lower", "upper"]},
     [("prediction,lower,upper\n1,0,2\n3,2,4\n5,4,6\n7,8,9\n", "nrel_interval", 6.75 / (1 + SD))]),
    (MEDIATED, "association__sign_only", {}, [({"sign": "+"}, "pass", 0.0)]),
    (MEDIATED, "association__effect_size_point", {}, [({"value": 0.5}, "nrel_point", 0.2 / 1.3)]),
    (MEDIATED, "association__sign_before_after__m",
     {"conditioning_var": NAMES["M"], "conditioning_var_id": "M"},
     [({"sign_before": "+", "sign_after": "-"}, "pass", 0.0),
      ({"sign_before": "+", "sign_after": "+"}, "pass", 1.0)]),
    (MEDIATED, "association__delta_point__z",
     {"conditioning_var": NAMES["Z"], "conditioning_var_id": "Z"},
     [({"delta": 0.1, "conditioning_var": NAMES["Z"]}, "nrel_point", 0.3 / 1.2)]),
    (MEDIATED, "association__delta_sign_only__z",
     {"conditioning_var": NAMES["Z"], "conditioning_var_id": "Z"}, [({"sign": "-"}, "pass", 0.0)]),
    (MEDIATED, "association__argmax_change",
     {"conditioning_var_ids": ["Z", "M"], "conditioning_vars": named("Z", "M")},
     [({"conditioning_var": NAMES["M"]}, "pass", 0.0)]),
    (ZERO, "collider_phenomenon__induced_association_boolean__c", ABOUT_C,
     [({"association_present": True}, "pass", 0.0)]),
    (ZERO, "collider_phenomenon__induced_association_sign_only__c", ABOUT_C,
     [({"sign": "-"}, "pass", 0.0)]),
    (ZERO, "collider_phenomenon__induced_association_strength_point__c", ABOUT_C,
     [({"value": 0.3}, "nrel_point", 0.7 / 1.4)]),
    # Two of three right, four true: F1 = 4/7.
    (HIDDEN, "causal_sketch__edges_only", {},
     [({"edges": [{"from": "age (years)", "to": "Dose"}, {"from": "Dose", "to": "Recovery"},
                  {"from": "Recovery", "to": "Dose"}]}, "f1", 3 / 7)]),
    (HIDDEN, "causal_sketch__skeleton_edges", {},
     [({"skeleton_edges": [{"a": "Dose", "b": "Age (years)"}, {"a": "Recovery", "b": "Dose"}]},
       "f1", 1 / 3)]),
    (MEDIATED, f"identification__{ONE_SET}", AVAILABLE,
     [({"adjust": named("Z")}, "pass", 0.0), ({"adjust": named("M", "Z")}, "pass", 0.0),
      ({"adjust": []}, "pass", 1.0), ({"adjust": "no_backdoor"}, "pass", 1.0)]),
    (HIDDEN, f"identification__{ONE_SET}", {"available_vars": ["Z"]},
     [({"adjust": "non_id"}, "pass", 0.0), ({"adjust": named("Z")}, "pass", 1.0)]),
    (DOOR, f"identification__{ONE_SET}", {"available_vars": ["M"]},
     [({"adjust": "no_backdoor"}, "pass", 0.0), ({"adjust": "non_id"}, "pass", 1.0)]),
    (MEDIATED, "identification__minimal_adjustment_set_size", AVAILABLE,
     [({"k": 1}, "pass", 0.0), ({"k": 2}, "pass", 1.0)]),
    (MEDIATED, "identification__n_valid_adjustment_sets", AVAILABLE,
     [({"n": 2}, "pass", 0.0), ({"n": 1}, "pass", 1.0)]),
    (DOOR, "identification__n_valid_adjustment_sets", {"available_vars": ["M"]},
     [({"n": 0}, "pass", 0.0), ({"n": "no_backdoor"}, "pass", 0.0), ({"n": 2}, "pass", 1.0)]),
    (MEDIATED, f"identification__{ALL_SETS}", AVAILABLE,
     [({"adjustment_sets": [named("Z"), named("M")]}, "f1", 1 / 3)]),
    (HIDDEN, f"identification__{ALL_SETS}", {"available_vars": ["Z"]},
     [({"adjustment_sets": "non_id"}, "pass", 0.0), ({"adjustment_sets": [[]]}, "pass", 1.0)]),
    (DOOR, "identification__method_label", {"observed_vars": ["X", "M", "Y"]},
     [({"method": "frontdoor"}, "pass", 0.0)]),
    (HIDDEN, "identification__method_label", {"observed_vars": ["X", "Z", "Y"]},
     [({"method": "none"}, "pass", 0.0)]),
    (HIDDEN, "identification__identifiable_boolean", {"observed_vars": ["X", "Z", "Y"]},
     [({"identifiable": False}, "pass", 0.0)]),
    (ARROWHEAD, "bias_diagnostic__collider_bias_boolean__v2",
     {"collider": NAMES["V2"], "collider_id": "V2"}, [({"bias_present": False}, "pass", 0.0)]),
    (ZERO, "bias_diagnostic__collider_bias_boolean__c", ABOUT_C,
     [({"bias_present": True}, "pass", 0.0)]),
    (MEDIATED, "bias_diagnostic__forbidden_controls_list", {"observed_vars": ["Z", "M"]},
     [({"forbidden": []}, "f1", 0.0), ({"forbidden": named("M")}, "f1", 1.0)]),
    (ARROWHEAD, "bias_diagnostic__forbidden_controls_list", {"observed_vars": ["V1", "V2"]},
     [({"forbidden": named("V1", "V2")}, "f1", 1 / 3)]),
    (MEDIATED, "effect_estimate__ate_point", SPLIT_ASKED,
     [({"ate": 0.8}, "nrel_point", 0.3 / 1.5), ({"ate": None}, "pass", 1.0)]),
    (HIDDEN, "effect_estimate__ate_point", SPLIT_ASKED,
     [({"ate": None}, "pass", 0.0), ({"ate": 0.7}, "pass", 1.0)]),
    (ZERO, "effect_estimate__ate_point", SPLIT_ASKED,
     [({"ate": 0.0}, "nrel_point", 0.0161 / 1.0161)]),
    # Too high by 0.1: 0.2 + 40 * 0.1.
    (MEDIATED, "effect_estimate__ate_uq_95", {**SPLIT_ASKED, "alpha": 0.05},
     [({"ate": 0.7, "ci_lower": 0.6, "ci_upper": 0.8}, "nrel_interval", 4.2 / 1.5)]),
    # The band is 3 * 0.5 / sqrt(16000) = 0.0119, below the published 0.0161.
    (ZERO, "effect_estimate__ate_sign_only", SPLIT_ASKED,
     [({"sign": "+"}, "pass", 0.0), ({"sign": "0"}, "pass", 1.0)]),
    # Here it is 0.0237: 0.02 lies inside, so that two labels are right.
    (DOOR, "effect_estimate__ate_sign_only", SPLIT_ASKED,
     [({"sign": "0"}, "pass", 0.0), ({"sign": "+"}, "pass", 0.0), ({"sign": "-"}, "pass", 1.0)]),
    (MEDIATED, "effect_estimate__ate_vs_assoc_sign_match", SPLIT_ASKED,
     [({"matches": True}, "pass", 0.0)]),
    (ZERO, "effect_estimate__ate_vs_assoc_sign_match", SPLIT_ASKED,
     [({"matches": True}, "pass", 0.0)]),
    (DOOR, "effect_estimate__ate_vs_assoc_sign_match", SPLIT_ASKED,
     [({"matches": False}, "pass", 0.0)]),
    (HIDDEN, "counterfactual_identification__identifiable_boolean__ett",
     {"estimand_kind": "ett", "x0": 0.0, "x1": 1.0}, [({"identifiable": False}, "pass", 0.0)]),
    (MEDIATED, "counterfactual_identification__identifiable_boolean__nde",
     {"estimand_kind": "nde", "x0": 0.0, "x1": 1.0, "mediators": named("M")},
     [({"identifiable": True}, "pass", 0.0)]),
    (MEDIATED, "counterfactual_effect__effect_point", SPLIT_ASKED,
     [({"value": 0.0}, "nrel_point", 0.4 / 1.4)]),
    (MEDIATED, "counterfactual_effect__effect_uq_95", {**SPLIT_ASKED, "alpha": 0.05},
     [({"value": 0.4, "ci_lower": 0.3, "ci_upper": 0.5}, "nrel_interval", 0.2 / 1.4)]),
    (HIDDEN, "counterfactual_effect__sign_only", SPLIT_ASKED, [({"sign": "unknown"}, "pass", 0.0)]),
    (MEDIATED, "mediation_effect__effect_point__nie", {**THROUGH_M, "effect_kind": "nie"},
     [({"value": 0.0}, "nrel_point", 0.25 / 1.25), ({"value": "n/a"}, "pass", 1.0)]),
    (MEDIATED, "mediation_effect__effect_uq_95__nde",
     {**THROUGH_M, "effect_kind": "nde", "alpha": 0.05},
     [({"value": 0.3, "ci_lower": 0.0, "ci_upper": 0.25}, "nrel_interval", (0.25 + 2.0) / 1.3)]),
    (MEDIATED, "mediation_effect__sign_only__nie", {**THROUGH_M, "effect_kind": "nie"},
     [({"sign": "-"}, "pass", 0.0)]),
    (MEDIATED, "mediation_effect__direct_vs_indirect_dominance", THROUGH_M,
     [({"dominant": "direct"}, "pass", 0.0)]),
    # 0.12 and 0.118 differ by less than 5% of the larger.
    (ARROWHEAD, "mediation_effect__direct_vs_indirect_dominance",
     {**SPLIT_ASKED, "mediators": named("V2")}, [({"dominant": "tie"}, "pass", 0.0)]),
    (HIDDEN, "mediation_effect__direct_vs_indirect_dominance", SPLIT_ASKED,
     [({"dominant": None}, "pass", 0.0)]),
]  # fmt: skip
"""(scene, task id, inputs, cases); the k-th is answered in ``task<k>``, k from 1. They tell which
truths were read. Every form of answer stands in the tables of cases of tests/grader."""

VIEWS: Mapping[str, str] = {ZERO: "proxy_hard", HIDDEN: "proxy"}


def write_reference(folder: Path) -> Path:
    """The whole miniature, like ``data/benchmark/main``."""
    items = [
        item(scene_id, task_id, number, VIEWS.get(scene_id, "clean"), **inputs)
        for number, (scene_id, task_id, inputs, _) in enumerate(ASKED, start=1)
    ]
    for scene_id, truth in scenes().items():
        write_scene(folder, truth, view=VIEWS.get(scene_id, "clean"), binary=scene_id == ZERO)
    write_exam(folder, items)
    return folder
