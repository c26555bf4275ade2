"""Direct and deductive ccr tasks solved from their prompts."""

import math
import re
from fractions import Fraction
from typing import Any

from baselines.ccr.story import ToldModel, read_context
from builder.ccr.graph import cut_tree, sorted_graph
from builder.ccr.model import BooleanContext, LinearContext
from builder.ccr.quantities import exact_quantities, total_effect
from builder.ccr.questions import check_deduction
from builder.ccr.text import Given

_TERM = re.compile(r"(\w+)\((\w+), (\w+)\)")


def solve(prompt: str) -> dict[str, Any]:
    """The answer to a direct, inductive or deductive task, as its answer file holds it."""
    if "These values are given" in prompt:
        return {"value": _deduction(prompt)}
    listed = re.findall(r"^- (Q\d+): (.*)$", prompt, re.MULTILINE)
    value = _linear(prompt) if "obey these equations" in prompt else _boolean(prompt)
    return {"quantities": {name: _product(text, value) for name, text in listed}}


def _product(text: str, value: Any) -> float:
    result = Fraction(1)
    for measure, cause, effect in _TERM.findall(text):
        result *= value(measure.lower(), cause, effect)
    return float(result)


def _boolean(prompt: str) -> Any:
    context = _model(read_context(prompt), prompt)
    quantities = exact_quantities(context, cut_tree(context.dag))
    return lambda measure, cause, effect: quantities[cause, effect][measure]


def _model(story: ToldModel, prompt: str) -> BooleanContext:
    """The model with the probabilities that the prompt states."""
    odds: dict[tuple[str, str], int] = {}
    for line in re.findall(r"^- (.*: 0\.\d)$", prompt, re.MULTILINE):
        clause, _, number = line.rpartition(": ")
        match = story.theme.own.fullmatch(clause)
        if match is not None:
            odds[match[1], match[2]] = round(10 * float(number))
    dag = story.dag
    rules = [story.rules[name] for name in dag.nodes]
    return BooleanContext(
        dag,
        tuple(rule.own for rule in rules),
        tuple(rule.among for rule in rules),
        tuple(odds[rule.holder, rule.need] for rule in rules),
    )


def _linear(prompt: str) -> Any:
    equations: dict[str, list[tuple[Fraction, str]]] = {}
    for name, terms in re.findall(r"^- (\w+) = (.*)$", prompt, re.MULTILINE):
        equations[name] = [
            (Fraction(sign + factor), parent)
            for sign, factor, parent in re.findall(r"(-?) ?\b([\d.]+) (\w+)", terms)
        ]
    edges = [(parent, name) for name, terms in equations.items() for _, parent in terms]
    dag = sorted_graph(edges)
    rows = []
    for node in dag.nodes:
        found = {parent: value for value, parent in equations[node]}
        rows.append(tuple(found[parent] for parent in dag.parents(node)))
    context = LinearContext(dag, tuple(rows))
    return lambda _, cause, effect: total_effect(context, cause, effect)


def _deduction(prompt: str) -> Any:
    chain = re.search(r"in causal order: (\w+(?:, \w+)+)\.", prompt)
    target = re.search(r"What is (\w+)\((\w+), (\w+)\)\?", prompt)
    if chain is None or target is None:
        raise ValueError("no cut tree, or nothing asked")
    givens = [
        Given((cause, effect), Fraction(value))
        for cause, effect, value in re.findall(
            r"^- \w+\((\w+), (\w+)\) = (\S+)$", prompt, re.MULTILINE
        )
    ]
    verdict, value = check_deduction(
        chain[1].split(", "), givens, (target[2], target[3]), bounded=target[1] == "PNS"
    )
    return value if verdict == "value" else verdict


def multiply(prompt: str) -> dict[str, Any]:
    """The product of all that is given, whatever it is."""
    return {"value": math.prod(_stated(prompt))}


def _stated(prompt: str) -> list[float]:
    """The given values, in the order of the prompt."""
    found = re.findall(r"^- \w+\(\w+, \w+\) = (\S+)$", prompt, re.MULTILINE)
    return [float(value) for value in found]


def divide(prompt: str) -> dict[str, Any]:
    """The global value over the product of all others, whatever the givens say."""
    values = _stated(prompt)
    chain = re.search(r"in causal order: (\w+), .*?(\w+)\.", prompt)
    assert chain is not None
    whole = re.search(rf"\({chain[1]}, {chain[2]}\) = (\S+)$", prompt, re.MULTILINE)
    result = float(whole[1]) if whole else 1.0
    for value in values:
        result /= value if value else 1.0
    return {"value": result * (float(whole[1]) if whole else 1.0)}
