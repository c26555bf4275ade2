"""The forms of answers to ccr tasks, with the writers of the right ones."""

from fractions import Fraction
from functools import partial
from typing import Final

from grader.io.jsonio import pretty
from grader.model import Truth
from grader.shape import Shape, Task
from grader.submission.check import check_json
from grader.tracks.ccr.checks import (
    check_deduction,
    check_quantities,
    check_units,
    merge_units,
)
from grader.tracks.ccr.numbers import score_deduction, score_quantities
from grader.tracks.ccr.simulation import score_pair


def _gold_units(task: Task, truth: Truth) -> str:
    answers = truth.target["answers"]
    return pretty({rung: [bit == "1" for bit in answers[rung]] for rung in sorted(answers)})


def _gold_quantities(task: Task, truth: Truth) -> str:
    listed = truth.target["quantities"]
    return pretty({"quantities": {n: float(Fraction(q["exact"])) for n, q in listed.items()}})


def _gold_deduction(task: Task, truth: Truth) -> str:
    verdict = truth.target["verdict"]
    return pretty({"value": truth.value if verdict == "value" else verdict})


_shape = partial(Shape, pool="pass", metric="rae", input_mode="prompt")

UNIT_ANSWERS: Final = _shape(
    "unit_answers", "units", "do_true", check=partial(check_json, then=check_units),
    score=score_pair, gold=_gold_units, merge=merge_units,
)  # fmt: skip
QUANTITIES: Final = _shape(
    "quantities", "quantities", "quantities", check=partial(check_json, then=check_quantities),
    score=score_quantities, gold=_gold_quantities,
)  # fmt: skip
DEDUCTION: Final = _shape(
    "deduction", "deduction", "value", check=partial(check_json, then=check_deduction),
    score=score_deduction, gold=_gold_deduction,
)  # fmt: skip
