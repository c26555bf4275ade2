"""Stories that imply their graphs: what share of its edges each leaves to be worked out."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from builder.causalds.plan.types import ScenePlan
from builder.implied.choose import outside_limits
from grader.errors import UsageError


def told_implied(
    rng: np.random.Generator, shares: tuple[float, float], plans: Sequence[ScenePlan], where: str
) -> list[ScenePlan]:
    """The plans, each with the share of edges that its story leaves to be worked out, evenly spread
    over the range; plans that have a share keep it. Raises ``UsageError`` for a graph that no story
    can imply."""
    for plan in plans:
        if (reason := outside_limits(plan.query.graph)) is not None:
            raise UsageError(
                f"{where}: {reason} ({plan.structure} of {plan.motif}); "
                "ask for other structures, or remove the key"
            )
    low, high = shares
    steps = max(len(plans) - 1, 1)
    spread = [round(low + (high - low) * i / steps, 4) for i in rng.permutation(len(plans))]
    return [
        plan if plan.implied is not None else replace(plan, implied=share)
        for plan, share in zip(plans, spread, strict=True)
    ]
