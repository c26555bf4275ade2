"""The replayscm track as the release machinery sees it: parse, plan, build."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from builder.attempts import Clock, first_accepted
from builder.replayscm import rows
from builder.replayscm.ask.constants import constants, twin
from builder.replayscm.check.audit import audit_instance
from builder.replayscm.check.leaks import leak_facts
from builder.replayscm.make.instance import make_instance
from builder.replayscm.plan.config import parse_config
from builder.replayscm.plan.programs import TRACK_NAME, ProgramPlan, plan_programs
from builder.replayscm.show.statistics import report
from builder.seeds import attempt_key
from builder.track import Built, Floors, InstanceSpec, Row, Track
from grader.io.jsonio import canonical
from grader.shape import Task

_DECLARED: Final = frozenset({"variables", "roots", "order", "blocks", "max_parents", "worlds"})
INPUTS: Final[Mapping[str, frozenset[str]]] = {
    "mechanisms": _DECLARED,
    "roots_mechanisms": _DECLARED,
    "alternative_scm": _DECLARED | {"reference"},
}
"""What ``inputs_json`` declares, by answer shape."""

MAX_ATTEMPTS: Final = 100
"""Tries at one program before the settings are declared infeasible."""


def build(spec: InstanceSpec) -> Built:
    """One program with its tasks, as rows; a rejected attempt is replaced by the next.

    Raises ``UsageError`` when none of ``MAX_ATTEMPTS`` will do.
    """
    plan = ProgramPlan.from_json(spec.config_json)
    return first_accepted(
        spec,
        partial(_try, spec, plan),
        MAX_ATTEMPTS,
        "program",
        "change the seed or generation",
    )


def _try(
    spec: InstanceSpec, plan: ProgramPlan, attempt: int, _: int, clock: Clock
) -> dict[str, list[Row]]:
    instance = make_instance(plan, attempt_key(spec.key, attempt), clock)
    records = instance.records
    with clock("prompts"):
        return {
            "replayscm": [rows.task_row(spec, instance, record) for record in records],
            "replayscm_truth": [
                rows.truth_row(spec, instance, record, plan.matched) for record in records
            ],
            "replayscm_worlds": [rows.world_row(spec, instance, attempt)],
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
    tables=rows.SCHEMAS,
    private=rows.PRIVATE_CONFIGS,
    parse=parse_config,
    plan=plan_programs,
    build=build,
    audit=audit_instance,
    leak_facts=leak_facts,
    floors=Floors(constants=constants, twin=twin),
    inputs=lambda variant: INPUTS[variant.shape.name],
    apart=_apart,
    lends=_lends,
    effort=0.25,
)
