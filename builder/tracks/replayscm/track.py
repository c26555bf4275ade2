"""The replayscm track as the release machinery sees it: settings, plans, and rows of a program."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

import numpy as np

from builder.release import rows
from builder.release.attempts import Clock, first_accepted
from builder.release.schemas import TASKS, TRUTH, worlds_schema
from builder.splits.seeds import attempt_key, public_id
from builder.splits.track import Built, Floors, InstanceSpec, Row, Track
from builder.tracks.replayscm.ask import constants, twin, write_prompt
from builder.tracks.replayscm.check import audit_instance, leak_facts
from builder.tracks.replayscm.instance import Instance, Record, make_instance
from builder.tracks.replayscm.levels import coverage
from builder.tracks.replayscm.plan import TRACK_NAME, Pool, ProgramPlan, parse_config, plan_programs
from builder.tracks.replayscm.programs import name_of
from builder.tracks.replayscm.show import report
from builder.tracks.replayscm.worlds import worlds_json
from grader.io.jsonio import canonical
from grader.scoring.shape import Task
from grader.tracks import variant as variant_of
from grader.tracks.replayscm.problem import MAX_PARENTS


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


_INPUTS: Final = frozenset({"variables", "roots", "order", "blocks", "max_parents", "worlds"})
"""What ``inputs_json`` declares; an Alternative-SCM task declares a reference, too."""

MAX_ATTEMPTS: Final = 100
"""Tries at one program before the settings are declared infeasible."""


def build(spec: InstanceSpec) -> Built:
    """One program with its tasks, as rows; a rejected attempt is replaced by the next.

    Raises ``UsageError`` when none of ``MAX_ATTEMPTS`` will do.
    """
    plan = ProgramPlan.from_json(spec.config_json)
    make = partial(_try, spec, plan)
    return first_accepted(spec, make, MAX_ATTEMPTS, "program", "change the seed or generation")


def _try(
    spec: InstanceSpec, plan: ProgramPlan, attempt: int, _: int, clock: Clock
) -> dict[str, list[Row]]:
    instance = make_instance(plan, attempt_key(spec.key, attempt), clock)
    records = instance.records
    with clock("prompts"):
        return {
            "replayscm": [task_row(spec, instance, record) for record in records],
            "replayscm_truth": [
                truth_row(spec, instance, record, plan.matched) for record in records
            ],
            "replayscm_worlds": [world_row(spec, instance, attempt)],
        }


def _apart(one: str, other: str) -> bool:
    """An Alternative-SCM prompt prints the program that the induction tasks ask for."""
    return one.startswith("alternative.") != other.startswith("alternative.")


def _lends(shown: Task, asked: Task) -> Iterator[str]:
    """The program that an Alternative-SCM prompt prints, with the roots that it names."""
    program = shown.inputs.get("reference")
    if program and asked.family != "alternative":
        yield canonical({"mechanisms": program, "roots": shown.inputs["roots"]})
        yield canonical({"mechanisms": program})


TRACK: Final = Track(
    name=TRACK_NAME,
    report=report,
    tables={
        "replayscm": TASKS,
        "replayscm_truth": TRUTH,
        "replayscm_worlds": worlds_schema(),
    },
    private=frozenset({"replayscm_truth", "replayscm_worlds"}),
    parse=parse_config,
    plan=plan_programs,
    build=build,
    audit=audit_instance,
    leak_facts=leak_facts,
    floors=Floors(constants=constants, twin=twin),
    inputs=lambda variant: _INPUTS | {"reference"} if variant.family == "alternative" else _INPUTS,
    apart=_apart,
    lends=_lends,
)
