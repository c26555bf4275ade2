"""Contexts and their tasks as rows of the release (``docs/ccr.md``)."""

from collections.abc import Mapping, Sequence
from typing import Final

import pyarrow as pa

from builder.ccr.ask.tasks import ContextTask, fractions
from builder.ccr.make.graph import Pair
from builder.ccr.make.quantities import Quantities
from builder.ccr.plan.contexts import TRACK_NAME, ContextPlan
from builder.release import rows
from builder.release.schemas import TASKS, TRUTH, worlds_schema
from builder.seeds import public_id
from builder.track import InstanceSpec, Row
from grader.tracks import variant as variant_of

PREFIX: Final = "ccr"


SCHEMAS: Final[Mapping[str, pa.Schema]] = {
    "ccr": TASKS,
    "ccr_truth": TRUTH,
    "ccr_worlds": worlds_schema("purpose"),
}
PRIVATE_CONFIGS: Final = frozenset({"ccr_truth", "ccr_worlds"})


def task_id(spec: InstanceSpec, label: str) -> str:
    """The public id of a task."""
    return public_id(PREFIX, spec.id_key, label)


def task_row(spec: InstanceSpec, task: ContextTask) -> Row:
    """A row of ``ccr``."""
    variant = variant_of(TRACK_NAME, task.variant)
    name = task_id(spec, task.label)
    return rows.task_row(name, spec.instance_id, variant, task.prompt, task.inputs)


def truth_row(spec: InstanceSpec, plan: ContextPlan, task: ContextTask) -> Row:
    """A row of ``ccr_truth``: values are exact."""
    exact = None if task.value is None else rows.TrueValue(float(task.value))
    name = task_id(spec, task.label)
    return rows.truth_row(name, spec.instance_id, structure(plan), task.target, exact)


def world_row(
    spec: InstanceSpec,
    plan: ContextPlan,
    world: Mapping[str, object],
    tasks: Sequence[ContextTask],
) -> Row:
    """A row of ``ccr_worlds``: everything needed to regenerate and to audit the context."""
    audited = {
        task_id(spec, task.label): {"variant": task.variant, "label": task.label, **task.audit}
        for task in tasks
    }
    found = {**world, "tasks": audited}
    return rows.world_row(spec, 0, structure(plan), found, purpose=plan.purpose)


def structure(plan: ContextPlan) -> str:
    """The slice that a context belongs to."""
    kind = "linear, " if plan.purpose == "linear" else ""
    return f"{kind}{len(plan.sizes)} components"


def quantities_json(quantities: Mapping[Pair, Quantities]) -> list[dict[str, object]]:
    """All quantities of a context, one record a pair."""
    return [
        {"cause": pair[0], "effect": pair[1], **fractions(values)}
        for pair, values in quantities.items()
    ]
