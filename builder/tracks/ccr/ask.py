"""The tasks of a context (prompt, declared inputs, truth, what the audit needs), and constants."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Final

import networkx as nx
import numpy as np

from builder.splits.seeds import random_order, stream
from builder.splits.track import Graded, InstanceSpec, planned_variants
from builder.tracks.ccr import questions, text
from builder.tracks.ccr.model import Bits, CutTree, LinearContext, Pair
from builder.tracks.ccr.plan import VARIANTS_OF, Bounds, ContextPlan, ContextSettings
from builder.tracks.ccr.quantities import MEDIATED, linear_effect, total_effect
from builder.tracks.ccr.sampling import SampledContext, measurable, pair_units, references
from builder.tracks.ccr.themes import Words
from grader.io.jsonio import canonical_json
from grader.scoring.model import Truth
from grader.scoring.shape import Task
from grader.tracks.ccr.contexts import evaluate_context

NameOf = Callable[[str], str]
"""The id of the task with a label."""


@dataclass(frozen=True, slots=True)
class ContextTask:
    """One task. ``label`` is unique inside the context; ``value`` is the exact answer if it is one
    number. ``target`` stands in the truth row, ``audit`` in the world row."""

    label: str
    variant: str
    prompt: str
    inputs: Mapping[str, object]
    value: Fraction | None
    target: Mapping[str, object]
    audit: Mapping[str, object]


def pair_tasks(
    sampled: SampledContext, words: Words, bounds: Bounds, name_of: NameOf, key: bytes
) -> list[ContextTask]:
    """Return one simulation task for every pair that can be measured, its units worded as cases. A
    target's ``reference`` says whether the indirect paths of the pair count as compositions.
    ``key`` is the attempt's: story, units and cases have streams of their own."""
    context, tree, dag = sampled.context, sampled.tree, sampled.context.dag
    story = text.context_text(context, words, stream(key, "story"))
    counted, skeleton = references(tree, sampled.quantities, bounds), nx.DiGraph(dag.edges)
    tasks = []
    for pair in measurable(tree, sampled.quantities, bounds):
        label = "/".join(["simulation.pair", *(str(tree.nodes.index(end)) for end in pair)])
        bits, answers, weights = pair_units(context, tree, pair, stream(key, f"units/{label}"))
        cases = text.case_lines(words, bits, stream(key, f"cases/{label}"))
        nodes = dag.index[pair[0]], dag.index[pair[1]]
        ends, exact = {"cause": pair[0], "effect": pair[1]}, sampled.quantities[pair]
        target = {
            **ends,
            "tree": list(tree.nodes),
            "reference": pair in counted,
            "mediators": len(dag.mediators(*pair)),
            "shortest_path": nx.shortest_path_length(skeleton, *pair),
            "answers": {question: answer_bits(values) for question, values in answers.items()},
            "weights": weights,
            "exact": {name: str(value) for name, value in exact.items()},
        }
        prompt = text.simulation_prompt(words, story, nodes, cases, f"{name_of(label)}.json")
        inputs, audit = {**ends, "units": len(cases)}, {**ends, "bits": pack_bits(bits)}
        tasks.append(
            ContextTask(label, "simulation.pair", prompt, inputs, exact["pns"], target, audit)
        )
    return tasks


def single_task(
    plan: ContextPlan, sampled: SampledContext, words: Words, name_of: NameOf, key: bytes
) -> ContextTask:
    """Return the one task of a Boolean context: direct, deductive, inductive or stated."""
    assert plan.variant is not None
    file = f"{name_of(plan.variant)}.json"
    if plan.purpose not in ("direct", "stated"):
        pns = {pair: values["pns"] for pair, values in sampled.quantities.items()}
        return _product_task(plan, sampled.tree, pns, "pns", file, key)
    rng = stream(key, "tasks")
    if plan.purpose == "direct":
        asked = questions.direct_quantities(sampled.tree, rng)
    else:
        asked = [text.ListedQuantity("pns", pair) for pair in random_order(rng, sampled.tree.pairs)]
    story = text.context_text(sampled.context, words, stream(key, "story"))
    prompt = text.direct_prompt(sampled.context, words, story, asked, file, stream(key, "order"))
    values = (sampled.quantities[one.path[0], one.path[-1]][one.measure] for one in asked)
    return _listed_task(plan.variant, prompt, zip(asked, values, strict=True))


def linear_task(
    plan: ContextPlan,
    context: LinearContext,
    tree: CutTree | None,
    ends: tuple[str, ...],
    name_of: NameOf,
    key: bytes,
) -> ContextTask:
    """Return a linear context's task. Without ``tree``, ``ends`` are X, inner nodes, and Y."""
    assert plan.variant is not None
    file = f"{name_of(plan.variant)}.json"
    if tree is not None and plan.variant == "deductive.linear":
        effects = {pair: total_effect(context, *pair) for pair in tree.pairs}
        return _product_task(plan, tree, effects, "ate", file, key)
    rng = stream(key, "tasks")
    if plan.purpose == "additive":
        x, *inner, y = ends
        parts = [text.ListedQuantity(name, (x, m, y)) for m in inner for name in MEDIATED]
        asked = [text.ListedQuantity("te", (x, y)), *parts]
        if plan.verdict is not None:
            sums = {one: linear_effect(context, one.measure, one.path) for one in asked}
            inductive = plan.variant == "inductive.additive"
            sum_question = questions.deduce_sum(asked, sums, plan.verdict, rng, inductive=inductive)
            return _deductive_task(plan, ends, sum_question, file, key)
        asked = random_order(rng, asked)
    else:
        # In a trap the product along the would-be cutpoint differs from the effect of X on Y.
        paths = [ends, (ends[0], ends[-1])]
        if tree is not None:
            paths = [*random_order(rng, tree.local_pairs)[:2], tree.global_pair]
        asked = [text.ListedQuantity("ate", path) for path in paths]
    prompt = text.linear_prompt(context, asked, file, stream(key, "order"))
    values = ((one, linear_effect(context, one.measure, one.path)) for one in asked)
    return _listed_task(plan.variant, prompt, values)


def _listed_task(
    variant: str, prompt: str, values: Iterable[tuple[text.ListedQuantity, Fraction]]
) -> ContextTask:
    """Return a task that asks for several quantities of a context, named Q1, Q2 and on."""
    listed, target = {}, {}
    for number, (one, value) in enumerate(values, start=1):
        listed[f"Q{number}"] = one.text
        target[f"Q{number}"] = {**asdict(one), "exact": str(value)}
    return ContextTask(
        variant, variant, prompt, {"quantities": listed}, None, {"quantities": target}, {}
    )


def _product_task(
    plan: ContextPlan,
    tree: CutTree,
    values: Mapping[Pair, Fraction],
    measure: str,
    file: str,
    key: bytes,
) -> ContextTask:
    """Return a question about products, inductive where that is the plan's purpose. ``values`` are
    exact for all pairs in ``measure``: "pns" (Boolean context) or "ate" (linear)."""
    assert plan.verdict is not None
    rng = stream(key, "tasks")
    if plan.purpose == "inductive":
        found = questions.compose(tree, values, plan.verdict, rng)
    else:
        found = questions.deduce(tree, values, plan.verdict, rng, bounded=measure == "pns")
    givens = {text.ListedQuantity(measure, pair): value for pair, value in found.givens.items()}
    target = text.ListedQuantity(measure, found.target)
    question = questions.Deduction(givens, target, found.verdict, found.value)
    return _deductive_task(plan, tree.nodes, question, file, key)


def _deductive_task(
    plan: ContextPlan,
    nodes: tuple[str, ...],
    found: questions.Deduction[text.ListedQuantity],
    file: str,
    key: bytes,
) -> ContextTask:
    """Return a deductive or inductive task; ``nodes`` as in :func:`text.deductive_prompt`."""
    assert plan.variant is not None
    prompt = text.deductive_prompt(nodes, found.givens, found.target, file, stream(key, "order"))
    ends = {"cause": found.target.path[0], "effect": found.target.path[-1]}
    target: dict[str, object] = {"verdict": found.verdict}
    if found.value is not None:
        target["exact"] = str(found.value)
    shown = {"mediators": [*nodes[1:-1]]} if plan.purpose == "additive" else {"cut_tree": [*nodes]}
    givens = [{**asdict(one), "value": str(value)} for one, value in found.givens.items()]
    return ContextTask(
        plan.variant,
        plan.variant,
        prompt,
        {**ends, "measure": found.target.measure, **shown},
        found.value,
        target,
        {**ends, "asked": asdict(found.target), "givens": givens},
    )


def answer_bits(answers: Bits) -> str:
    """Return the right answers as text: 1 for yes, 0 for no, in unit order."""
    return "".join("1" if answer else "0" for answer in answers.tolist())


def pack_bits(bits: Bits) -> list[str]:
    """Return each node's bits over the units, eight to a byte, in hexadecimal."""
    return [np.packbits(row).tobytes().hex() for row in bits]


def unpack_bits(packed_bits: Sequence[str], count: int) -> Bits:
    """Return the bits that :func:`pack_bits` packed, shape (nodes, ``count``)."""
    octets = [np.frombuffer(bytes.fromhex(row), dtype=np.uint8) for row in packed_bits]
    return np.array([np.unpackbits(row, count=count) for row in octets]).astype(bool)


_SHARES: Final = tuple(step / 20 for step in range(21))
_NUMBERS: Final = (*_SHARES, *(-share for share in _SHARES[1:]), 1.5, 2.0)


def twin(config: ContextSettings, tasks: int) -> ContextSettings:
    """Return the floors' settings: ``tasks`` contexts a variant, long ones in proportion."""
    counts = config.counts
    wanted = {name: tasks * bool(count) * len(VARIANTS_OF[name]) for name, count in counts.items()}
    if simulated := counts["simulation"] + counts["long"]:
        wanted["long"] = round(tasks * counts["long"] / simulated)
        wanted["simulation"] = tasks - wanted["long"]
    return config.model_copy(update=wanted)


def variants_of(spec: InstanceSpec) -> list[str]:
    """Return a context's variants, ``simulation.pair`` where its plan names none."""
    return planned_variants(spec) or ["simulation.pair"]


def constants(task: Task, _: Truth) -> Iterator[tuple[str, str]]:
    """Yield each constant answer to a task: its name, one for all tasks of a variant, and text."""
    match task.shape.kind:
        case "units":
            units = int(task.inputs["units"])
            for share in _SHARES:
                moved = [place < round(share * units) for place in range(units)]
                effect = {"factual": moved, "do_true": moved, "do_false": [False] * units}
                yield f"the cause moves {share:.0%} of the units", canonical_json(effect)
            yield "always yes", canonical_json(dict.fromkeys(effect, [True] * units))
        case "quantities":
            for value in _NUMBERS:
                told = {"quantities": dict.fromkeys(task.inputs["quantities"], value)}
                yield f"always {value:g}", canonical_json(told)
        case "deduction":
            for word in ("inconsistent", "insufficient"):
                yield f"always {word}", canonical_json({"value": word})
            for value in _NUMBERS:
                yield f"always {value:g}", canonical_json({"value": value})
        case other:
            raise ValueError(f"no constant answer of kind {other}")


def context_points(graded: Sequence[Graded]) -> float | None:
    """Return the share (0 to 1) of valid and consistent compositions, None if not asked in full."""
    scores = [score for _, _, score in graded if score.family == "simulation"]
    if not scores:
        return None
    truths = {score.task_id: truth for truth, _, score in graded}
    checked = {score.task_id: found for _, found, score in graded}
    result = evaluate_context(scores, truths, checked)
    return None if result is None else result.share
