"""The causalab track as the release machinery sees it: the episodes of a graph, as rows."""

from functools import partial
from typing import Final

from builder.graphs.graph import LatentDAG
from builder.release import rows
from builder.release.attempts import first_accepted
from builder.release.rows import TASKS, TRUTH, worlds_schema
from builder.splits.seeds import attempt_key, public_id
from builder.splits.settings import check
from builder.splits.track import BuiltInstance, Floors, InstanceSpec, Row, Track
from builder.tracks.causalab.ask import constants, twin, variants_of, write_prompt
from builder.tracks.causalab.check import audit_instance, leak_facts
from builder.tracks.causalab.episode import draw_episode
from builder.tracks.causalab.plan import TRACK_NAME, EpisodeSettings, GraphPlan, plan_graphs
from builder.tracks.causalab.show import report
from builder.tracks.causalab.suites import label
from grader.tracks import variant as variant_of
from grader.tracks.causalab import TRACK as GRADER

INPUTS: Final = frozenset(
    {"variables", "target", "family", "mode", "frequency_may_be_parent", "shifts"}
    | {"records", "chain", "opening", "reactor", "reactor_range", "budget", "tolerance"}
)
"""What ``inputs_json`` declares."""

MAX_ATTEMPTS: Final = 2000
"""Tries at the numbers of one graph before it is declared infeasible."""


def build(spec: InstanceSpec) -> BuiltInstance:
    """Return a graph's episodes, as rows. Raises ``UsageError`` if no attempt is accepted."""
    make = partial(_try, spec, GraphPlan.from_json(spec.config_json))
    return first_accepted(spec, make, MAX_ATTEMPTS, "episode", "change the seed")


def _try(spec: InstanceSpec, plan: GraphPlan, attempt: int, _: int) -> dict[str, list[Row]]:
    """Return the rows of one attempt, by table: tasks, truths and world; raises ``Rejection``."""
    key, graph = attempt_key(spec.key, attempt), LatentDAG(plan.names, plan.edges)
    tasks, truths, labels = list[Row](), list[Row](), dict[str, str]()
    for suite, setting in plan.episodes:
        fixed = plan.fixed and setting == "wide"
        public, private = draw_episode(graph, suite, setting, fixed, plan.mode, key)
        episode = label(suite, setting)
        name = public_id("lab", spec.id_key, episode)
        labels[name] = episode
        variant = variant_of(TRACK_NAME, suite.variant)
        prompt = write_prompt(public, name, name + variant.shape.suffix)
        view = private["regime"]
        tasks.append(rows.task_row(name, spec.instance_id, variant, prompt, public, view=view))
        group = suite.title if setting == "reference" else f"{suite.title}-{setting}"
        frequency = rows.TrueValue(private["frequency"])
        truths.append(rows.truth_row(name, spec.instance_id, group, private, frequency))
    world = {"names": plan.names, "edges": sorted(plan.edges), "fixed": plan.fixed, "tasks": labels}
    return {
        "causalab": tasks,
        "causalab_truth": truths,
        "causalab_worlds": [rows.world_row(spec, attempt, f"k{len(plan.names)}", world)],
    }


TRACK: Final = Track(
    name=TRACK_NAME,
    grader=GRADER,
    report=report,
    tables={"causalab": TASKS, "causalab_truth": TRUTH, "causalab_worlds": worlds_schema()},
    private=frozenset({"causalab_truth", "causalab_worlds"}),
    parse=partial(check, EpisodeSettings),
    plan=plan_graphs,
    build=build,
    audit=audit_instance,
    leak_facts=leak_facts,
    floors=Floors(constants=constants, twin=twin, variants_of=variants_of),
    inputs=lambda _: INPUTS,
)
