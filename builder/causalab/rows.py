"""Graphs and their episodes as rows of the release (``docs/causalab.md``)."""

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from builder.causalab.ask.prompt import write_prompt
from builder.causalab.make.episode import Parts
from builder.causalab.plan.graphs import TRACK_NAME, GraphPlan
from builder.causalab.plan.suites import Setting, Suite, label
from builder.release import rows
from builder.release.schemas import TASKS, TRUTH, worlds_schema
from builder.seeds import public_id
from builder.track import InstanceSpec, Row
from grader.tracks import variant as variant_of

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
    prompt = write_prompt(parts.public, name, name + variant.shape.suffix)
    view = parts.private["regime"]
    return rows.task_row(name, spec.instance_id, variant, prompt, parts.public, view=view)


def truth_row(spec: InstanceSpec, name: str, parts: Parts) -> Row:
    """A row of ``causalab_truth``: the frequency is exact."""
    private = parts.private
    suite, setting = private["suite"], private["setting"]
    slice_name = suite if setting == "reference" else f"{suite}-{setting}"
    frequency = rows.TrueValue(private["frequency"])
    return rows.truth_row(name, spec.instance_id, slice_name, private, frequency)


def world_row(spec: InstanceSpec, plan: GraphPlan, attempt: int) -> Row:
    """A row of ``causalab_worlds``: the graph, and which task is which episode of it."""
    world = {
        "names": plan.graph.nodes,
        "edges": sorted(plan.graph.edges),
        "fixed": plan.fixed,
        "tasks": {task_id(spec, *episode): label(*episode) for episode in plan.episodes},
    }
    return rows.world_row(spec, attempt, f"k{len(plan.graph.nodes)}", world)
