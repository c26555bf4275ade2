"""The ccr track as the release machinery sees it: settings, plans, and rows of a context."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from builder.release import rows
from builder.release.attempts import Clock
from builder.release.schemas import TASKS, TRUTH, worlds_schema
from builder.splits.seeds import attempt_key, public_id, stream
from builder.splits.track import Built, Floors, InstanceSpec, Row, Track
from builder.tracks.ccr.check import audit_instance, leak_facts
from builder.tracks.ccr.graph import Pair, cut_tree, numbered
from builder.tracks.ccr.plan import TRACK_NAME, ContextPlan, parse_config, plan_contexts
from builder.tracks.ccr.quantities import (
    Quantities,
    exact_quantities,
)
from builder.tracks.ccr.questions import (
    direct_quantities,
    linear_quantities,
    trap_quantities,
    tree_quantities,
)
from builder.tracks.ccr.sampling import (
    Sampled,
    measurable,
    references,
    sample_context,
    sample_linear,
)
from builder.tracks.ccr.tasks import (
    ContextTask,
    constants,
    deductive_task,
    fractions,
    listed_task,
    pair_task,
    twin,
    variants_of,
    whole,
)
from builder.tracks.ccr.text import (
    case_lines,
    context_text,
    direct_prompt,
    linear_prompt,
)
from builder.tracks.ccr.themes import THEMES, Words
from builder.tracks.ccr.units import pair_units
from grader.tracks import variant as variant_of
from grader.tracks.ccr import TRACK as GRADER
from grader.tracks.ccr.contexts import CONTEXT


def task_id(spec: InstanceSpec, label: str) -> str:
    """The public id of a task."""
    return public_id("ccr", spec.id_key, label)


def task_row(spec: InstanceSpec, task: ContextTask) -> Row:
    """A row of ``ccr``."""
    variant = variant_of(TRACK_NAME, task.variant)
    name = task_id(spec, task.label)
    return rows.task_row(name, spec.instance_id, variant, task.prompt, task.inputs)


def truth_row(spec: InstanceSpec, plan: ContextPlan, task: ContextTask) -> Row:
    """A row of ``ccr_truth``: values are exact."""
    exact = None if task.value is None else rows.TrueValue(float(task.value))
    name = task_id(spec, task.label)
    return rows.truth_row(name, spec.instance_id, structure(plan), task.target, exact)


def world_row(
    spec: InstanceSpec,
    plan: ContextPlan,
    world: Mapping[str, object],
    tasks: Sequence[ContextTask],
) -> Row:
    """A row of ``ccr_worlds``: everything needed to regenerate and to audit the context."""
    audited = {
        task_id(spec, task.label): {"variant": task.variant, "label": task.label, **task.audit}
        for task in tasks
    }
    found = {**world, "tasks": audited}
    return rows.world_row(spec, 0, structure(plan), found, purpose=plan.purpose)


def structure(plan: ContextPlan) -> str:
    """The slice that a context belongs to."""
    kind = "linear, " if plan.purpose == "linear" else ""
    return f"{kind}{len(plan.sizes)} components"


def quantities_json(quantities: Mapping[Pair, Quantities]) -> list[dict[str, object]]:
    """All quantities of a context, one record a pair."""
    return [
        {"cause": pair[0], "effect": pair[1], **fractions(values)}
        for pair, values in quantities.items()
    ]


def build(spec: InstanceSpec) -> Built:
    """One context with its tasks, as rows. Raises ``UsageError`` if none can be drawn."""
    plan = ContextPlan.from_json(spec.config_json)
    key = attempt_key(spec.key, 0)
    clock = Clock()
    world: dict[str, object]
    rejections: Mapping[str, int] = {}
    with clock("contexts"):
        if plan.purpose == "linear":
            world, tasks = _linear(spec, plan, key)
        else:
            sampled, words = draw(plan, key, spec.label)
            rejections = sampled.rejections
            world = {
                "context": sampled.context.to_json(),
                "tree": list(sampled.tree.nodes),
                "theme": plan.theme,
                "quantities": quantities_json(sampled.quantities),
            }
            if plan.variant is None:
                tasks = _simulation(spec, plan, sampled, words, key)
            else:
                tasks = [_single(spec, plan, sampled, words, key)]
        built: dict[str, list[dict[str, object]]] = {
            "ccr": [task_row(spec, task) for task in tasks],
            "ccr_truth": [truth_row(spec, plan, task) for task in tasks],
            "ccr_worlds": [world_row(spec, plan, world, tasks)],
        }
    return Built(built, rejections, clock.seconds)


def draw(plan: ContextPlan, key: bytes, where: str) -> tuple[Sampled, Words]:
    """A Boolean context under its story names; raises ``UsageError`` where the design cannot be
    met."""
    sampled = sample_context(plan.design, stream(key, "world"), where)
    told = plan.purpose not in ("deductive", "inductive")
    theme = plan.theme if told else "abstract"
    words = THEMES[theme](sampled.context.tenths, stream(key, "words"))
    context = replace(sampled.context, dag=numbered(sampled.context.parents, words.names))
    tree = cut_tree(context.dag)
    quantities = exact_quantities(context, tree)
    return Sampled(context, tree, quantities, sampled.rejections), words


def _simulation(
    spec: InstanceSpec, plan: ContextPlan, sampled: Sampled, words: Words, key: bytes
) -> list[ContextTask]:
    """One task for every pair that can be measured."""
    story = context_text(sampled.context, words, stream(key, "story"))
    bounds = plan.design.bounds
    counted = set(references(sampled.tree, sampled.quantities, bounds))
    place = {name: number for number, name in enumerate(sampled.tree.nodes)}
    tasks = []
    for pair in measurable(sampled.tree, sampled.quantities, bounds):
        label = f"simulation.pair/{place[pair[0]]}/{place[pair[1]]}"
        units = pair_units(sampled.context, sampled.tree, pair, stream(key, f"units/{label}"))
        cases = case_lines(words, units.bits, stream(key, f"cases/{label}"))
        file = f"{task_id(spec, label)}.json"
        tasks.append(
            pair_task(
                sampled, words, story, pair, units, cases,
                label=label, file=file, reference=pair in counted,
            )
        )  # fmt: skip
    return tasks


def _single(
    spec: InstanceSpec, plan: ContextPlan, sampled: Sampled, words: Words, key: bytes
) -> ContextTask:
    """The one task of a direct, deductive, inductive or stated context."""
    assert plan.variant is not None
    file = f"{task_id(spec, plan.variant)}.json"
    if plan.purpose in ("direct", "stated"):
        listed = direct_quantities if plan.purpose == "direct" else tree_quantities
        asked = listed(sampled.tree, stream(key, "tasks"))
        story = context_text(sampled.context, words, stream(key, "story"))
        prompt = direct_prompt(sampled.context, words, story, asked, file, stream(key, "order"))
        return listed_task(plan.variant, prompt, asked, sampled.quantities, None)
    pns = {pair: values["pns"] for pair, values in sampled.quantities.items()}
    return deductive_task(plan, sampled.tree, pns, "pns", file, key)


def _linear(
    spec: InstanceSpec, plan: ContextPlan, key: bytes
) -> tuple[dict[str, object], list[ContextTask]]:
    """A linear context and its one task."""
    assert plan.variant is not None
    trap = plan.variant == "direct.trap"
    context, ends = sample_linear(plan.sizes, plan.kinds, stream(key, "world"), trap=trap)
    names = THEMES["abstract"]([5] * len(context.dag.nodes), stream(key, "words")).names
    ends = tuple(names[context.dag.index[end]] for end in ends)
    context = replace(context, dag=numbered(context.parents, names))
    file = f"{task_id(spec, plan.variant)}.json"
    quantities: Mapping[Pair, Quantities] = {} if trap else exact_quantities(context)
    world: dict[str, object] = {
        "context": context.to_json(),
        "tree": list(ends) if trap else list(cut_tree(context.dag).nodes),
        "theme": "linear",
        "quantities": quantities_json(quantities),
    }
    if plan.variant == "deductive.linear":
        values = {pair: found["ate"] for pair, found in quantities.items()}
        return world, [deductive_task(plan, cut_tree(context.dag), values, "ate", file, key)]
    tree = None if trap else cut_tree(context.dag)
    asked = trap_quantities(ends) if tree is None else linear_quantities(tree, stream(key, "tasks"))
    prompt = linear_prompt(context, asked, file, stream(key, "order"))
    return world, [listed_task(plan.variant, prompt, asked, quantities, context)]


_INPUTS: Final[Mapping[str, frozenset[str]]] = {
    "unit_answers": frozenset({"cause", "effect", "units"}),
    "quantities": frozenset({"quantities"}),
    "deduction": frozenset({"measure", "cause", "effect", "cut_tree"}),
}
"""What ``inputs_json`` declares, by answer shape."""

TRACK: Final = Track(
    name=TRACK_NAME,
    grader=GRADER,
    tables={"ccr": TASKS, "ccr_truth": TRUTH, "ccr_worlds": worlds_schema("purpose")},
    private=frozenset({"ccr_truth", "ccr_worlds"}),
    parse=parse_config,
    plan=plan_contexts,
    build=build,
    audit=audit_instance,
    leak_facts=leak_facts,
    floors=Floors(constants=constants, twin=twin, variants_of=variants_of, whole=(CONTEXT, whole)),
    inputs=lambda variant: _INPUTS[variant.shape.name],
    protocol=True,
)
