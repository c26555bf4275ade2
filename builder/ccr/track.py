"""The ccr track as the release machinery sees it: parse, plan, build."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np

from builder.attempts import Clock
from builder.ccr import rows
from builder.ccr.ask.questions import (
    VERDICTS,
    deduce,
    direct_quantities,
    linear_quantities,
    trap_quantities,
    values_of,
)
from builder.ccr.ask.text import (
    Asked,
    case_lines,
    context_text,
    deductive_prompt,
    direct_prompt,
    linear_prompt,
    simulation_prompt,
)
from builder.ccr.ask.themes import THEMES, Words
from builder.ccr.check.audit import audit_instance
from builder.ccr.check.floors import WHY, floor_points, uninformed_answer
from builder.ccr.make.graph import CutTree, Pair, cut_tree, distance, numbered
from builder.ccr.make.model import LinearContext
from builder.ccr.make.quantities import (
    Quantities,
    enumerated_quantities,
    exact_quantities,
)
from builder.ccr.make.sampling import Sampled, measurable, references, sample_context, sample_linear
from builder.ccr.make.units import pair_units
from builder.ccr.plan.config import parse_config
from builder.ccr.plan.contexts import TRACK_NAME, ContextPlan, plan_contexts
from builder.ccr.rows import Question
from builder.seeds import attempt_key, stream
from builder.track import Built, Floors, InstanceSpec, Track

INPUTS: Final[Mapping[str, frozenset[str]]] = {
    "unit_answers": frozenset({"cause", "effect", "units"}),
    "quantities": frozenset({"quantities"}),
    "deduction": frozenset({"measure", "cause", "effect", "cut_tree"}),
}
"""What ``inputs_json`` declares, by answer shape."""

CHECKED_NODES: Final = 16
"""Contexts up to this size are checked against full enumeration when they are built."""


def build(spec: InstanceSpec) -> Built:
    """One context with its tasks, as rows. Raises ``UsageError`` if none can be drawn."""
    plan = ContextPlan.from_json(spec.config_json)
    key = attempt_key(spec.key, 0)
    clock = Clock()
    world: dict[str, object]
    rejections: tuple[tuple[str, int], ...] = ()
    with clock("contexts"):
        if plan.purpose == "linear":
            world, questions = _linear(spec, plan, key)
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
                questions = _simulation(spec, sampled, words, key)
            else:
                questions = [_single(spec, plan, sampled, words, key)]
        built: dict[str, list[dict[str, object]]] = {
            "ccr": [rows.task_row(spec, question) for question in questions],
            "ccr_truth": [rows.truth_row(spec, plan, question) for question in questions],
            "ccr_worlds": [rows.world_row(spec, plan, world, questions)],
        }
    return Built(built, rejections, clock.seconds())


def draw(plan: ContextPlan, key: bytes, where: str) -> tuple[Sampled, Words]:
    """A Boolean context under its story names, checked against enumeration where it is small.

    Raises ``UsageError`` when the design cannot be met, ``ValueError`` (our bug) when the two
    derivations differ.
    """
    sampled = sample_context(plan.design, stream(key, "world"), where)
    theme = "abstract" if plan.purpose == "deductive" else plan.theme
    words = THEMES[theme](sampled.context.tenths, stream(key, "words"))
    context = replace(sampled.context, dag=numbered(sampled.context.parents, words.names))
    tree = cut_tree(context.dag)
    quantities = exact_quantities(context, tree)
    small = len(words.names) <= CHECKED_NODES
    if small and enumerated_quantities(context) != quantities:
        raise ValueError(f"{where}: exact and enumerated quantities differ")
    return Sampled(context, tree, quantities, sampled.rejections), words


def _simulation(spec: InstanceSpec, sampled: Sampled, words: Words, key: bytes) -> list[Question]:
    """One task for every pair that can be measured."""
    story = context_text(sampled.context, words, stream(key, "story"))
    asked = measurable(sampled.tree, sampled.quantities)
    counted = set(references(sampled.tree, sampled.quantities))
    return [
        _pair_question(spec, sampled, words, story, pair, pair in counted, key) for pair in asked
    ]


def _pair_question(
    spec: InstanceSpec,
    sampled: Sampled,
    words: Words,
    story: str,
    pair: Pair,
    reference: bool,
    key: bytes,
) -> Question:
    dag, tree = sampled.context.dag, sampled.tree
    cause, effect = (dag.index[name] for name in pair)
    label = f"simulation.pair/{tree.nodes.index(pair[0])}/{tree.nodes.index(pair[1])}"
    units = pair_units(sampled.context, tree, pair, stream(key, f"units/{label}"))
    cases = case_lines(words, units, stream(key, f"cases/{label}"))
    name = rows.task_id(spec, label)
    values = sampled.quantities[pair]
    return Question(
        label,
        "simulation.pair",
        simulation_prompt(words, story, (cause, effect), cases, f"{name}.json"),
        {"cause": pair[0], "effect": pair[1], "units": len(cases)},
        values["pns"],
        {
            "cause": pair[0],
            "effect": pair[1],
            "tree": list(tree.nodes),
            "reference": reference,
            "mediators": len(dag.mediators(*pair)),
            "shortest_path": distance(dag, pair),
            "answers": {
                "factual": rows.answer_bits(units.factual),
                "do_true": rows.answer_bits(units.high),
                "do_false": rows.answer_bits(units.low),
            },
            "weights": rows.weights_json(units),
            "exact": rows.fractions(values),
        },
        {"cause": pair[0], "effect": pair[1], "bits": rows.packed(units.bits)},
    )


def _single(
    spec: InstanceSpec, plan: ContextPlan, sampled: Sampled, words: Words, key: bytes
) -> Question:
    """The one task of a direct or deductive context."""
    assert plan.variant is not None
    file = f"{rows.task_id(spec, plan.variant)}.json"
    if plan.purpose == "direct":
        asked = direct_quantities(sampled.tree, stream(key, "tasks"))
        story = context_text(sampled.context, words, stream(key, "story"))
        prompt = direct_prompt(sampled.context, words, story, asked, file, stream(key, "order"))
        return _listed(plan.variant, prompt, asked, sampled.quantities, None)
    pns = {pair: values["pns"] for pair, values in sampled.quantities.items()}
    return _deduction(plan, sampled.tree, pns, "pns", file, key)


def _listed(
    variant: str,
    prompt: str,
    asked: list[Asked],
    quantities: Mapping[Pair, Quantities],
    linear: LinearContext | None,
) -> Question:
    values = values_of(asked, quantities, linear)
    names = [f"Q{number}" for number in range(1, len(asked) + 1)]
    listed = {name: quantity.text for name, quantity in zip(names, asked, strict=True)}
    target = {
        name: {"measure": quantity.measure, "path": list(quantity.path), "exact": str(value)}
        for name, quantity, value in zip(names, asked, values, strict=True)
    }
    return Question(
        variant, variant, prompt, {"quantities": listed}, None, {"quantities": target}, {}
    )


def _deduction(
    plan: ContextPlan,
    tree: CutTree,
    values: Mapping[Pair, Fraction],
    measure: str,
    file: str,
    key: bytes,
) -> Question:
    """A deductive task over the PNS of a Boolean or the ATE of a linear context."""
    assert plan.variant is not None
    (verdict,) = (known for known in VERDICTS if known == plan.verdict)
    found = deduce(tree, values, verdict, stream(key, "tasks"), bounded=measure == "pns")
    prompt = deductive_prompt(
        measure, tree.nodes, found.givens, found.target, file, stream(key, "order")
    )
    inputs = {
        "measure": measure,
        "cause": found.target[0],
        "effect": found.target[1],
        "cut_tree": list(tree.nodes),
    }
    target: dict[str, object] = {"verdict": found.verdict}
    if found.value is not None:
        target["exact"] = str(found.value)
    givens = [[*given.pair, str(given.value)] for given in found.givens]
    return Question(
        plan.variant,
        plan.variant,
        prompt,
        inputs,
        found.value,
        target,
        {"givens": givens, "cause": found.target[0], "effect": found.target[1]},
    )


def _linear(
    spec: InstanceSpec, plan: ContextPlan, key: bytes
) -> tuple[dict[str, object], list[Question]]:
    """A linear context and its one task."""
    assert plan.variant is not None
    trap = plan.variant == "direct.trap"
    context, ends = sample_linear(plan.sizes, plan.kinds, stream(key, "world"), trap=trap)
    names = THEMES["abstract"]([5] * len(context.dag.nodes), stream(key, "words")).names
    ends = (
        names[context.dag.index[ends[0]]],
        names[context.dag.index[ends[1]]],
        names[context.dag.index[ends[2]]],
    )
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
    order: np.random.Generator = stream(key, "order")
    if plan.variant == "deductive.linear":
        values = {pair: found["ate"] for pair, found in quantities.items()}
        return world, [_deduction(plan, cut_tree(context.dag), values, "ate", file, key)]
    tree = None if trap else cut_tree(context.dag)
    asked = trap_quantities(ends) if tree is None else linear_quantities(tree, stream(key, "tasks"))
    prompt = linear_prompt(context, asked, file, order)
    return world, [_listed(plan.variant, prompt, asked, quantities, context)]


TRACK: Final = Track(
    name=TRACK_NAME,
    tables=rows.SCHEMAS,
    private=rows.PRIVATE_CONFIGS,
    parse=parse_config,
    plan=plan_contexts,
    build=build,
    audit=audit_instance,
    floors=Floors(why=WHY, answer=uninformed_answer, points=floor_points),
    inputs=lambda variant, _: INPUTS[variant.shape],
    protocol=True,
)
