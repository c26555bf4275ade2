"""The replayscm track as the release machinery sees it: one program made, asked and written."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from builder.release import rows
from builder.release.attempts import Rejection, first_accepted
from builder.release.rows import TASKS, TRUTH, worlds_schema
from builder.splits.seeds import attempt_key, public_id, stream
from builder.splits.settings import check
from builder.splits.track import BuiltInstance, Floors, InstanceSpec, Row, Track
from builder.tracks.replayscm import plan as planning
from builder.tracks.replayscm.ask import constants, twin, write_prompt
from builder.tracks.replayscm.check import audit_instance, leak_facts
from builder.tracks.replayscm.determinacy import audit, viable_limits
from builder.tracks.replayscm.generate import Evidence, generate
from builder.tracks.replayscm.levels import add_levels, coverage
from builder.tracks.replayscm.programs import draw_blocks, name_of
from builder.tracks.replayscm.search import counterexample, find_alternative
from builder.tracks.replayscm.show import report
from builder.tracks.replayscm.tables import Flags, PartialTables, bits, stack, tabulate_worlds
from builder.tracks.replayscm.worlds import ReplayWorld, shift_world, worlds_json
from grader.io.jsonio import canonical_json
from grader.scoring.shape import Task
from grader.tracks.replayscm import TRACK as GRADER
from grader.tracks.replayscm.problem import MAX_PARENTS


@dataclass(frozen=True, slots=True)
class Instance:
    """A program with its worlds. ``blocks`` are the roots, then runs of the latent order.
    ``levels`` are the training worlds of each level of evidence, and ``tables`` what they show.
    ``shifted`` are the held-out worlds under other root distributions, if the plan has some."""

    evidence: Evidence
    blocks: tuple[tuple[int, ...], ...]
    levels: Mapping[planning.Level, tuple[ReplayWorld, ...]]
    tables: Mapping[planning.Level, PartialTables]
    shifted: Sequence[ReplayWorld]


def task_inputs(made: Instance, pool: planning.Pool, determined: bool) -> dict[str, Any]:
    """Return the public inputs of a pool's task, None where not disclosed. An induction says
    whether its worlds determine the answer: held-out replay and, where asked for, roots."""
    program, disclosure = made.evidence.program, pool.disclosure
    inputs: dict[str, Any] = {
        "variables": _names(range(program.n)),
        "roots": None if disclosure == "hidden_roots" else _names(sorted(program.roots)),
        "order": _names(program.order) if disclosure == "ordered" else None,
        "blocks": [_names(b) for b in made.blocks] if disclosure == "block" else None,
        "max_parents": MAX_PARENTS,
        "worlds": worlds_json(made.levels[pool.level], "train"),
    }
    if pool.alternative:
        inputs["reference"] = program.mechanisms()
        return inputs
    if disclosure == "hidden_roots" and determined:
        determined = len(viable_limits(made.tables[pool.level])) == 1
    return {**inputs, "determined": determined}


def task_truth(made: Instance, pool: planning.Pool, matched: bool, key: bytes) -> dict[str, Any]:
    """Return a task's truth: the hidden program, what is determined, and two other programs.

    ``counterexample`` is legal and train-exact but fails held-out, or None. ``alternative`` is a
    right one in a pool that asks for it, else None. Raises ``Rejection`` if such a pool has none.
    """
    program, tables, alternative = made.evidence.program, made.tables[pool.level], None
    if pool.alternative:
        rng = stream(key, f"alternative/{pool.label}")
        alternative = find_alternative(program, tables, pool.disclosure, rng)
        if alternative is None:
            raise Rejection("no separable alternative")
    heldout = stack(made.evidence.heldout)
    found = audit(program, tables, heldout, pool.disclosure, made.blocks)
    target: dict[str, Any] = {
        "pool": pool.label,
        "matched": matched,
        "level": pool.level,
        "gold": program.mechanisms(),
        "roots": _names(sorted(program.roots)),
        "heldout": worlds_json(made.evidence.heldout, "heldout"),
        "determined": found.determined,
        "unique": found.unique,
        "deviating": found.deviating,
        "counterexample": found.first and counterexample(program, tables, heldout, found.first),
        "undetermined": _cells(found.undetermined),
        "alternative": alternative,
        "kill_coverage": made.evidence.kill_coverage,
    }
    if made.shifted and not pool.alternative:
        held = audit(program, tables, stack(made.shifted), pool.disclosure, made.blocks)
        worlds = worlds_json(made.shifted, "shifted")
        target["shifted"] = {"worlds": worlds, "determined": held.determined}
    return target


def _cells(flags: Flags) -> dict[str, str]:
    """Return each variable's flagged rows, if any, by label: hexadecimal, bit r for row r."""
    rows = {name_of(v): bits(np.flatnonzero(column).tolist()) for v, column in enumerate(flags.T)}
    return {name: f"{flagged:x}" for name, flagged in rows.items() if flagged}


def _names(variables: Iterable[int]) -> list[str]:
    return [name_of(v) for v in variables]


MAX_ATTEMPTS: Final = 100
"""Tries at one program before the settings are declared infeasible."""


def build(spec: InstanceSpec) -> BuiltInstance:
    """Return a program's tasks, as rows by table; ``UsageError`` when no attempt will do."""
    return first_accepted(
        spec, partial(_try, spec), MAX_ATTEMPTS, "program", "change the seed or generation"
    )


def _try(spec: InstanceSpec, attempt: int, _: int) -> dict[str, list[Row]]:
    """Return the rows of one attempt, by table: tasks, truths and world; raises ``Rejection``."""
    plan = planning.ProgramPlan.from_json(spec.config_json)
    key = attempt_key(spec.key, attempt)
    evidence = generate(stream(key, "evidence"), plan.generation)
    program, shifted = evidence.program, tuple[ReplayWorld, ...]()
    blocks = draw_blocks(stream(key, "blocks"), program)
    if plan.shifted:
        rng = stream(key, "shifted")
        shifted = tuple(shift_world(rng, program, world) for world in evidence.heldout)
    levels = add_levels({pool.level for pool in plan.pools}, key, evidence)
    tables = {level: tabulate_worlds(worlds) for level, worlds in levels.items()}
    made = Instance(evidence, blocks, levels, tables, shifted)
    tasks, truths, labels = list[Row](), list[Row](), dict[str, str]()
    for pool in plan.pools:
        name = public_id("rscm", spec.id_key, pool.label)
        labels[name] = pool.label
        target = task_truth(made, pool, plan.matched, key)
        truths.append(rows.truth_row(name, spec.instance_id, pool.label, target))
        variant = GRADER.variant(pool.variant)
        inputs = task_inputs(made, pool, target["determined"])
        prompt = write_prompt(inputs, variant, name + variant.shape.suffix)
        tasks.append(rows.task_row(name, spec.instance_id, variant, prompt, inputs))
    hidden = {
        "stratum": plan.stratum,
        "program": program.to_json(),
        "blocks": [_names(block) for block in blocks],
        "levels": {level: worlds_json(worlds, "train") for level, worlds in levels.items()},
        "heldout": worlds_json(evidence.heldout, "heldout"),
        "coverage": {level: list(coverage(program, worlds)) for level, worlds in levels.items()},
        "statistics": dict(evidence.statistics),
        "tasks": labels,
    }
    world = rows.world_row(spec, attempt, f"n{program.n}", hidden)
    return {"replayscm": tasks, "replayscm_truth": truths, "replayscm_worlds": [world]}


_INPUTS: Final = frozenset({"variables", "roots", "order", "blocks", "max_parents", "worlds"})
"""What ``inputs_json`` declares, beside a reference or else whether it determines the answer."""


def _lends(shown: Task, asked: Task) -> Iterator[str]:
    """Yield answers to ``asked`` that ``shown`` prints: its reference, with and without roots."""
    program = shown.inputs.get("reference")
    if program and asked.family != "alternative":
        yield canonical_json({"mechanisms": program, "roots": shown.inputs["roots"]})
        yield canonical_json({"mechanisms": program})


TRACK: Final = Track(
    name=planning.TRACK_NAME,
    grader=GRADER,
    report=report,
    tables={"replayscm": TASKS, "replayscm_truth": TRUTH, "replayscm_worlds": worlds_schema()},
    private=frozenset({"replayscm_truth", "replayscm_worlds"}),
    parse=partial(check, planning.ProgramSettings),
    plan=planning.plan_programs,
    composition=planning.composition,
    build=build,
    audit=audit_instance,
    leak_facts=leak_facts,
    floors=Floors(constants=constants, twin=twin),
    inputs=lambda variant: (
        _INPUTS | {"reference" if variant.family == "alternative" else "determined"}
    ),
    # One prints the other's answer.
    apart=lambda one, other: one.startswith("alternative.") != other.startswith("alternative."),
    lends=_lends,
)
