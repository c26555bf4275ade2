"""The ccr track as the release machinery sees it: a context made, asked and written as rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from builder.release import rows
from builder.release.rows import TASKS, TRUTH, worlds_schema
from builder.splits.seeds import attempt_key, public_id, stream
from builder.splits.track import BuiltInstance, Floors, InstanceSpec, Row, Track
from builder.tracks.ccr import ask, sampling
from builder.tracks.ccr.check import audit_instance, leak_facts
from builder.tracks.ccr.model import Context, Pair, cut_tree, graph_of_parents
from builder.tracks.ccr.plan import LINEAR, TRACK_NAME, ContextPlan, parse_settings, plan_contexts
from builder.tracks.ccr.quantities import Quantities, exact_quantities
from builder.tracks.ccr.themes import THEMES
from grader.scoring.shape import Variant
from grader.tracks.ccr import TRACK as GRADER
from grader.tracks.ccr.contexts import CONTEXT

Drawn = tuple[dict[str, Any], list[ask.ContextTask], Mapping[str, int]]
"""The world of a context, its tasks, and what was rejected on the way."""


def build(spec: InstanceSpec) -> BuiltInstance:
    """Return a context's rows by table. Raises ``UsageError`` if none can be drawn."""
    plan = ContextPlan.from_json(spec.config_json)
    key = attempt_key(spec.key, 0)
    name_of = partial(public_id, TRACK_NAME, spec.id_key)
    structure = f"{len(plan.design.sizes)} components"
    if plan.purpose in LINEAR:
        structure = f"linear, {structure}"
        world, tasks, rejections = _linear(plan, name_of, key)
    else:
        world, tasks, rejections = _boolean(plan, name_of, key, spec.label)
    built: dict[str, list[Row]] = {"ccr": [], "ccr_truth": []}
    audited = {}
    for task in tasks:
        name, variant = name_of(task.label), GRADER.variant(task.variant)
        exact = None if task.value is None else rows.TrueValue(float(task.value))
        place = name, spec.instance_id
        built["ccr"].append(rows.task_row(*place, variant, task.prompt, task.inputs))
        built["ccr_truth"].append(rows.truth_row(*place, structure, task.target, exact))
        audited[name] = {"variant": task.variant, "label": task.label, **task.audit}
    world["tasks"] = audited
    row = rows.world_row(spec, 0, structure, world, question_kind=plan.purpose)
    return BuiltInstance({**built, "ccr_worlds": [row]}, rejections)


def _boolean(plan: ContextPlan, name_of: ask.NameOf, key: bytes, where: str) -> Drawn:
    """Draw a Boolean context, its nodes called as in the story; deductive and inductive ones are
    abstract. Raises ``UsageError``, with ``where``, if none can be drawn."""
    drawn = sampling.sample_context(plan.design, stream(key, "world"), where)
    theme = "abstract" if plan.purpose in ("deductive", "inductive") else plan.theme
    words = THEMES[theme](drawn.context.tenths, stream(key, "words"))
    dag = graph_of_parents(drawn.context.parents, words.names)
    sampled = sampling.SampledContext.of_context(replace(drawn.context, dag=dag), drawn.rejections)
    if plan.variant is None:
        tasks = ask.pair_tasks(sampled, words, plan.design.bounds, name_of, key)
    else:
        tasks = [ask.single_task(plan, sampled, words, name_of, key)]
    world = _world(sampled.context, sampled.tree.nodes, plan.theme, sampled.quantities)
    return world, tasks, sampled.rejections


def _linear(plan: ContextPlan, name_of: ask.NameOf, key: bytes) -> Drawn:
    """Draw a linear context and return its world, its one task, and no rejections."""
    parts, rng = (plan.design.sizes, plan.design.kinds), stream(key, "world")
    trap = plan.variant == "direct.trap" or plan.purpose == "additive"
    if plan.purpose == "additive":
        context, ends = sampling.sample_additive(*parts, rng)
    else:
        context, ends = sampling.sample_linear(*parts, rng, trap=trap)
    names = THEMES["abstract"]([5] * len(context.dag.nodes), stream(key, "words")).names
    ends = tuple(names[context.dag.index[end]] for end in ends)
    context = replace(context, dag=graph_of_parents(context.parents, names))
    tree = None if trap else cut_tree(context.dag)
    quantities = {} if tree is None else exact_quantities(context, tree)
    world = _world(context, ends if tree is None else tree.nodes, "linear", quantities)
    return world, [ask.linear_task(plan, context, tree, ends, name_of, key)], {}


def _world(
    context: Context, nodes: Sequence[str], theme: str, quantities: Mapping[Pair, Quantities]
) -> dict[str, Any]:
    """Return a context's world: a record of quantities by pair, as exact fractions in text."""
    return {
        "context": context.to_json(),
        "tree": list(nodes),
        "theme": theme,
        "quantities": [
            {"cause": pair[0], "effect": pair[1], **{name: str(v) for name, v in values.items()}}
            for pair, values in quantities.items()
        ],
    }


def _inputs(variant: Variant) -> frozenset[str]:
    """Return the names of what a variant's ``inputs_json`` declares."""
    if variant.shape.name == "quantities":
        return frozenset({"quantities"})
    if variant.shape.name == "unit_answers":
        return frozenset({"cause", "effect", "units"})
    nodes = "mediators" if variant.name == "additive" else "cut_tree"
    return frozenset({"cause", "effect", "measure", nodes})


TRACK: Final = Track(
    name=TRACK_NAME,
    grader=GRADER,
    tables={"ccr": TASKS, "ccr_truth": TRUTH, "ccr_worlds": worlds_schema("question_kind")},
    private=frozenset({"ccr_truth", "ccr_worlds"}),
    parse=parse_settings,
    plan=plan_contexts,
    build=build,
    audit=audit_instance,
    leak_facts=leak_facts,
    floors=Floors(
        constants=ask.constants,
        twin=ask.twin,
        variants_of=ask.variants_of,
        whole=(CONTEXT, ask.context_points),
    ),
    inputs=_inputs,
    protocol=True,
)
