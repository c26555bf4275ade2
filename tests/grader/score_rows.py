"""Score rows made by hand, for tests of aggregates."""

from dataclasses import replace
from typing import Any

from grader.scoring.model import Score

BLANK = Score(
    task_id="", instance_id="i", track="causalds", family="f", variant="v", rung=1, view="clean",
    structure="chain", input_mode="data", pool="pass", status="scored", reason="", metric="exact",
    metric_value=None, loss=0.0, points=1.0, paper_pool=None, paper_loss=None, abstained=False,
    should_abstain=False, coverage=None, interval_width=None, extra_json="{}", message="",
)  # fmt: skip


def row(task_id: str, pool: str, loss: float, **more: Any) -> Score:
    """A valid answer that both readings see alike; ``more`` changes any column."""
    points = 1 / (1 + loss) if pool.startswith("nrel") else 1 - loss
    cap = 10.0 if pool.startswith("nrel") else 1.0
    made = replace(
        BLANK, task_id=task_id, pool=pool, loss=min(loss, cap), paper_pool=pool, paper_loss=loss,
        points=points,
    )  # fmt: skip
    return replace(made, **more)


def failed(task_id: str, pool: str, status: str = "missing", **more: Any) -> Score:
    """A task without a usable answer: full loss in ``fixed``; numbers leave ``paper``."""
    numeric = pool.startswith("nrel")
    made = row(
        task_id, pool, 10.0 if numeric else 1.0, status=status, points=0.0,
        reason="" if status == "missing" else "schema",
        paper_pool=None if numeric else pool, paper_loss=None if numeric else 1.0,
    )  # fmt: skip
    return replace(made, **more)
