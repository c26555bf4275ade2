"""Graphs and their episodes as rows of the release (``docs/causalab.md``)."""

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from builder.causalab.ask.prompt import write_prompt
from builder.causalab.make.episode import Parts
from builder.causalab.plan.graphs import TRACK_NAME, GraphPlan
from builder.causalab.plan.suites import Setting, Suite, label
from builder.release.schemas import TASKS, TRUTH, worlds_schema
from builder.release.types import InstanceSpec, Row
from builder.seeds import public_id
from grader.io.jsonio import canonical
from grader.spec import variant as variant_of

PREFIX: Final = "lab"

SCHEMAS: Final[Mapping[str, pa.Schema]] = {
    "causalab": TASKS,
    "causalab_truth": TRUTH,
    "causalab_worlds": worlds_schema(),
}
"""Explicit Arrow schema by config; tasks and truths have the columns of every track."""

PRIVATE_CONFIGS: Final = frozenset({"causalab_truth", "causalab_worlds"})


def task_id(spec: InstanceSpec, suite: Suite, setting: Setting) -> str:
    """The public id of a task: it depends on the id key and the label alone."""
    return public_id(PREFIX, spec.id_key, label(suite, setting))


def task_row(spec: InstanceSpec, name: str, parts: Parts) -> Row:
    """A row of ``causalab``: the task called ``name``."""
    variant = variant_of(TRACK_NAME, f"laboratory.{parts.public['family']}")
    answer_file = name + variant.suffix
    return {
        "task_id": name,
        "instance_id": spec.instance_id,
        "track": TRACK_NAME,
        "rung": variant.rung,
        "family": variant.family,
        "variant": variant.name,
        "view": parts.private["regime"],
        "input_mode": variant.input_mode,
        "prompt": write_prompt(parts.public, name, answer_file),
        "answer_schema": variant.shape,
        "answer_file": answer_file,
        "inputs_json": canonical(parts.public),
    }


def truth_row(spec: InstanceSpec, name: str, parts: Parts) -> Row:
    """A row of ``causalab_truth``: the frequency is exact, so its error is zero."""
    return {
        "task_id": name,
        "instance_id": spec.instance_id,
        "should_abstain": False,
        "structure": structure(parts.private["suite"], parts.private["setting"]),
        "value": parts.private["frequency"],
        "value_se": 0.0,
        "value_draws": 0,
        "value_source": "exact",
        "target_json": canonical(parts.private),
    }


def world_row(spec: InstanceSpec, plan: GraphPlan, attempt: int) -> Row:
    """A row of ``causalab_worlds``: the graph, and which task is which episode of it."""
    world = {
        "names": plan.graph.nodes,
        "edges": sorted(plan.graph.edges),
        "fixed": plan.fixed,
        "tasks": {task_id(spec, *episode): label(*episode) for episode in plan.episodes},
    }
    return {
        "instance_id": spec.instance_id,
        "index": spec.index,
        "attempt": attempt,
        "key": spec.key.hex(),
        "structure": f"k{len(plan.graph.nodes)}",
        "world_json": canonical(world),
    }


def structure(suite: str, setting: str) -> str:
    """The slice that an episode belongs to."""
    return suite if setting == "reference" else f"{suite}-{setting}"
