"""The causalab track as the release machinery sees it: settings, plans, and rows of a graph."""

from functools import partial
from typing import Final

from builder.release import rows
from builder.release.attempts import Clock, first_accepted
from builder.release.schemas import TASKS, TRUTH, worlds_schema
from builder.splits.seeds import attempt_key, public_id
from builder.splits.track import Built, Floors, InstanceSpec, Row, Track
from builder.tracks.causalab.ask import constants, twin, variants_of, write_prompt
from builder.tracks.causalab.check import audit_instance, leak_facts
from builder.tracks.causalab.episode import Parts, draw
from builder.tracks.causalab.plan import TRACK_NAME, GraphPlan, parse_config, plan_graphs
from builder.tracks.causalab.show import report
from builder.tracks.causalab.suites import Setting, Suite, label
from grader.tracks import variant as variant_of


def task_id(spec: InstanceSpec, suite: Suite, setting: Setting) -> str:
    """The public id of a task: it depends on the id key and the label alone."""
    return public_id("lab", spec.id_key, label(suite, setting))


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


INPUTS: Final = frozenset(
    {"variables", "target", "family", "mode", "frequency_may_be_parent", "shifts"}
    | {"records", "chain", "opening", "reactor", "reactor_range", "budget", "tolerance"}
)
"""What ``inputs_json`` declares."""

MAX_ATTEMPTS: Final = 2000
"""Tries at the numbers of one graph before it is declared infeasible."""


def build(spec: InstanceSpec) -> Built:
    """One graph with its episodes, as rows; a rejected attempt is replaced by the next.

    Raises ``UsageError`` when none of ``MAX_ATTEMPTS`` will do.
    """
    plan = GraphPlan.from_json(spec.config_json)
    return first_accepted(
        spec, partial(_try, spec, plan), MAX_ATTEMPTS, "episode", "change the seed"
    )


def _try(
    spec: InstanceSpec, plan: GraphPlan, attempt: int, _: int, clock: Clock
) -> dict[str, list[Row]]:
    with clock("episodes"):
        key = attempt_key(spec.key, attempt)
        parts = [_episode(plan, suite, setting, key) for suite, setting in plan.episodes]
        names = [task_id(spec, *episode) for episode in plan.episodes]
        found = list(zip(names, parts, strict=True))
        return {
            "causalab": [task_row(spec, *entry) for entry in found],
            "causalab_truth": [truth_row(spec, *entry) for entry in found],
            "causalab_worlds": [world_row(spec, plan, attempt)],
        }


def _episode(plan: GraphPlan, suite: Suite, setting: Setting, key: bytes) -> Parts:
    return draw(plan.graph, suite, setting, plan.fixed and setting == "wide", plan.mode, key)


TRACK: Final = Track(
    name=TRACK_NAME,
    report=report,
    tables={
        "causalab": TASKS,
        "causalab_truth": TRUTH,
        "causalab_worlds": worlds_schema(),
    },
    private=frozenset({"causalab_truth", "causalab_worlds"}),
    parse=parse_config,
    plan=plan_graphs,
    build=build,
    audit=audit_instance,
    leak_facts=leak_facts,
    floors=Floors(constants=constants, twin=twin, variants_of=variants_of),
    inputs=lambda _: INPUTS,
)
