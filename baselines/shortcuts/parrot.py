"""A shortcut of the scenes' exam: an effect is what its names and reasons sound like, whatever the
data say. It knows the knowledge graph by heart, as the builder does, and no scene's equations."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from baselines.release import OpenedExam, ShownScene
from baselines.solving import Answers, Solver, SolveTask, from_scenes
from baselines.writing import Answer
from builder.causalds.make.prior import ESTIMANDS, Reasons, along
from builder.words.knowledge import domains, implied_sign
from grader.shape import Task

_SIZE: Final = 0.5
"""A usual effect, in standard deviations of the outcome."""
_HALF: Final = 0.4
"""Half the width of an interval, in the same."""


def _make_solver(scene: ShownScene) -> SolveTask:
    def solve(task: Task) -> Answer:
        sign = expected(task, scene.story) or 1
        if task.shape.kind == "sign":
            return {"sign": "+" if sign > 0 else "-"}
        spread = _spread(scene, task.inputs["outcome"])
        value = sign * _SIZE * spread
        answer: dict[str, object] = {task.shape.field: value}
        if task.shape.kind == "interval":
            ends = value - _HALF * spread, value + _HALF * spread
            answer |= dict(zip(("ci_lower", "ci_upper"), ends, strict=True))
        return answer

    return solve


def expected(task: Task, story: str) -> int:
    """The sign that goes with the names; 0 where they sound like nothing."""
    x, y = task.inputs["treatment"], task.inputs["outcome"]
    names, signs = next((one for one in _known() if {x, y} <= one[0]), (frozenset[str](), {}))
    told = {name for name in names if name in story}
    reasons = {edge: sign for edge, sign in signs.items() if told.issuperset(edge)}
    return implied_sign(along(reasons, (x, y), task.inputs.get("estimand", "ATE")), x, y)


@cache
def _known() -> Sequence[tuple[frozenset[str], Reasons]]:
    """The names of every domain, and the signs of its reasons."""
    return [(frozenset(c.name for c in one.concepts), one.signs) for one in domains()]


def _spread(scene: ShownScene, outcome: str) -> float:
    """The standard deviation of the outcome where a column shows it, else 1."""
    for table in (scene.data, scene.calibration):
        if outcome in table:
            return float(table[outcome].std())
    return 1.0


def _effects(exam: OpenedExam, tasks: Sequence[Task]) -> Answers:
    asked = [
        task
        for task in tasks
        if task.family in ESTIMANDS and task.shape.kind in ("sign", "number", "interval")
    ]
    return from_scenes(_make_solver)(exam, asked)


SHORTCUTS: Final[tuple[tuple[str, str, str, Solver], ...]] = (
    ("causalds", "parrot", "an effect has the sign that its reasons or names suggest", _effects),
)
