"""Routing: which pool a task falls into, and what it costs, in both readings.

*paper*: a task becomes a pass/fail abstention row as soon as either side abstains; missing or
invalid numbers leave the exam (CausalDS §3.7, A.9). *fixed*: the truth alone decides the pool and
nothing ever leaves it, so nothing a submitter omits can improve the score.
"""

from dataclasses import dataclass
from typing import Final

from grader.scoring.model import CheckedAnswer, Mark, Pool, Truth
from grader.scoring.shape import LOSS_CAP, Shape

READINGS: Final = ("fixed", "paper")
"""Screens lead with the first unless the other is asked for."""


@dataclass(frozen=True, slots=True)
class Route:
    """Pool, capped loss and points (0 to 1) of one task, and pool and uncapped loss by the paper,
    both None where the paper drops the task."""

    pool: Pool
    loss: float
    points: float
    paper_pool: Pool | None
    paper_loss: float | None


def route(shape: Shape, truth: Truth, checked: CheckedAnswer, mark: Mark | None) -> Route:
    """Return pool, loss and points of a task; ``mark`` is that of a committed answer to an
    identifiable target, else None."""
    if mark is not None:
        loss = min(mark.loss, cap(shape.pool))
        points = 1 / (1 + mark.loss) if shape.pool.startswith("nrel") else 1 - mark.loss
        return Route(shape.pool, loss, points, shape.pool, mark.loss)
    paper_pool, paper_loss = _paper(shape, truth, checked)
    if truth.should_abstain:
        right = checked.abstained and checked.status == "scored"
        return Route("pass", float(not right), float(right), paper_pool, paper_loss)
    return Route(shape.pool, cap(shape.pool), 0.0, paper_pool, paper_loss)


def cap(pool: Pool) -> float:
    """Return the largest loss, that of a failure: 10 for a number or an interval, else 1."""
    return LOSS_CAP if pool.startswith("nrel") else 1.0


def _paper(shape: Shape, truth: Truth, checked: CheckedAnswer) -> tuple[Pool | None, float | None]:
    """Return pool and loss in the paper's reading where there is no mark; Nones drop the task."""
    if truth.should_abstain or checked.paper_abstained:
        return "pass", float(not (truth.should_abstain and checked.paper_abstained))
    if shape.pool.startswith("nrel"):
        return None, None  # valid numeric answers only: the paper sets no loss for a missing one
    return shape.pool, 1.0
