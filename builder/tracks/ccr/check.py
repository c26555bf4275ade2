"""The second derivation of every truth of a context, and the facts for the leak test.

Nothing here uses the factorisation by components: quantities come from ``twin_quantities``, linear
effects from path sums, unit answers node after node in all three worlds, deductions from linear
algebra. The rules of a story tell graph and functions: they are meaning, and no leak."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import prod
from typing import Any, Final

from builder.splits.track import LeakFacts, TaskRow
from builder.tracks.ccr.ask import unpack_bits
from builder.tracks.ccr.model import BooleanContext, Context, LinearContext, Pair, context_from_json
from builder.tracks.ccr.model import ancestors as ancestors_of
from builder.tracks.ccr.quantities import Quantities, Triple, node_worlds, path_sum, twin_quantities
from builder.tracks.ccr.questions import check_deduction, check_sum
from builder.tracks.ccr.text import ListedQuantity

Row = Mapping[str, Any]
_GIVEN: Final = re.compile(r"^- \w+\(.*\) = ", re.MULTILINE)
_RULE: Final = re.compile(r"^- (.*?)(?: exactly when | = )", re.MULTILINE)
Derive = Callable[[Pair], Quantities]


def audit_instance(
    world_row: Row, truth_rows: Sequence[Row], _label: object = None, _shown: object = None
) -> list[str]:
    """Return the problems of one context, empty where every truth is derived again."""
    world = json.loads(world_row["world_json"])
    truths = {row["task_id"]: row for row in truth_rows}
    problems = [f"task {name}: no truth" for name in sorted(world["tasks"].keys() - truths.keys())]
    context = context_from_json(world["context"])

    @cache
    def derive(pair: Pair) -> Quantities:
        if isinstance(context, LinearContext):
            return {"ate": path_sum(context, *pair)}
        return twin_quantities(context, pair)

    for one in world["quantities"]:
        pair = one.pop("cause"), one.pop("effect")
        if {name: Fraction(text) for name, text in one.items()} != derive(pair):
            problems.append(f"the quantities of {pair} differ from their second derivation")
    for name, row in sorted(truths.items()):
        task, target = world["tasks"].get(name), json.loads(row["target_json"])
        if task is None:
            problems.append(f"task {name}: a truth of no task")
            continue
        found = list(_task_problems(context, derive, world, task, target, row))
        if row["should_abstain"]:
            found.append("no task of this track is an abstention")
        problems += [f"task {name} ({task['variant']}): {problem}" for problem in found]
    return problems


def _task_problems(
    context: Context, derive: Derive, world: Row, task: Row, target: Row, row: Row
) -> Iterator[str]:
    """Yield a task's problems, from its world record, its truth ``target`` and truth ``row``."""
    if task["variant"] == "simulation.pair":
        assert isinstance(context, BooleanContext)
        yield from _simulation_problems(context, task, target, row, derive(_ends(task)))
    elif "quantities" in target:
        for name, quantity in target["quantities"].items():
            if Fraction(quantity["exact"]) != _derived_value(context, quantity, derive):
                yield f"{name} differs from its second derivation"
    else:
        yield from _deductive_problems(world, task, target, row)
        exact = target.get("exact")
        if exact is not None and Fraction(exact) != _derived_value(context, task["asked"], derive):
            yield "the value is not that of the model behind the givens"


def _ends(task: Row) -> Pair:
    return task["cause"], task["effect"]


def _derived_value(context: Context, quantity: Row, derive: Derive) -> Fraction:
    """Return a quantity by the second derivation. A path of several steps is a product, as an NIE
    is over its mediator; an NDE is the sum over the paths that avoid it."""
    measure, path = quantity["measure"], quantity["path"]
    if isinstance(context, LinearContext):
        if measure == "nde":
            cause, mediator, effect = path
            return path_sum(context, cause, effect, avoided=mediator)
        measure = "ate"
    return prod((derive(pair)[measure] for pair in pairwise(path)), start=Fraction(1))


def _simulation_problems(
    context: BooleanContext, task: Row, target: Row, row: Row, derived: Quantities
) -> Iterator[str]:
    """Yield where a simulation task differs from its second derivation."""
    if {name: Fraction(text) for name, text in target["exact"].items()} != derived:
        yield "the exact quantities differ from their second derivation"
    if abs(row["value"] - derived["pns"]) > 1e-9 * derived["pns"]:
        yield "the value is not the PNS"
    answers = target["answers"]
    count = len(answers["factual"])
    bits = unpack_bits(task["bits"], count).T.tolist()
    cause, effect = (context.dag.index[name] for name in _ends(task))
    for unit in range(count):
        told = tuple(answers[kind][unit] == "1" for kind in ("factual", "do_true", "do_false"))
        if _answers_of(context, bits[unit], cause, effect) != told:
            yield f"unit {unit}: an answer differs from its second derivation"
    weights = unit_weights(target)
    if sum(weights) != 1:
        yield "the weights do not add up to 1"
    shares = defaultdict[str, Fraction](Fraction)
    for high, low, weight in zip(answers["do_true"], answers["do_false"], weights, strict=True):
        shares[high + low] += weight
    if shares["10"] != derived["pns"]:
        yield "right answers do not give the exact PNS"
    if shares["10"] - shares["01"] != derived["ate"]:
        yield "right answers do not give the exact ATE"
    if "numerators" in target["weights"]:
        yield from _pattern_problems(context, effect, bits, weights)


def _pattern_problems(
    context: BooleanContext, effect: int, bits: Sequence[Sequence[bool]], weights: list[Fraction]
) -> Iterator[str]:
    """Yield where units are not every pattern of the ancestors once, with its probability."""
    ancestors = ancestors_of(context.dag, effect)
    seen = {tuple(unit[v] for v in ancestors) for unit in bits}
    if len(seen) != len(bits) or len(seen) != 1 << len(ancestors):
        yield "the units are not every pattern once"
    odds = {
        (v, bit): Fraction(t if bit else 10 - t, 10)
        for v, t in enumerate(context.tenths)
        for bit in (False, True)
    }
    expected = [prod(odds[v, unit[v]] for v in ancestors) for unit in bits]
    if expected != weights:
        yield "a weight is not the pattern's probability"


def unit_weights(target: Row) -> list[Fraction]:
    """Return the exact weight of every unit of a simulation task, in order, of sum 1 if right."""
    weights, answers = target["weights"], target["answers"]
    if "numerators" in weights:
        return [Fraction(n, weights["denominator"]) for n in weights["numerators"]]
    cells = [a + b for a, b in zip(answers["do_true"], answers["do_false"], strict=True)]
    share = {cell: Fraction(text) / cells.count(cell) for cell, text in weights["cells"].items()}
    return [share.get(cell, Fraction(0)) for cell in cells]


def _answers_of(context: BooleanContext, bits: Sequence[bool], cause: int, effect: int) -> Triple:
    """Return the effect's value for one unit in the three worlds, given its bits by node."""
    values: dict[int, Triple] = {}
    for node in range(effect + 1):
        values[node] = node_worlds(context, node, bits[node], values)
        if node == cause:
            values[node] = (values[node][0], True, False)
    return values[effect]


def _quantity_from(one: Row) -> ListedQuantity:
    return ListedQuantity(one["measure"], tuple(one["path"]))


def _deductive_problems(world: Row, task: Row, target: Row, row: Row) -> Iterator[str]:
    """Yield where verdict or value of a deduction differ from their second derivation."""
    givens = {_quantity_from(one): Fraction(one["value"]) for one in task["givens"]}
    if task["variant"].endswith(".additive"):
        verdict, value = check_sum(givens, _quantity_from(task["asked"]))
    else:
        pairs = {(one.path[0], one.path[1]): value for one, value in givens.items()}
        bounded = world["context"]["kind"] == "boolean"
        verdict, value = check_deduction(world["tree"], pairs, _ends(task), bounded=bounded)
    if verdict != target["verdict"]:
        yield f"the verdict is {target['verdict']}, derived again it is {verdict}"
    elif value is not None:
        exact = Fraction(target["exact"])
        if abs(value - exact) > 1e-6 * abs(exact) or abs(row["value"] - exact) > 1e-6 * abs(exact):
            yield f"the value is {row['value']}, derived again it is {value}"


def leak_facts(task: TaskRow, truth: Row, world: Row) -> LeakFacts:
    """Return a task's facts for the leak test."""
    inputs, record = task.inputs, json.loads(world["world_json"])
    target = json.loads(truth["target_json"])
    ends = tuple(inputs[end] for end in ("cause", "effect") if end in inputs)
    heads = _RULE.findall(task.prompt)
    shown: dict[str, float | str] = {
        "theme": record["theme"],
        "ends by name": str(ends == tuple(sorted(ends))),
    }
    for k, name in enumerate(ends):
        places = [place for place, head in enumerate(heads) if re.search(rf"\b{name}\b", head)]
        shown[f"rule of end {k}"] = float(places[0]) if places else -1.0
    return LeakFacts(
        facts=_answer_facts(target),
        of_task=(
            inputs.get("units"),
            inputs.get("measure"),
            len(target.get("quantities", ())),
            len(inputs.get("cut_tree", ())),
            len(_GIVEN.findall(task.prompt)),
            None if "measure" in inputs else len(record["context"]["names"]),
        ),
        ends=ends,
        orders=(tuple(inputs.get("cut_tree", inputs.get("mediators", ()))),),
        shown=shown,
    )


def _answer_facts(target: Row) -> dict[str, str]:
    """Return facts of the right answers, by name."""
    facts = {"verdict": target.get("verdict", "")}
    for question, bits in target.get("answers", {}).items():
        facts[f"{question}, mostly yes"] = str(2 * bits.count("1") > len(bits))
        facts[f"{question}, first case"] = bits[:1]
        facts[f"{question}, last case"] = bits[-1:]
    values = {name: Fraction(one["exact"]) for name, one in target.get("quantities", {}).items()}
    if values:
        facts["largest"] = max(values, key=lambda name: values[name])
        facts["smallest"] = min(values, key=lambda name: values[name])
        facts["sign of the last"] = str(values[list(values)[-1]] > 0)
    return facts
