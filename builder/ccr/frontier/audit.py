"""The second derivation of every truth of a frontier instance, for the gate.

Quantities, which are published from an elimination of nodes, come from full enumeration here; the
answers to cases, published from tables over all patterns, from one recursion a case.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from builder.ccr.ask.tasks import unpacked
from builder.ccr.frontier.cases import ASKED, COPIED
from builder.ccr.frontier.effects import Enumeration
from builder.ccr.make.model import BooleanContext, context_from_json


def task_problems(
    world: Mapping[str, Any],
    task: Mapping[str, Any],
    target: Mapping[str, Any],
    row: Mapping[str, Any],
) -> Iterator[str]:
    """What is wrong with one truth, given the world row's record, that of its task, the target and
    the truth row."""
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
