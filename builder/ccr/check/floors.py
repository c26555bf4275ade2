"""Answers that know nothing of the ccr track, and the points they deserve.

Derived from the truths by the published rules, independently of the grader's scorers.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, Literal

import numpy as np

from builder.ccr.plan.config import Config
from builder.ccr.plan.contexts import VARIANTS_OF
from builder.track import Graded
from grader.io.jsonio import canonical
from grader.model import Truth
from grader.shape import Task
from grader.tracks.ccr.contexts import evaluate_context

WHY: Final[Mapping[str, str]] = {
    "unit_answers": "always yes: no effect anywhere, a PNS of 0, never within 0.1",
    "quantities": "0 throughout: never within 0.1 of a value that is not 0",
    "deduction": "always inconsistent: the share of contradictory givens",
}
"""Why a constant answer scores what it scores, by answer shape."""

_WORLDS: Final = ("factual", "do_true", "do_false")
_WORDS: Final = ("inconsistent", "insufficient")


def uninformed_answer(
    kind: Literal["constant", "random"], task: Task, _: Truth | None, rng: np.random.Generator
) -> str:
    """The text of an answer file."""
    random = kind == "random"
    match task.shape.kind:
        case "units":
            units = int(task.inputs["units"])
            drawn = {world: (rng.random(units) < 0.5).tolist() for world in _WORLDS}
            return canonical(drawn if random else {world: [True] * units for world in _WORLDS})
        case "quantities":
            names = sorted(task.inputs["quantities"])
            values = rng.random(len(names)).tolist() if random else [0.0] * len(names)
            return canonical({"quantities": dict(zip(names, values, strict=True))})
        case "deduction":
            word = int(rng.integers(4)) if random else 0
            return canonical({"value": _WORDS[word] if word < 2 else float(rng.random())})
        case other:
            raise ValueError(f"no uninformed answer of the kind {other}")


def floor_points(task: Task, truth: Truth, answer: str) -> float:
    """1 or 0, in exact arithmetic."""
    content = json.loads(answer)
    target = truth.target
    match task.shape.kind:
        case "units":
            return float(_near(target["exact"]["pns"], _pns(target, content)))
        case "quantities":
            given = content["quantities"]
            listed = target["quantities"].items()
            return float(all(n in given and _near(q["exact"], given[n]) for n, q in listed))
        case "deduction":
            value = content["value"]
            if isinstance(value, str) or target["verdict"] != "value":
                return float(value == target["verdict"])
            return float(_near(target["exact"], value))
        case other:
            raise ValueError(f"no floor for answers of the kind {other}")


def _pns(target: Mapping[str, Any], content: Mapping[str, list[bool]]) -> Fraction:
    """The weighted share of units whose effect is there under do(true) and not under do(false)."""
    truth, weights = target["answers"], target["weights"]
    hits = [
        high and not low for high, low in zip(content["do_true"], content["do_false"], strict=True)
    ]
    if "numerators" in weights:
        hit = sum(n for n, hit in zip(weights["numerators"], hits, strict=True) if hit)
        return Fraction(hit, weights["denominator"])
    total = Fraction(0)
    cells = [high + low for high, low in zip(truth["do_true"], truth["do_false"], strict=True)]
    for cell, text in weights["cells"].items():
        inside = [hit for name, hit in zip(cells, hits, strict=True) if name == cell]
        total += Fraction(text) * sum(inside) / len(inside)
    return total


def _near(stated: str, value: float | Fraction) -> bool:
    exact = Fraction(stated)
    return abs(exact - Fraction(value)) <= abs(exact) / 10


# --- Every way of answering without reading, for the floors of an exam ----------------------------

_SHARES: Final = tuple(step / 20 for step in range(21))
_NUMBERS: Final = (*_SHARES, *(-share for share in _SHARES[1:]), 1.5, 2.0)
_BATCH: Final = 40
"""Contexts of a purpose in a batch of a twin: whole turns of sizes and verdicts."""


def twin(config: Config, _: object, variants: frozenset[str]) -> Config:
    """A batch of a twin: every purpose whose variants the exam asks, simulated contexts in its own
    shares."""
    counts = dict(config.counts)
    simulated = counts["simulation"] + counts["long"]
    asked = {name: count for name, count in config.counts if variants & {*VARIANTS_OF[name]}}
    wanted = {name: _BATCH * bool(asked.get(name)) * len(VARIANTS_OF[name]) for name in counts}
    for name in ("simulation", "long"):
        wanted[name] = round(_BATCH * asked.get(name, 0) / simulated) if simulated else 0
    return replace(config, counts=tuple(wanted.items()))


def policies(task: Task, _: Truth) -> Iterator[tuple[str, Sequence[str]]]:
    """The policies for a task by name, each with its one answer."""
    match task.shape.kind:
        case "units":
            units = int(task.inputs["units"])
            for share in _SHARES:
                moved = [place < round(share * units) for place in range(units)]
                effect = {"factual": moved, "do_true": moved, "do_false": [False] * units}
                yield f"the cause moves {share:.0%} of the units", [canonical(effect)]
            always = {world: [True] * units for world in _WORLDS}
            yield "always yes", [canonical(always)]
        case "quantities":
            names = sorted(task.inputs["quantities"])
            for value in _NUMBERS:
                told = {"quantities": dict.fromkeys(names, value)}
                yield f"always {value:g}", [canonical(told)]
        case "deduction":
            for answer in (*_WORDS, *_NUMBERS):
                named = answer if isinstance(answer, str) else f"{answer:g}"
                yield f"always {named}", [canonical({"value": answer})]
        case other:
            raise ValueError(f"no policy for answers of the kind {other}")


def whole(graded: Sequence[Graded]) -> tuple[str, str, float] | None:
    """A context asked about in full: the share of compositions that are valid and consistent."""
    scores = [score for _, _, score in graded if score.family == "simulation"]
    if not scores:
        return None
    truths = {score.task_id: truth for truth, _, score in graded}
    checked = {score.task_id: found for _, found, score in graded}
    result = evaluate_context(scores, truths, checked)
    return None if result is None else ("simulation.pair", "context", result.share)
