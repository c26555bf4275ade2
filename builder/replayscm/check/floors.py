"""Answers that know nothing, and what they must score, by a second implementation of the rules."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final, Literal

import numpy as np

from builder.replayscm.check.interpreter import (
    OPERATORS,
    Program,
    exact_worlds,
    names_in,
    replay_row,
    value,
)
from builder.replayscm.plan.config import Config
from grader.io.jsonio import canonical
from grader.model import Truth
from grader.shape import Task

WHY: Final[Mapping[str, str]] = {
    "mechanisms": "every variable equal to the first root: solves nothing",
    "roots_mechanisms": "the first three variables as roots, all others equal to the first",
    "alternative_scm": "the reference itself, which is no alternative",
}


def uninformed_answer(
    kind: Literal["constant", "random"], task: Task, _: Truth | None, rng: np.random.Generator
) -> str:
    """An answer file from the task's declared inputs alone."""
    inputs = task.inputs
    names = list(inputs["variables"])
    roots = list(inputs["roots"] or names[:3])
    children = [name for name in names if name not in roots]
    if kind == "constant":
        mechanisms = dict.fromkeys(children, roots[0])
    else:
        mechanisms = {name: _random_formula(rng, roots) for name in children}
    if task.shape.kind == "alternative":
        if kind == "constant":
            mechanisms = dict(inputs["reference"])
        else:
            child = children[int(rng.integers(len(children)))]
            mechanisms = {**inputs["reference"], child: mechanisms[child]}
        experiment = {"variable": roots[0], "value": 1}
        witness = {root: int(rng.integers(2)) for root in roots[1:]}
        return canonical({"mechanisms": mechanisms, "intervention": experiment, "witness": witness})
    answer: dict[str, Any] = {"mechanisms": mechanisms}
    if task.shape.name == "roots_mechanisms":
        answer["roots"] = roots
    return canonical(answer)


def _random_formula(rng: np.random.Generator, roots: list[str]) -> str:
    """Two roots under a random operator: legal under every disclosure."""
    first, second = (roots[int(k)] for k in rng.choice(len(roots), size=2, replace=False))
    operator = OPERATORS[int(rng.integers(1, len(OPERATORS)))]
    return f"({operator} {first} {second})"


def floor_points(task: Task, truth: Truth, answer: str) -> float:
    """The points that a legal answer deserves, row by row with dictionaries."""
    content = json.loads(answer)
    names = list(task.inputs["variables"])
    program = Program.read(content["mechanisms"])
    if not all(exact_worlds(program, names, task.inputs["worlds"])):
        return 0.0
    if task.shape.kind == "alternative":
        return float(_shows(task, content, program))
    if not all(exact_worlds(program, names, truth.target["heldout"])):
        return 0.0
    if task.shape.name == "roots_mechanisms":
        return float(sorted(content["roots"]) == sorted(truth.target["roots"]))
    return 1.0


def _shows(task: Task, content: Mapping[str, Any], shown: Program) -> bool:
    """Whether some mechanism is another function and the witness row differs."""
    reference = Program.read(task.inputs["reference"])
    computed = list(reference.mechanisms)
    if not any(_differ(reference.mechanisms[name], shown.mechanisms[name]) for name in computed):
        return False
    target = content["intervention"]
    row = {**content["witness"], target["variable"]: target["value"]}
    ours, theirs = (
        replay_row(program, {**dict.fromkeys(computed, 0), **row}, [target["variable"]])
        for program in (shown, reference)
    )
    return any(ours[name] != theirs[name] for name in computed if name != target["variable"])


def _differ(first: Any, second: Any) -> bool:
    names = sorted(names_in(first) | names_in(second))
    rows = (dict(zip(names, bits, strict=True)) for bits in product((0, 1), repeat=len(names)))
    return any(value(first, row) != value(second, row) for row in rows)


# --- Every way of answering without the evidence, for the floors of an exam -----------------------

_BATCH: Final = 20
_FORMULAS: Final = {
    "the first root": "{0}",
    "not the first root": "(not {0})",
    "0": "(xor {0} {0})",
    "1": "(iff {0} {0})",
    "the first two roots, both": "(and {0} {1})",
    "the first two roots, either": "(or {0} {1})",
    "the first two roots, one": "(xor {0} {1})",
}


def twin(config: Config, _: object, __: object) -> Config:
    """A batch of a twin: so many records in every pool that the exam asks and the split has, each
    of a program of its own. A base cohort is asked the same in the same way: who knows nothing
    earns as little of it, so the twin has none."""
    return Config(0, 0, _BATCH, generation=config.generation)


def policies(task: Task, _: Truth) -> Iterator[tuple[str, Sequence[str]]]:
    """The policies for a record by name: every mechanism the same formula of the first roots; the
    reference with one mechanism of its own so replaced."""
    names = list(task.inputs["variables"])
    roots = list(task.inputs["roots"] or names[:3])
    children = [name for name in names if name not in roots]
    for told, formula in _FORMULAS.items():
        text = formula.format(*roots)
        answer: dict[str, Any] = {"mechanisms": dict.fromkeys(children, text)}
        if task.shape.kind == "alternative":
            last = {**task.inputs["reference"], children[-1]: text}
            witness = dict.fromkeys(roots[1:], 0)
            experiment = {"variable": roots[0], "value": 1}
            answer = {"mechanisms": last, "intervention": experiment, "witness": witness}
        elif task.shape.name == "roots_mechanisms":
            answer["roots"] = roots
        yield f"always {told}", [canonical(answer)]
