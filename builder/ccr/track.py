"""The ccr track as the release machinery sees it: parse, plan, build."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from builder.attempts import Clock
from builder.ccr import rows
from builder.ccr.ask.constants import constants, twin, variants_of, whole
from builder.ccr.ask.questions import (
    direct_quantities,
    linear_quantities,
    trap_quantities,
    tree_quantities,
)
from builder.ccr.ask.tasks import ContextTask, deductive_task, listed_task, pair_task
from builder.ccr.ask.text import (
    case_lines,
    context_text,
    direct_prompt,
    linear_prompt,
)
from builder.ccr.ask.themes import THEMES, Words
from builder.ccr.check.audit import audit_instance
from builder.ccr.check.leaks import leak_facts
from builder.ccr.make.graph import Pair, cut_tree, numbered
from builder.ccr.make.quantities import (
    Quantities,
    enumerated_quantities,
    exact_quantities,
)
from builder.ccr.make.sampling import Sampled, measurable, references, sample_context, sample_linear
from builder.ccr.make.units import pair_units
from builder.ccr.plan.config import parse_config
from builder.ccr.plan.contexts import TRACK_NAME, ContextPlan, plan_contexts
from builder.seeds import attempt_key, stream
from builder.track import Built, Floors, InstanceSpec, Track
from grader.shape import Variant
from grader.tracks.ccr.contexts import CONTEXT

INPUTS: Final[Mapping[str, frozenset[str]]] = {
    "unit_answers": frozenset({"cause", "effect", "units"}),
    "quantities": frozenset({"quantities"}),
    "deduction": frozenset({"measure", "cause", "effect", "cut_tree"}),
}
"""What ``inputs_json`` declares, by answer shape."""


def inputs_of(variant: Variant) -> frozenset[str]:
    """Return what the tasks of a variant declare."""
    return INPUTS[variant.shape.name]


CHECKED_NODES: Final = 16
"""Contexts up to this size are checked against full enumeration when they are built."""


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
                "quantities": rows.quantities_json(sampled.quantities),
            }
            if plan.variant is None:
                tasks = _simulation(spec, plan, sampled, words, key)
            else:
                tasks = [_single(spec, plan, sampled, words, key)]
        built: dict[str, list[dict[str, object]]] = {
            "ccr": [rows.task_row(spec, task) for task in tasks],
            "ccr_truth": [rows.truth_row(spec, plan, task) for task in tasks],
            "ccr_worlds": [rows.world_row(spec, plan, world, tasks)],
        }
    return Built(built, rejections, clock.seconds)


def draw(plan: ContextPlan, key: bytes, where: str) -> tuple[Sampled, Words]:
    """A Boolean context under its story names, checked against enumeration where it is small.

    Raises ``UsageError`` when the design cannot be met, ``ValueError`` (our bug) when the two
    derivations differ.
    """
    sampled = sample_context(plan.design, stream(key, "world"), where)
    told = plan.purpose not in ("deductive", "inductive")
    theme = plan.theme if told else "abstract"
    words = THEMES[theme](sampled.context.tenths, stream(key, "words"))
    context = replace(sampled.context, dag=numbered(sampled.context.parents, words.names))
    tree = cut_tree(context.dag)
    quantities = exact_quantities(context, tree)
    small = len(words.names) <= CHECKED_NODES
    if small and enumerated_quantities(context) != quantities:
        raise ValueError(f"{where}: exact and enumerated quantities differ")
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
        file = f"{rows.task_id(spec, label)}.json"
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
    file = f"{rows.task_id(spec, plan.variant)}.json"
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
    file = f"{rows.task_id(spec, plan.variant)}.json"
    quantities: Mapping[Pair, Quantities] = {} if trap else exact_quantities(context)
    if not trap and enumerated_quantities(context) != quantities:
        raise ValueError(f"{spec.label}: exact and enumerated quantities differ")
    world: dict[str, object] = {
        "context": context.to_json(),
        "tree": list(ends) if trap else list(cut_tree(context.dag).nodes),
        "theme": "linear",
        "quantities": rows.quantities_json(quantities),
    }
    if plan.variant == "deductive.linear":
        values = {pair: found["ate"] for pair, found in quantities.items()}
        return world, [deductive_task(plan, cut_tree(context.dag), values, "ate", file, key)]
    tree = None if trap else cut_tree(context.dag)
    asked = trap_quantities(ends) if tree is None else linear_quantities(tree, stream(key, "tasks"))
    prompt = linear_prompt(context, asked, file, stream(key, "order"))
    return world, [listed_task(plan.variant, prompt, asked, quantities, context)]


TRACK: Final = Track(
    name=TRACK_NAME,
    tables=rows.SCHEMAS,
    private=rows.PRIVATE_CONFIGS,
    parse=parse_config,
    plan=plan_contexts,
    build=build,
    audit=audit_instance,
    leak_facts=leak_facts,
    floors=Floors(constants=constants, twin=twin, variants_of=variants_of, whole=(CONTEXT, whole)),
    inputs=inputs_of,
    protocol=True,
    effort=0.02,
)
