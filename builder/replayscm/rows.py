"""An instance and its tasks as rows of the release (``docs/replayscm.md``)."""

from collections.abc import Collection, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from builder.release import rows
from builder.release.schemas import TASKS, TRUTH, worlds_schema
from builder.replayscm.ask.prompt import write_prompt
from builder.replayscm.make.instance import Instance, Record
from builder.replayscm.make.levels import coverage
from builder.replayscm.make.programs import name_of
from builder.replayscm.make.worlds import worlds_json
from builder.replayscm.plan.pools import UNDETERMINED, Pool
from builder.seeds import public_id
from builder.track import InstanceSpec, Row
from grader.tracks import variant as variant_of
from grader.tracks.replayscm.problem import MAX_PARENTS

TRACK_NAME: Final = "replayscm"

SCHEMAS: Final[Mapping[str, pa.Schema]] = {
    "replayscm": TASKS,
    "replayscm_truth": TRUTH,
    "replayscm_worlds": worlds_schema(),
}
"""Explicit Arrow schema by config; tasks and truths have the columns of every track."""

PRIVATE_CONFIGS: Final = frozenset({"replayscm_truth", "replayscm_worlds"})


def task_id(spec: InstanceSpec, pool: Pool) -> str:
    """The public id of a task: it depends on the id key and the pool alone."""
    return public_id("rscm", spec.id_key, pool.label)


def task_row(spec: InstanceSpec, instance: Instance, record: Record) -> Row:
    """A row of ``replayscm``. Nothing public names the pool: the id is a keyed hash of it."""
    variant = variant_of(TRACK_NAME, record.pool.variant)
    name = task_id(spec, record.pool)
    inputs = task_inputs(instance, record)
    prompt = write_prompt(inputs, variant, name + variant.shape.suffix)
    return rows.task_row(name, spec.instance_id, variant, prompt, inputs)


def task_inputs(instance: Instance, record: Record) -> dict[str, Any]:
    """What the task states, and nothing else; undisclosed members are null."""
    program, disclosure = instance.program, record.pool.disclosure
    inputs: dict[str, Any] = {
        "variables": _names(instance.listing),
        "roots": None if disclosure == "hidden_roots" else _listed(instance, program.roots),
        "order": _names(program.order) if disclosure == "ordered" else None,
        "blocks": [_names(b) for b in instance.blocks] if disclosure == "block" else None,
        "max_parents": MAX_PARENTS,
        "worlds": worlds_json(record.worlds, "train", instance.listing),
    }
    if record.pool is UNDETERMINED:
        inputs["asked"] = _without_answers(instance)
    if record.pool.alternative:
        inputs["reference"] = program.mechanisms()
    return inputs


def _without_answers(instance: Instance) -> list[dict[str, Any]]:
    """The rows asked about, with ``?`` for what is computed."""
    program = instance.program
    asked = _heldout(instance, UNDETERMINED)
    for one, world in zip(asked, instance.evidence.heldout, strict=True):
        computed = set(program.endogenous) - set(world.targets)
        one["rows"] = [
            "".join(
                "?" if v in computed else bit for v, bit in zip(instance.listing, row, strict=True)
            )
            for row in one["rows"]
        ]
    return asked


def _heldout(instance: Instance, pool: Pool) -> list[dict[str, Any]]:
    """The held-out worlds; of open cells, the rows asked about, whose labels a prompt shows."""
    label = "row" if pool is UNDETERMINED else "heldout"
    return worlds_json(instance.evidence.heldout, label, instance.listing)


def truth_row(spec: InstanceSpec, instance: Instance, record: Record, matched: bool) -> Row:
    """A row of ``replayscm_truth``."""
    program, found = instance.program, record.audit
    target: dict[str, Any] = {
        "pool": record.pool.label,
        "matched": matched,
        "level": record.pool.level,
        "gold": program.mechanisms(),
        "roots": _listed(instance, program.roots),
        "heldout": _heldout(instance, record.pool),
        "determined": found.determined,
        "unique": found.unique,
        "deviating": found.deviating,
        "counterexample": record.counterexample,
        "undetermined": {
            name_of(v): format(sum(1 << int(row) for row in np.flatnonzero(column)), "x")
            for v, column in enumerate(found.undetermined.T)
            if column.any()
        },
        "alternative": record.alternative,
        **_pressure(instance),
    }
    if record.shifted is not None:
        shifted = worlds_json(instance.shifted, "shifted", instance.listing)
        target["shifted"] = {"worlds": shifted, "determined": record.shifted}
    if record.witnesses:
        target["witnesses"] = record.witnesses
    name = task_id(spec, record.pool)
    return rows.truth_row(name, spec.instance_id, record.pool.label, target)


def _pressure(instance: Instance) -> dict[str, float]:
    """How many mechanisms a shortcut was ruled out of; nothing of a frontier program."""
    share = instance.evidence.kill_coverage
    return {} if share is None else {"kill_coverage": share}


def world_row(spec: InstanceSpec, instance: Instance, attempt: int) -> Row:
    """A row of ``replayscm_worlds``: the program, all its worlds, and construction figures."""
    program = instance.program
    world = {
        "program": program.to_json(),
        "blocks": [_names(block) for block in instance.blocks],
        "levels": {
            level: worlds_json(worlds, "train", instance.listing)
            for level, worlds in instance.levels.items()
        },
        "heldout": _heldout(instance, instance.records[0].pool),
        "coverage": {
            level: list(coverage(program, worlds)) for level, worlds in instance.levels.items()
        },
        "statistics": dict(instance.evidence.statistics),
        "tasks": {task_id(spec, record.pool): record.pool.label for record in instance.records},
    }
    return rows.world_row(spec, attempt, f"n{program.n}", world)


def _listed(instance: Instance, variables: Collection[int]) -> list[str]:
    """Their labels in the order in which the task lists all variables."""
    return _names(v for v in instance.listing if v in variables)


def _names(variables: Any) -> list[str]:
    return [name_of(v) for v in variables]
