"""An instance and its tasks as rows of the release (``docs/replayscm.md``)."""

from collections.abc import Iterable, Mapping
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
from builder.replayscm.plan.pools import Pool
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
        "variables": _names(range(program.n)),
        "roots": None if disclosure == "hidden_roots" else _names(sorted(program.roots)),
        "order": _names(program.order) if disclosure == "ordered" else None,
        "blocks": [_names(b) for b in instance.blocks] if disclosure == "block" else None,
        "max_parents": MAX_PARENTS,
        "worlds": worlds_json(record.worlds, "train"),
    }
    if record.pool.alternative:
        inputs["reference"] = program.mechanisms()
    return inputs


def truth_row(spec: InstanceSpec, instance: Instance, record: Record, matched: bool) -> Row:
    """A row of ``replayscm_truth``."""
    program, found = instance.program, record.audit
    target: dict[str, Any] = {
        "pool": record.pool.label,
        "matched": matched,
        "level": record.pool.level,
        "gold": program.mechanisms(),
        "roots": _names(sorted(program.roots)),
        "heldout": worlds_json(instance.evidence.heldout, "heldout"),
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
        "kill_coverage": instance.evidence.kill_coverage,
    }
    if record.shifted is not None:
        shifted = worlds_json(instance.shifted, "shifted")
        target["shifted"] = {"worlds": shifted, "determined": record.shifted}
    name = task_id(spec, record.pool)
    return rows.truth_row(name, spec.instance_id, record.pool.label, target)


def world_row(spec: InstanceSpec, instance: Instance, attempt: int) -> Row:
    """A row of ``replayscm_worlds``: the program, all its worlds, and construction figures."""
    program = instance.program
    world = {
        "program": program.to_json(),
        "blocks": [_names(block) for block in instance.blocks],
        "levels": {
            level: worlds_json(worlds, "train") for level, worlds in instance.levels.items()
        },
        "heldout": worlds_json(instance.evidence.heldout, "heldout"),
        "coverage": {
            level: list(coverage(program, worlds)) for level, worlds in instance.levels.items()
        },
        "statistics": dict(instance.evidence.statistics),
        "tasks": {task_id(spec, record.pool): record.pool.label for record in instance.records},
    }
    return rows.world_row(spec, attempt, f"n{program.n}", world)


def _names(variables: Iterable[int]) -> list[str]:
    return [name_of(v) for v in variables]
