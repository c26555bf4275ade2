"""The causalab track as the release machinery sees it: parse, plan, build."""

from functools import partial
from typing import Final

from builder.attempts import Clock, first_accepted
from builder.causalab import rows
from builder.causalab.ask.constants import constants, twin
from builder.causalab.check.audit import audit_instance
from builder.causalab.check.leaks import leak_facts
from builder.causalab.make.episode import Parts, draw
from builder.causalab.plan.config import parse_config
from builder.causalab.plan.graphs import TRACK_NAME, GraphPlan, plan_graphs
from builder.causalab.plan.suites import Setting, Suite
from builder.causalab.show.statistics import report
from builder.seeds import attempt_key
from builder.track import Built, Floors, InstanceSpec, Row, Track

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
        names = [rows.task_id(spec, *episode) for episode in plan.episodes]
        found = list(zip(names, parts, strict=True))
        return {
            "causalab": [rows.task_row(spec, *entry) for entry in found],
            "causalab_truth": [rows.truth_row(spec, *entry) for entry in found],
            "causalab_worlds": [rows.world_row(spec, plan, attempt)],
        }


def _episode(plan: GraphPlan, suite: Suite, setting: Setting, key: bytes) -> Parts:
    return draw(plan.graph, suite, setting, plan.fixed and setting == "wide", plan.mode, key)


TRACK: Final = Track(
    name=TRACK_NAME,
    report=report,
    tables=rows.SCHEMAS,
    private=rows.PRIVATE_CONFIGS,
    parse=parse_config,
    plan=plan_graphs,
    build=build,
    audit=audit_instance,
    leak_facts=leak_facts,
    floors=Floors(constants=constants, twin=twin),
    inputs=lambda _: INPUTS,
    effort=0.03,
)
