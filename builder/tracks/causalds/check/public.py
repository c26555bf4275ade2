"""Check what is public of tasks and scenes: leaks, inputs, borrowed answers."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from builder.graphs.graph import LatentDAG
from builder.graphs.identification import is_identifiable
from builder.splits.track import LeakFacts, SceneRow, TaskRow
from builder.tracks.causalds.design.eligibility import VARIANTS
from builder.tracks.causalds.plan.names import FIRST
from grader.io.jsonio import canonical_json
from grader.scoring.shape import Task

Row = Mapping[str, Any]


def leak_facts(task: TaskRow, truth: Row, world: Row) -> LeakFacts | None:
    """Return a task's facts for the leak test, None for a scene that only tells another again. It
    may tell its declared inputs (lengths of lists, kinds, alpha, which effect), but no name and no
    contrast. ``truth`` and ``world`` are rows of ``causalds_truth`` and ``causalds_worlds``."""
    facts = _scene_facts(world["world_json"])
    if facts is None:
        return None
    counts, hidden = facts
    inputs = task.inputs
    lists = {
        name: tuple(value) for name, value in sorted(inputs.items()) if isinstance(value, list)
    }
    scalars = ("alpha", "estimand", "outcome_kind", "rows", "variables")
    return LeakFacts(
        hidden={"structure": world["structure"], "motif": world["motif"], **hidden},
        facts=_answer_facts(task, truth),
        of_instance=counts,
        of_task=(
            [(name, len(value)) for name, value in lists.items()],
            [inputs.get(name) for name in scalars],
            {inputs.get("x0"), inputs.get("x1")} == {0, 1},
        ),
        ends=(str(inputs.get("treatment", "")), str(inputs.get("outcome", ""))),
        orders=tuple(lists.values()),
    )


@lru_cache(maxsize=8)
def _scene_facts(world_json: str) -> tuple[tuple[int, ...], dict[str, str]] | None:
    """Return the numbers of nodes, edges and latents, and hidden facts; None for a retelling."""
    record = json.loads(world_json)
    telling = record.get("plan", {}).get("telling", {}).get("arm")
    if telling is not None and telling not in FIRST:
        return None
    world, ends = record["world"], (record["treatment"], record["outcome"])
    kinds = {node["name"]: node["kind"] for node in world["nodes"]}
    graph = LatentDAG(tuple(kinds), tuple(map(tuple, world["edges"])), frozenset(world["latent"]))
    ett = is_identifiable(graph, *ends, "ett", binary_treatment=kinds[ends[0]] == "binary")
    return (len(kinds), len(graph.edges), len(graph.latent)), {
        "ATE identifiable": str(is_identifiable(graph, *ends, "ate")),
        "ETT identifiable": str(ett),
    }


def _answer_facts(task: TaskRow, truth: Row) -> dict[str, str]:
    """Return private facts of a truth by name: structure, abstaining, sign, category, label."""
    shape, target = VARIANTS[task.key].shape, json.loads(truth["target_json"])
    facts = {"asked structure": truth["structure"]}
    if shape.abstainable:
        facts["should abstain"] = str(truth["should_abstain"])
    if truth["value"] is not None:
        facts["sign"] = "-" if truth["value"] < 0 else "+" if truth["value"] > 0 else "0"
    if "category" in target:
        empty = [] in target.get("sets", ()) or target.get("names") == []
        facts["category"] = "empty set" if empty else target["category"]
    if "accepted" in target and shape.kind != "name":
        name = {"sign": "sign", "boolean": "yes or no"}.get(shape.kind, "label")
        facts[name] = str(target["accepted"][0])
    return facts


_SETS: Final = ("set", "sets", "names")
"""The kinds of answers that are lists of names."""

_STATED: Final = ("observed", "available", "candidates")
"""Lists that tell no answer: all that is measured, or variables picked whatever the graph."""

_LIST: Final = re.compile(r"(?:^- .+\n?)+", re.MULTILINE)


def lends(shown: Task, asked: Task) -> Iterator[str]:
    """Yield lists of names that the question of ``shown`` prints, as answers (JSON) to ``asked``.
    Each is a Markdown list, restricted to the names that ``asked`` offers. Lists that are inputs of
    ``shown`` (``_STATED``) tell nothing and are skipped. Empty unless ``asked`` wants names."""
    if asked.shape.kind not in _SETS:
        return
    stated = [set(shown.inputs[key]) for key in _STATED if key in shown.inputs]
    for block in _LIST.findall(shown.prompt.partition("\n## Question\n")[2]):
        listed = {line.removeprefix("- ") for line in block.splitlines()}
        names = [name for name in asked.inputs["available"] if name in listed]
        if names and listed not in stated:
            yield canonical_json(
                {asked.shape.field: [names] if asked.shape.kind == "sets" else names}
            )


_ROLES: Final = ("treatment", "outcome", "conditioning_var", "variable")


def shown_problems(task: TaskRow, scene: SceneRow, private: bool) -> Iterator[str]:
    """Yield the problems of one task's test table, lists and names. ``private`` is of its split."""
    columns = [name for name, _ in scene.columns]
    inputs = task.inputs
    if task.family == "prediction":
        features = [name for name in columns if _concept(name) != inputs["outcome"]]
        if list(inputs["columns"]) != columns or list(scene.test_columns) != features:
            yield "test_features is not every column but the outcome"
        if inputs["rows"] != scene.rows[1]:
            yield f"{inputs['rows']} rows asked, test_features has {scene.rows[1]}"
        # A measured outcome has no column of its own.
        kind = dict(scene.columns).get(inputs["outcome"], inputs["outcome_kind"])
        if kind != inputs["outcome_kind"]:
            yield "the outcome's kind is not that of its column"
    elif private and scene.test_columns:
        yield "a private scene ships test_features that its task does not need"
    lists = [inputs.get(key, ()) for key in _STATED]
    listed = [name for names in lists for name in names]
    named = {*listed, *(inputs[role] for role in _ROLES if role in inputs)}
    strange = sorted(named - {_concept(name) for name in columns}) if columns else []
    if strange or any(name not in task.prompt for name in named):
        yield f"names that no column or prompt has: {', '.join(strange)}"
    if any(len(set(names)) < len(names) for names in lists):
        yield "a list names a variable twice"


def _concept(column: str) -> str:
    """Return the story name of the variable that a column shows, itself or by a measurement."""
    return column.partition("_meas_")[0]
