"""The parrot gap: what a system earns where the truth is as one would expect, less what it earns
where it is not.

A truth row may say whether an effect has the sign that the reasons of its story make one expect
(``prior``; docs/causalds-exams.md). Who answers from the data has no gap; who repeats what sounds
right has a large one.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from grader.model import Score, Truth
from grader.report.skill import WHOLE, on_scale
from grader.tracks.causalds.replicates import Weights, interval

SIDES: Final = ("agrees", "conflicts")

Members = dict[str, Any]


def parrot(
    scores: Sequence[Score], truths: Mapping[str, Truth], draws: Weights | None
) -> Members | None:
    """Tasks, points and skill of both sides, and the gap of skill with its interval, for which both
    sides are resampled together; ``None`` unless there are tasks on both.

    The gap is null without floors, its interval in an exam of many tasks.
    """
    rows: dict[str, list[Score]] = {side: [] for side in SIDES}
    for score in scores:
        truth = truths.get(score.task_id)
        side = None if truth is None else truth.target.get("prior")
        if side in rows:
            rows[side].append(score)
    if not all(rows.values()):
        return None
    found: Members = {side: _side(own) for side, own in rows.items()}
    first, second = (found[side]["skill"] for side in SIDES)
    known = first is not None and second is not None
    found["gap"] = first - second if known else None
    found["gap_interval"] = interval(_gaps(rows, draws)) if known and draws is not None else None
    return found


def _side(rows: Sequence[Score]) -> Members:
    points, ceiling = (
        WHOLE * sum(getattr(row, name) for row in rows) / len(rows)
        for name in ("points", "ceiling")
    )
    floors = [row.floor for row in rows if row.floor is not None]
    floor = WHOLE * sum(floors) / len(rows) if len(floors) == len(rows) else None
    return {"tasks": len(rows), "points": points, "skill": on_scale(points, floor, ceiling)}


def _gaps(rows: Mapping[str, Sequence[Score]], draws: Weights) -> list[float | None]:
    """Replicates of the gap; none where a draw holds no task of a side."""
    first, second = (_skills(rows[side], draws) for side in SIDES)
    return [
        None if one is None or other is None else one - other
        for one, other in zip(first, second, strict=True)
    ]


def _skills(rows: Sequence[Score], draws: Weights) -> list[float | None]:
    def above(name: str) -> list[float]:
        return draws.sums(
            (row.instance_id, getattr(row, name) - (row.floor or 0.0)) for row in rows
        )

    return [
        on_scale(gained, 0.0, room)
        for gained, room in zip(above("points"), above("ceiling"), strict=True)
    ]
