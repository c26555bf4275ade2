"""The tasks that cost a submission most: where to look first."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from grader.model import Score

SHOWN: Final = 10
_NOTHING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Cost:
    """A task, and how many points of the headline (0 to 100) it cost."""

    score: Score
    points: float


def costliest(scores: Sequence[Score], limit: int = SHOWN) -> list[Cost]:
    """The tasks that cost most, the dearest first; of equals those with the larger loss.

    A headline is the mean over tracks of the mean over tasks, so that a task of a short track
    weighs more. Tracks of which nothing was answered are left out, as there is nothing to look at.
    """
    tried = {score.track for score in scores if score.status != "missing"}
    scores = [score for score in scores if score.track in tried]
    sizes = Counter(score.track for score in scores)
    lost = [
        Cost(score, 100 * (1 - score.points) / sizes[score.track] / len(sizes)) for score in scores
    ]
    dear = [cost for cost in lost if cost.points > _NOTHING]
    dear.sort(key=lambda cost: (-cost.points, -cost.score.loss, cost.score.task_id))
    return dear[:limit]
