"""Routing: which pool a task falls into, and what it costs, in both readings (spec A5).

*paper*: a task becomes a pass/fail abstention row as soon as either side abstains; missing or
invalid numbers leave the exam (CausalDS §3.7, A.9). *fixed*: the truth alone decides the pool and
nothing ever leaves it, so nothing a submitter omits can improve the score.
"""

from dataclasses import dataclass

from grader.model import Checked, Content, Truth
from grader.spec import LOSS_CAP, Pool, Variant


@dataclass(frozen=True, slots=True)
class Route:
    """Pool and loss of one task in both readings, and its points in [0, 1]."""

    pool: Pool
    loss: float
    points: float
    paper_pool: Pool | None
    paper_loss: float | None


def needs_content(truth: Truth, checked: Checked) -> bool:
    """Whether the variant's own metric applies: a committed answer to an identifiable target."""
    return checked.status == "scored" and not checked.abstained and not truth.should_abstain


def route(spec: Variant, truth: Truth, checked: Checked, content: Content | None) -> Route:
    """Combine both sides; ``content`` is given exactly when :func:`needs_content` says so."""
    if content is not None:
        loss = min(content.loss, cap(spec.pool))
        points = 1 / (1 + content.loss) if spec.pool.startswith("nrel") else 1 - content.loss
        return Route(spec.pool, loss, points, spec.pool, content.loss)
    paper_pool, paper_loss = _paper(spec, truth, checked)
    if truth.should_abstain:
        right = checked.abstained and checked.status == "scored"
        return Route("pass", float(not right), float(right), paper_pool, paper_loss)
    return Route(spec.pool, cap(spec.pool), 0.0, paper_pool, paper_loss)


def cap(pool: Pool) -> float:
    """The loss of a failure: c for a number or an interval, 1 for the rest."""
    return LOSS_CAP if pool.startswith("nrel") else 1.0


def _paper(spec: Variant, truth: Truth, checked: Checked) -> tuple[Pool | None, float | None]:
    if truth.should_abstain or checked.paper_abstained:
        return "pass", float(not (truth.should_abstain and checked.paper_abstained))
    if spec.pool.startswith("nrel"):
        return None, None  # valid numeric answers only: the paper sets no loss for a missing one
    return spec.pool, 1.0
