"""The ccr track as the release machinery sees it: a context made, asked and written as rows."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from builder.release import rows
from builder.release.rows import TASKS, TRUTH, worlds_schema
from builder.splits.seeds import attempt_key, public_id, stream
from builder.splits.track import BuiltInstance, Floors, InstanceSpec, Row, Track
from builder.tracks.ccr.ask import (
    ContextTask,
    FileOf,
    constants,
    context_points,
    linear_task,
    pair_tasks,
    single_task,
    twin,
    variants_of,
)
from builder.tracks.ccr.check import audit_instance, leak_facts
from builder.tracks.ccr.graph import Pair, cut_tree, graph_of_parents
from builder.tracks.ccr.plan import LINEAR, TRACK_NAME, ContextPlan, parse_settings, plan_contexts
from builder.tracks.ccr.quantities import Quantities, exact_quantities
from builder.tracks.ccr.sampling import (
    SampledContext,
    sample_additive,
    sample_context,
    sample_linear,
)
from builder.tracks.ccr.themes import THEMES, Words
from grader.scoring.shape import Variant
from grader.tracks import variant as variant_of
from grader.tracks.ccr import TRACK as GRADER
from grader.tracks.ccr.contexts import CONTEXT

Drawn = tuple[dict[str, Any], list[ContextTask], Mapping[str, int]]
"""The world of a context, its tasks, and what was rejected on the way."""


def build(spec: InstanceSpec) -> BuiltInstance:
    """Return a context's tasks, as rows by table, and the counts of rejected draws by reason.
    Raises ``UsageError`` if none can be drawn."""
    plan = ContextPlan.from_json(spec.config_json)
    key = attempt_key(spec.key, 0)

    def name_of(label: str) -> str:
        return public_id("ccr", spec.id_key, label)

    def file_of(label: str) -> str:
        return f"{name_of(label)}.json"

    if plan.purpose in LINEAR:
        world, tasks, rejections = _linear(plan, file_of, key)
    else:
        world, tasks, rejections = _boolean(plan, file_of, key, spec.label)
    kind = "linear, " if plan.purpose in LINEAR else ""
    structure = f"{kind}{len(plan.design.sizes)} components"
    built: dict[str, list[Row]] = {"ccr": [], "ccr_truth": []}
    audited = {}
    for task in tasks:
        name, variant = name_of(task.label), variant_of(TRACK_NAME, task.variant)
        exact = None if task.value is None else rows.TrueValue(float(task.value))
        place = name, spec.instance_id
        built["ccr"].append(rows.task_row(*place, variant, task.prompt, task.inputs))
        built["ccr_truth"].append(rows.truth_row(*place, structure, task.target, exact))
        audited[name] = {"variant": task.variant, "label": task.label, **task.audit}
    found = {**world, "tasks": audited}
    row = rows.world_row(spec, 0, structure, found, question_kind=plan.purpose)
    return BuiltInstance({**built, "ccr_worlds": [row]}, rejections)


def draw(plan: ContextPlan, key: bytes, where: str) -> tuple[SampledContext, Words]:
    """Draw a Boolean context and its theme's words, its nodes called as in the story. Deductive and
    inductive ones are abstract. Raises ``UsageError``, with ``where``, if none can be drawn."""
    sampled = sample_context(plan.design, stream(key, "world"), where)
    told = plan.purpose not in ("deductive", "inductive")
    theme = plan.theme if told else "abstract"
    words = THEMES[theme](sampled.context.tenths, stream(key, "words"))
    return sampled.with_names(words.names), words


def _boolean(plan: ContextPlan, file_of: FileOf, key: bytes, where: str) -> Drawn:
    """Draw a Boolean context and return its world, its tasks, and the counts of rejected draws."""
    sampled, words = draw(plan, key, where)
    if plan.variant is None:
        tasks = pair_tasks(sampled, words, plan.design.bounds, file_of, key)
    else:
        tasks = [single_task(plan, sampled, words, file_of, key)]
    world = {
        "context": sampled.context.to_json(),
        "tree": list(sampled.tree.nodes),
        "theme": plan.theme,
        "quantities": _quantities_json(sampled.quantities),
    }
    return world, tasks, sampled.rejections


def _linear(plan: ContextPlan, file_of: FileOf, key: bytes) -> Drawn:
    """Draw a linear context and return its world, its one task, and no rejections."""
    parts, rng = (plan.design.sizes, plan.design.kinds), stream(key, "world")
    trap = plan.variant == "direct.trap" or plan.purpose == "additive"
    if plan.purpose == "additive":
        context, ends = sample_additive(*parts, rng)
    else:
        context, ends = sample_linear(*parts, rng, trap=trap)
    names = THEMES["abstract"]([5] * len(context.dag.nodes), stream(key, "words")).names
    ends = tuple(names[context.dag.index[end]] for end in ends)
    context = replace(context, dag=graph_of_parents(context.parents, names))
    tree = None if trap else cut_tree(context.dag)
    quantities = {} if tree is None else exact_quantities(context, tree)
    world = {
        "context": context.to_json(),
        "tree": list(ends if tree is None else tree.nodes),
        "theme": "linear",
        "quantities": _quantities_json(quantities),
    }
    return world, [linear_task(plan, context, tree, ends, quantities, file_of, key)], {}


def _quantities_json(quantities: Mapping[Pair, Quantities]) -> list[dict[str, str]]:
    """Return all quantities, a record for each pair, values as exact fractions in text."""
    return [
        {"cause": pair[0], "effect": pair[1], **{name: str(v) for name, v in values.items()}}
        for pair, values in quantities.items()
    ]


_INPUTS: Final[Mapping[str, frozenset[str]]] = {
    "unit_answers": frozenset({"cause", "effect", "units"}),
    "quantities": frozenset({"quantities"}),
    "deduction": frozenset({"measure", "cause", "effect", "cut_tree"}),
    "additive": frozenset({"measure", "cause", "effect", "mediators"}),
}
"""What ``inputs_json`` declares, by answer shape; of a deduction by sums under ``additive``."""


def _inputs(variant: Variant) -> frozenset[str]:
    """Return the names of what a variant's ``inputs_json`` declares."""
    by_sums = variant.shape.name == "deduction" and variant.name == "additive"
    return _INPUTS["additive" if by_sums else variant.shape.name]


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
        constants=constants, twin=twin, variants_of=variants_of, whole=(CONTEXT, context_points)
    ),
    inputs=_inputs,
    protocol=True,
)
