"""Compare two submissions to one exam task by task, clustered by instance.

Report first minus second in every figure. A task left out counts zero, as everywhere. Also compare
the tasks that both answered, which says whether one is better or only more complete.
"""

from collections.abc import Sequence
from typing import Any, Final

from grader.reports.aggregate import Totals
from grader.reports.build import GradedSubmission
from grader.scoring.track import Track, Tracks
from grader.statistics.paired_tests import Pairs, compare_by_level, compare_points, difference
from grader.statistics.skill import Skill
from grader.version import __version__

FORMAT: Final = 1


def compare(first: GradedSubmission, second: GradedSubmission, tracks: Tracks) -> dict[str, Any]:
    """Return the comparison as plain data (``schemas/comparison.json``).

    Both are graded on one exam. Raises ``UsageError`` for a private truth without ``--reveal``:
    knowing which of two answers is nearer bisects a target.
    """
    first.exam.split.refuse_private_details("a comparison says which of two answers is nearer")
    pairs = list(zip(first.scores, second.scores, strict=True))
    answered = [(a.status != "missing", b.status != "missing") for a, b in pairs]
    totals, points = (first.totals, second.totals), None
    if first.totals.points is not None and second.totals.points is not None:
        drawn = (one.points_replicates or () for one in totals)
        points = _difference(first.totals.points, second.totals.points, *drawn)
    split = first.exam.split
    return {
        "format": FORMAT,
        "grader": __version__,
        "release": split.release.name,
        "split": split.name,
        "exam": first.exam.name,
        "first": _system(first),
        "second": _system(second),
        "answered": {
            "tasks": len(pairs),
            "both": answered.count((True, True)),
            "first_only": answered.count((True, False)),
            "second_only": answered.count((False, True)),
            "neither": answered.count((False, False)),
        },
        "points": points,
        "skill": _skill(first.totals.skill, second.totals.skill),
        "tracks": {name: _track(tracks[name], pairs, *totals) for name in first.totals.parts},
    }


def _system(graded: GradedSubmission) -> dict[str, Any]:
    report = graded.report
    return {"system": report["submission"]["system"], "census": report["census"]}


def _difference(
    first: float, second: float, draws: Sequence[float], other_draws: Sequence[float]
) -> dict[str, Any]:
    """Return :func:`difference` of two figures with these replicates, equally many."""
    return difference(first, second, [a - b for a, b in zip(draws, other_draws, strict=True)])


def _skill(first: Skill | None, second: Skill | None) -> dict[str, Any] | None:
    """Return the difference in skill with its interval, and the floor; None where one has none."""
    if first is None or second is None:
        return None
    draws = (first.replicates, second.replicates)
    if len(draws[0]) != len(draws[1]):  # some draws have no skill
        draws = ((), ())
    line = _difference(first.value, second.value, *draws)
    return {**line, "floor": first.floor}


def _track(track: Track, pairs: Pairs, first: Totals, second: Totals) -> dict[str, Any]:
    """Compare one track, first minus second, given the score rows and totals of all tracks."""
    name = track.name
    own = [(a, b) for a, b in pairs if a.track == name]
    both = [(a, b) for a, b in own if a.status != "missing" and b.status != "missing"]
    parts = (first.parts[name], second.parts[name])
    points = _difference(
        parts[0]["points"], parts[1]["points"], first.replicates[name], second.replicates[name]
    )
    tasks = compare_points(own)
    if not track.own_points:
        # Both are one mean, so they share the interval of one set of draws.
        tasks |= {figure: points[figure] for figure in ("interval", "detectable")}
    found = {
        "points": points,
        "skill": _skill(first.skills[name], second.skills[name]),
        "tasks": tasks,
        "answered_by_both": compare_points(both) if both else None,
        "families": compare_by_level(own, lambda score: score.family),
    }
    return found if track.compare is None else {**found, **track.compare(own, *parts)}
