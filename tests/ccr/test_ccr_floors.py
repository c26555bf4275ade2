"""Answers that know nothing of the ccr track: legal, and worth what two derivations say."""

import json

import numpy as np
import pytest
from ccr_grading import Exam

from builder.ccr.check.floors import WHY, floor_points, uninformed_answer
from builder.ccr.track import inputs_of
from grader.model import RawAnswer, Truth
from grader.score import score
from grader.shape import Task
from grader.submission.check import check
from grader.tracks import VARIANTS

CONTEXTS = {
    "simulation.pair": {"sizes": (3, 4, 4)},
    "direct.boolean": {"purpose": "direct", "variant": "direct.boolean"},
    "direct.linear": {"purpose": "linear", "variant": "direct.linear"},
    "direct.trap": {"purpose": "linear", "variant": "direct.trap", "sizes": (4, 4)},
    "deductive.boolean": {
        "purpose": "deductive", "variant": "deductive.boolean", "verdict": "inconsistent"
    },
    "deductive.linear": {
        "purpose": "linear", "variant": "deductive.linear", "verdict": "value"
    },
    "inductive.boolean": {
        "purpose": "inductive", "variant": "inductive.boolean", "verdict": "value"
    },
    "inductive.stated": {"purpose": "stated", "variant": "inductive.stated"},
}  # fmt: skip


def points(task: Task, truth: Truth, answer: str) -> float:
    checked = check(task, RawAnswer(task.answer_file, answer.encode()))
    assert checked.status == "scored", checked.message
    return score(task, truth, checked).points


@pytest.mark.parametrize("key", sorted(CONTEXTS))
def test_floors_are_derived_twice(key: str) -> None:
    """The gate compares the grader with a derivation of its own; both must see every shape."""
    assert set(CONTEXTS) == {v.key for v in VARIANTS if v.track == "ccr"}
    for task, truth in Exam({"seed": "floor", **CONTEXTS[key]}).pairs:
        assert task.spec.key == key
        assert WHY[task.shape.name] and set(task.inputs) == inputs_of(task.spec)
        for seed in range(20):
            for kind in ("constant", "random"):
                rng = np.random.default_rng(seed)
                answer = uninformed_answer(kind, task, truth, rng)  # type: ignore[arg-type]
                assert floor_points(task, truth, answer) == points(task, truth, answer)
        gold = task.shape.gold(task, truth)
        assert points(task, truth, gold) == 1.0 == floor_points(task, truth, gold)
        assert json.loads(gold)
