"""The second derivation of every truth of a frontier instance, for the gate.

Quantities, which are published from an elimination of nodes, come from full enumeration here; the
answers to cases, published from tables over all patterns, from one recursion a case. Bounds,
published from closed formulas, are attained by explicit models; deductions, published by algebra,
follow from a search over models.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from builder.ccr.ask.tasks import unpacked
from builder.ccr.frontier.bounds import Margins, extreme, margins_from_json, measured
from builder.ccr.frontier.cases import ASKED, COPIED
from builder.ccr.frontier.chains import Known
from builder.ccr.frontier.effects import Enumeration
from builder.ccr.frontier.fitting import fit
from builder.ccr.make.model import BooleanContext, context_from_json

_FITTED: Final = 0.03
"""How far a value from models that meet the rounded givens may lie from the exact one."""


def task_problems(
    world: Mapping[str, Any],
    task: Mapping[str, Any],
    target: Mapping[str, Any],
    row: Mapping[str, Any],
) -> Iterator[str]:
    """What is wrong with one truth, given the world row's record, that of its task, the target and
    the truth row."""
    if "intervals" in target:
        yield from _bounds([margins_from_json(one) for one in task["strata"]], target)
        return
    if "verdict" in target:
        yield from _deduction(world["context"]["edges"], task, target, row)
        return
    context = context_from_json(world["context"])
    assert isinstance(context, BooleanContext)
    if "answers" in target:
        yield from _cases(context, task, target)
    else:
        yield from _estimands(context, target)


def _estimands(context: BooleanContext, target: Mapping[str, Any]) -> Iterator[str]:
    table = Enumeration(context)
    for name, quantity in target["quantities"].items():
        evidence = tuple((known, holds) for known, holds in quantity.get("evidence", ()))
        values = table.quantities(tuple(quantity["path"]), evidence)
        if Fraction(quantity["exact"]) != values[quantity["measure"]]:
            yield f"{name} differs from its second derivation"


def _bounds(strata: Sequence[Margins], target: Mapping[str, Any]) -> Iterator[str]:
    """Each end is attained by an explicit model with the told margins."""
    for largest, end in ((False, "least"), (True, "greatest")):
        models = [extreme(margins, largest=largest) for margins in strata]
        shown = [
            Margins.of(cells, margins.done is not None)
            for cells, margins in zip(models, strata, strict=True)
        ]
        if shown != strata or any(p < 0 for cells in models for p in cells.values()):
            yield f"the model of the {end} values has other margins"
        for name, interval in target["intervals"].items():
            if measured(interval["measure"], models) != Fraction(interval[end]):
                yield f"the {end} value of {name} is not attained"


def _deduction(
    edges: Sequence[Sequence[str]],
    task: Mapping[str, Any],
    target: Mapping[str, Any],
    row: Mapping[str, Any],
) -> Iterator[str]:
    """What explicit models say that were searched for, of the values as they are printed."""
    givens = [
        Known(measure, (cause, effect), Fraction(value))
        for measure, cause, effect, value in task["givens"]
    ]
    asked = Known(task["measure"], (task["cause"], task["effect"]))
    verdict, value = fit([(cause, effect) for cause, effect in edges], givens, asked).answer
    if verdict != target["verdict"]:
        yield f"the answer is {target['verdict']}, models say {verdict}"
    elif value is not None:
        exact = float(Fraction(target["exact"]))
        if abs(value - exact) > _FITTED * exact or abs(row["value"] - exact) > 1e-9:
            yield f"the value is {row['value']}, that of the models {value}"


def _cases(
    context: BooleanContext, task: Mapping[str, Any], target: Mapping[str, Any]
) -> Iterator[str]:
    index = context.dag.index
    cause, effect, other = (index[task[name]] for name in ("cause", "effect", "other"))
    count = len(target["answers"][ASKED[0]])
    bits = unpacked(task["bits"], count).T.tolist()
    worlds: dict[str, dict[int, bool]] = {
        "do_true": {cause: True},
        "do_false": {cause: False},
        "joint": {cause: True, other: task["level"]},
    }
    copied = 0
    for case, row in enumerate(bits):
        factual = _value(context, effect, row, {})
        for name, done in worlds.items():
            answer = _value(context, effect, row, done)
            copied += answer == factual
            if answer != (target["answers"][name][case] == "1"):
                yield f"case {case}: the {name} answer differs from its second derivation"
    if copied > COPIED * 3 * count:
        yield "copied facts are right too often"
    if any(len(set(answers)) < 2 for answers in target["answers"].values()):
        yield "a list of answers is constant"


def _value(context: BooleanContext, node: int, bits: list[bool], done: Mapping[int, bool]) -> bool:
    """Whether one node holds in one case, from its rule."""
    if node in done:
        return done[node]
    if not context.parents[node]:
        return bits[node]
    clauses = [
        _value(context, parent, bits, done) != denial
        for parent, denial in zip(context.parents[node], context.denials(node), strict=True)
    ]
    joined = any(clauses) if context.among[node] == "or" else all(clauses)
    return (bits[node] or joined) if context.own[node] == "or" else (bits[node] and joined)
