"""A miniature of the public reference release: of its published formats what an import reads, and
a few members more."""

import json
from collections.abc import Mapping, Sequence
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
    association: tuple[str, float] = ("+", 0.3),
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
        "association": {"sign": association[0], "value": association[1]},
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
