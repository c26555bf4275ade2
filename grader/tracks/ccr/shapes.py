"""The forms of answers to ccr tasks: how each is checked and scored, its right answer, variants.

A simulation answer is all or nothing only where its lists cannot be aligned with the cases; a
single entry that is no yes or no stays a matter of that one case.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final

from grader.answers.check import check_json
from grader.errors import Invalid
from grader.io.jsonio import clip, pretty_json
from grader.scoring.model import CheckedAnswer, Mark, Truth
from grader.scoring.shape import Shape, Task, read_variants
from grader.tracks.ccr import algorithm
from grader.tracks.ccr.algorithm import INVALID, RUNGS, Answers
from grader.tracks.ccr.contexts import stated_errors

MAX_TREE: Final = 12
"""Variables of a cut tree, whose paths double with each; ``schemas/truth/ccr.json`` has it too."""

_WORD: Final = re.compile(r"\s*(yes|no|true|false)\b", re.IGNORECASE)
_YES: Final = frozenset({"yes", "true"})


def check_units(task: Task, document: dict[str, Any]) -> CheckedAnswer:
    """Return the answer (set,), its unreadable entries counted in the message; raises ``Invalid``
    for another pair or a list not as long as the cases."""
    for role in ("cause", "effect"):
        if role in document and document[role] != task.inputs[role]:
            raise Invalid(
                "unknown_quantity",
                f"at /{role}: {clip(document[role])} is not this task's {role} "
                f"({task.inputs[role]}); is the file named after another task?",
            )
    units = int(task.inputs["units"])
    for name in RUNGS:
        if len(document[name]) != units:
            raise Invalid(
                "wrong_length",
                f"at /{name}: {len(document[name])} answers, but there are {units} cases; give "
                "one for each, in their order",
            )
    found = {name: [*map(_entry, document[name])] for name in RUNGS}
    unreadable = sum(entries.count(INVALID) for entries in found.values())
    told = f"{unreadable} of {3 * units} answers are neither yes nor no" if unreadable else ""
    return CheckedAnswer("scored", (found,), message=told)


def merge_units(attempts: Sequence[CheckedAnswer]) -> CheckedAnswer:
    """Join a pair's replicates, None for each unusable; without a usable one, return the first
    invalid attempt, else the first attempt."""
    if all(attempt.status != "scored" for attempt in attempts):
        return next((a for a in attempts if a.status == "invalid"), attempts[0])
    sets: list[Answers | None] = []
    for attempt in attempts:
        sets += attempt.answer if attempt.status == "scored" else (None,)
    lost = [attempt.message for attempt in attempts if attempt.message]
    return CheckedAnswer("scored", tuple(sets), message="; ".join(lost))


def _entry(entry: object) -> int:
    """Return 1 or 0 for a Boolean or a text that begins with yes or no, else ``INVALID``."""
    if isinstance(entry, bool):
        return int(entry)
    found = _WORD.match(entry) if isinstance(entry, str) else None
    return INVALID if found is None else int(found[1].lower() in _YES)


def check_quantities(task: Task, document: dict[str, Any]) -> CheckedAnswer:
    """Return the answer with a message that names the quantities it leaves out; raises ``Invalid``
    if it names one that is not listed."""
    listed, given = task.inputs["quantities"], document["quantities"]
    for name in given:
        if name not in listed:
            raise Invalid(
                "unknown_quantity",
                f"at /quantities: {clip(name)} is none of {', '.join(sorted(listed))}",
            )
    absent = [name for name in sorted(listed) if name not in given]
    told = f"{', '.join(absent)} left out; the task counts as wrong" if absent else ""
    return CheckedAnswer("scored", document, message=told)


def score_quantities(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Mark as right if each listed quantity is within the threshold; value: the worst error."""
    given, listed = answer["quantities"], truth.target["quantities"]
    errors = {
        name: algorithm.relative_error(float(Fraction(quantity["exact"])), given[name])
        for name, quantity in sorted(listed.items())
        if name in given  # the check's message names those that are left out
    }
    wrong = [
        f"{name} is off by {error:.3g} of its value"
        for name, error in errors.items()
        if not algorithm.is_within_delta(error)
    ]
    count, right = len(listed), len(errors) - len(wrong)
    message = "; ".join(wrong) or f"{right} of {count} quantities are within 0.1 of their values"
    extra = {"within": right, "listed": count}
    worst = max(errors.values(), default=0.0)
    return Mark("rae", worst, float(right < count), extra=extra, message=message)


def score_deduction(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Mark the right number or word: the value is a number's relative error, else 1 or 0."""
    given, verdict = answer["value"], truth.target["verdict"]
    if isinstance(given, str) or verdict != "value":
        right = given == verdict
        said = given if isinstance(given, str) else "a number"
        due = "a number follows" if verdict == "value" else f"the givens are {verdict}"
        return Mark("verdict", float(right), float(not right), message=f"{said}; {due}")
    assert truth.value is not None
    error = algorithm.relative_error(truth.value, given)
    right = algorithm.is_within_delta(error)
    message = f"a relative error of {error:.3g}; at most 0.1 is right"
    return Mark("rae", error, float(not right), message=message)


def score_pair(task: Task, truth: Truth, sets: Sequence[Answers | None]) -> Mark:
    """Mark as right answer sets, one a replicate, that make the pair externally valid (CCR
    Algorithm 1, line 2). The value is the relative error of the PNS estimate, or None."""
    extra, exact = algorithm.estimate(truth.target, sets), algorithm.exact_of(truth.target)["pns"]
    if (own := extra.get("estimate_pns")) is None:
        extra["valid_share"] = 0.0
        message = "over 10% of the answers are unreadable, so there is no estimate"
        return Mark("rae", None, 1.0, extra=extra, message=message)
    values = [own] if len(sets) == 1 else algorithm.resample(truth.target, sets, truth.instance_id)
    share = sum(algorithm.agrees(exact, value) for value in values) / len(values)
    extra["valid_share"] = share
    error = algorithm.relative_error(exact, own)
    message = f"the PNS estimate has a relative error of {error:.3g}; at most 0.1 is valid"
    if len(sets) > 1:
        near = "; nearly valid" if algorithm.is_near_valid(share) else ""
        message = f"{share:.3f} of 1000 resampled estimates are within 0.1 (0.9 is valid){near}"
    message += f"; {extra['accuracy_factual']:.1%} of the factual answers are right"
    return Mark("rae", error, float(share < algorithm.VALID_SHARE), extra=extra, message=message)


def _check_pair(task: Task, truth: Truth) -> None:
    """Raise ``ValueError`` unless answers and weights fit the cases, and the pair task and tree."""
    target, units = truth.target, task.inputs["units"]
    tree, pair = target["tree"], [target["cause"], target["effect"]]
    if pair != [task.inputs["cause"], task.inputs["effect"]]:
        raise ValueError("column target_json: its cause and effect are not those of the task")
    if len({*tree}) != len(tree) or [name for name in tree if name in pair] != pair:
        raise ValueError("column target_json: cause and effect are not in order in the tree")
    lengths = {len(target["answers"][rung]) for rung in RUNGS}
    cells = target["weights"].get("cells")
    if lengths != {units} or (cells is not None and cells.keys() != {*algorithm.cells_of(target)}):
        raise ValueError(f"column target_json: not one answer or stratum for each of {units} cases")
    try:
        algorithm.exact_of(target)
        weights = algorithm.weights_of(target)
    except (ValueError, ArithmeticError) as error:
        raise ValueError(f"column target_json: at /exact or /weights: {error}") from None
    if len(weights) != units:
        raise ValueError(f"column target_json: at /weights: not one for each of {units} cases")


def _check_quantities(task: Task, truth: Truth) -> None:
    """Raise ``ValueError`` unless the quantities are those of the task, with finite values, of an
    acyclic graph of at most ``MAX_TREE`` nodes."""
    listed = truth.target["quantities"]
    try:
        nodes = {name for quantity in listed.values() for name in quantity["path"]}
        if listed.keys() != task.inputs["quantities"].keys() or len(nodes) > MAX_TREE:
            raise ValueError(f"not those of the task, or of over {MAX_TREE} variables")
        for quantity in listed.values():
            float(Fraction(quantity["exact"]))
        stated_errors(listed, {})
    except (ValueError, ArithmeticError) as error:
        raise ValueError(f"column target_json: at /quantities: {error}") from None
    except KeyError as error:
        raise ValueError(f"column target_json: at /quantities: {error} is absent") from None


def check_contexts(truths: Sequence[Truth]) -> None:
    """Raise ``ValueError`` where the pairs of one context state different cut trees."""
    trees = dict[str, list[str]]()
    for truth in truths:
        tree = truth.target.get("tree", [])
        if tree and trees.setdefault(truth.instance_id, tree) != tree:
            raise ValueError(
                f"column target_json: at /tree: pairs of context {truth.instance_id} differ"
            )


def _check_deduction(task: Task, truth: Truth) -> None:
    if truth.target["verdict"] == "value" and truth.value is None:
        raise ValueError("column value: null, though a number follows")


def _gold(task: Task, truth: Truth) -> str:
    """Return the right answer as JSON: the answers by rung in the order of the cases, the exact
    quantities by name, or the number that follows, else the verdict."""
    target = truth.target
    if task.shape.kind == "units":
        answers = target["answers"]
        right = {rung: [bit == "1" for bit in answers[rung]] for rung in sorted(answers)}
        return pretty_json(right)
    if task.shape.kind == "quantities":
        listed = target["quantities"].items()
        return pretty_json(
            {"quantities": {name: float(Fraction(q["exact"])) for name, q in listed}}
        )
    verdict = target["verdict"]
    return pretty_json({"value": truth.value if verdict == "value" else verdict})


_shape = partial(Shape, pool="pass", metric="rae", input_mode="prompt")

UNIT_ANSWERS: Final = _shape(
    "unit_answers", "units", "do_true", check=partial(check_json, then=check_units),
    score=score_pair, gold=_gold, merge=merge_units, check_truth=_check_pair,
)  # fmt: skip
QUANTITIES: Final = _shape(
    "quantities", "quantities", "quantities", check=partial(check_json, then=check_quantities),
    score=score_quantities, gold=_gold, check_truth=_check_quantities,
)  # fmt: skip
DEDUCTION: Final = _shape(
    "deduction", "deduction", "value", check=check_json, score=score_deduction,
    gold=_gold, labels=("inconsistent", "insufficient"), check_truth=_check_deduction,
)  # fmt: skip


CCR: Final = read_variants("ccr", Path(__file__).with_name("variants.toml"), globals().values())
