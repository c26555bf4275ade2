"""The causalab track as the release machinery sees it, and its generation report (Table 1)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from math import comb
from statistics import mean, pvariance
from typing import Final

from builder.graphs.graph import LatentDAG
from builder.release import rows
from builder.release.attempts import first_accepted
from builder.release.rows import TASKS, TRUTH, worlds_schema
from builder.splits.seeds import attempt_key, public_id
from builder.splits.settings import check
from builder.splits.track import BuiltInstance, Floors, InstanceSpec, Record, Row, Track
from builder.stories.texts import markdown_table
from builder.tracks.causalab import plan as planning
from builder.tracks.causalab.ask import constants, twin, variants_of, write_prompt
from builder.tracks.causalab.check import audit_instance, leak_facts
from builder.tracks.causalab.episode import draw_episode
from grader.tracks.causalab import TRACK as GRADER

INPUTS: Final = frozenset(
    {"variables", "target", "family", "mode", "frequency_may_be_parent", "shifts"}
    | {"records", "chain", "opening", "reactor", "reactor_range", "budget", "tolerance"}
)

MAX_ATTEMPTS: Final = 2000
"""Tries at the numbers of one graph before it is declared infeasible."""


def build(spec: InstanceSpec) -> BuiltInstance:
    """Return a graph's episodes, as rows. Raises ``UsageError`` if no attempt is accepted."""
    return first_accepted(spec, partial(_try, spec), MAX_ATTEMPTS, "episode", "change the seed")


def _try(spec: InstanceSpec, attempt: int, _: int) -> dict[str, list[Row]]:
    """Return the rows of one attempt, by table: tasks, truths and world; raises ``Rejection``."""
    plan = planning.GraphPlan.from_json(spec.config_json)
    key, graph = attempt_key(spec.key, attempt), LatentDAG(plan.names, plan.edges)
    tasks, truths, labels = list[Row](), list[Row](), dict[str, str]()
    for suite, setting in plan.episodes:
        fixed = plan.fixed and setting == "wide"
        public, private = draw_episode(graph, suite, setting, fixed, plan.mode, key)
        episode = planning.label(suite, setting)
        name = public_id("lab", spec.id_key, episode)
        labels[name] = episode
        variant = GRADER.variant(suite.variant)
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


TABLE_1: Final[Mapping[int, tuple[int, float, float, float, float]]] = {
    3: (50, 2.56, 0.25, 0.68, 0.72),
    4: (50, 4.54, 1.01, 2.18, 2.22),
    5: (50, 7.26, 4.23, 5.54, 5.26),
    6: (50, 8.82, 5.15, 6.72, 6.22),
    7: (50, 10.26, 4.95, 7.84, 7.00),
}
"""Graphs, edge mean, edge variance, fork mean, collider mean of the main suites, by k."""


def report(worlds: Sequence[Record], truths: Mapping[str, Record]) -> list[str]:
    """Return the parts of the generation report, as Markdown. ``truths`` are by task id."""
    rows = []
    for size, (number, *paper) in TABLE_1.items():
        wanted = planning.label(planning.SUITES[f"main-{size}"], "reference")
        graphs = [world["edges"] for world in worlds if wanted in world["tasks"].values()]
        if graphs:
            counts = [len(edges) for edges in graphs]
            forked, collided = mean(map(forks, graphs)), mean(map(colliders, graphs))
            ours = mean(counts), pvariance(counts), forked, collided
            figures = [f"{p:.2f} / {o:.2f}" for p, o in zip(paper, ours, strict=True)]
            rows.append([str(size), f"{number} / {len(graphs)}", *figures])
    heads = ("k", "graphs", "edge mean", "edge variance", "fork mean", "collider mean")
    title = "Graphs of the main suites (Table 1; paper / ours)"
    return [f"{len(worlds)} graphs, {len(truths)} episodes.", markdown_table(title, heads, rows)]


def forks(edges: Sequence[tuple[str, str]]) -> int:
    """Return the number of pairs of edges with the same cause (Table 1's fork count)."""
    return sum(comb(count, 2) for count in Counter(cause for cause, _ in edges).values())


def colliders(edges: Sequence[tuple[str, str]]) -> int:
    """Return the number of pairs of edges with the same effect (Table 1's collider count)."""
    return forks([(effect, cause) for cause, effect in edges])


TRACK: Final = Track(
    name=planning.TRACK_NAME,
    grader=GRADER,
    report=report,
    tables={"causalab": TASKS, "causalab_truth": TRUTH, "causalab_worlds": worlds_schema()},
    private=frozenset({"causalab_truth", "causalab_worlds"}),
    parse=partial(check, planning.EpisodeSettings),
    plan=planning.plan_graphs,
    build=build,
    audit=audit_instance,
    leak_facts=leak_facts,
    floors=Floors(constants=constants, twin=twin, variants_of=variants_of),
    inputs=lambda _: INPUTS,
)
