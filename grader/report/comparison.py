"""Two submissions to one exam, compared task by task and clustered by instance.

Every figure is first minus second. What one of them left out counts zero, as everywhere; beside
that stands the comparison over the tasks that both answered, which says whether one is better or
only more complete.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from grader import __version__
from grader.pipeline import Graded
from grader.report.aggregate import Totals
from grader.report.coarse import FEWEST, POINTS_DIGITS, SPREAD, redact_points, rounded
from grader.report.skill import Skill, on_scale
from grader.statistics.paired import Pairs, difference, line, lines, minus
from grader.tracks import TRACKS

FORMAT: Final = 1


def compare(first: Graded, second: Graded) -> dict[str, Any]:
    """The comparison as plain data (``schemas/comparison.json``), redacted like a report.

    Both must be graded on one exam; raises ``ValueError`` otherwise.
    """
    tasks = [[score.task_id for score in graded.scores] for graded in (first, second)]
    if tasks[0] != tasks[1]:
        raise ValueError("the two submissions were graded on different tasks")
    pairs = list(zip(first.scores, second.scores, strict=True))
    totals = (first.totals, second.totals)
    split = first.exam.split
    result = {
        "format": FORMAT,
        "grader": __version__,
        "release": split.release.name,
        "split": split.name,
        "exam": first.exam.name,
        "first": _who(first),
        "second": _who(second),
        "answered": _answered(pairs),
        "points": _overall(*totals),
        "skill": _skill(first.totals.skill, second.totals.skill),
        "tracks": {name: _track(name, pairs, *totals) for name in first.totals.parts},
    }
    return result if split.reveal else _redact(result)


def _who(graded: Graded) -> dict[str, Any]:
    report = graded.report
    return {"system": report["submission"]["system"], "census": report["census"]}


def _answered(pairs: Pairs) -> dict[str, int]:
    """How many tasks both, one or neither answered, validly or not."""
    marks = [(a.status != "missing", b.status != "missing") for a, b in pairs]
    return {
        "tasks": len(marks),
        "both": marks.count((True, True)),
        "first_only": marks.count((True, False)),
        "second_only": marks.count((False, True)),
        "neither": marks.count((False, False)),
    }


def _overall(first: Totals, second: Totals) -> dict[str, Any] | None:
    """The difference of overall points; ``None`` unless both have them."""
    if first.points is None or second.points is None:
        return None
    replicates = minus(first.combined or (), second.combined or ())
    return difference(first.points, second.points, replicates)


def _skill(first: Skill | None, second: Skill | None) -> dict[str, Any] | None:
    """The difference of skill, and the scale that both are on; ``None`` unless both have one."""
    if first is None or second is None:
        return None
    replicates = []
    if len(first.replicates) == len(second.replicates):  # else draws without room were left out
        replicates = minus(first.replicates, second.replicates)
    line = difference(first.value, second.value, replicates)
    return {**line, "floor": first.floor, "ceiling": first.ceiling}


def _track(track: str, pairs: Pairs, first: Totals, second: Totals) -> dict[str, Any]:
    own = [(a, b) for a, b in pairs if a.track == track]
    both = [(a, b) for a, b in own if a.status != "missing" and b.status != "missing"]
    parts = (first.parts[track], second.parts[track])
    points = difference(
        parts[0]["points"],
        parts[1]["points"],
        minus(first.replicates[track], second.replicates[track]),
    )
    tasks = line(own)
    if not TRACKS[track].own_points:
        # The same mean twice: one set of draws, so that it has one interval.
        tasks |= {name: points[name] for name in ("interval", "detectable")}
    found = {
        "points": points,
        "skill": _skill(first.skills[track], second.skills[track]),
        "tasks": tasks,
        "answered_by_both": line(both) if both else None,
        "families": lines(own, lambda score: score.family),
    }
    compared = TRACKS[track].compare
    return found if compared is None else {**found, **compared(own, *parts)}


def _redact(result: dict[str, Any]) -> dict[str, Any]:
    """What :mod:`grader.report.redact` lets through: no pools, and no counts of wins.

    Whether one of two own submissions wins a task says which is nearer to the truth: a few dozen
    comparisons would find it.
    """
    points = result["points"]
    tracks = {name: _redacted_track(name, part) for name, part in result["tracks"].items()}
    return {
        **result,
        "redacted": True,
        "points": points and _redacted_points(points, result["answered"]["tasks"]),
        "skill": result["skill"] and _mean_skill([part["skill"] for part in tracks.values()]),
        "tracks": tracks,
    }


def _redacted_track(name: str, part: Mapping[str, Any]) -> dict[str, Any]:
    both = part["answered_by_both"]
    points = _redacted_points(part["points"], part["tasks"]["tasks"])
    shown = {
        "points": points,
        "skill": part["skill"] and _redacted_skill(part["skill"], points),
        "tasks": _redacted_line(part["tasks"]),
        "answered_by_both": _redacted_line(both) if both and both["tasks"] >= FEWEST else None,
        "families": {
            family: _redacted_line(row)
            for family, row in part["families"].items()
            if row["tasks"] >= FEWEST
        },
    }
    own = TRACKS[name].redact_comparison
    return shown if own is None else {**shown, **own(part)}


def _redacted_line(row: Mapping[str, Any]) -> dict[str, Any]:
    counts = {name: row[name] for name in ("tasks", "instances")}
    return counts | _redacted_points(row, row["tasks"])


def _redacted_points(row: Mapping[str, Any], tasks: int) -> dict[str, Any]:
    """A difference of points; of those shown, so that it says no more than they do."""
    first, second = (redact_points(row[name], tasks) for name in ("first", "second"))
    return {
        "first": first,
        "second": second,
        "difference": round(first - second, 1),
        **{name: redact_points(row[name], tasks, SPREAD) for name in ("interval", "detectable")},
    }


def _redacted_skill(line: Mapping[str, Any], points: Mapping[str, Any]) -> dict[str, Any] | None:
    """Where the points that are shown lie on the scale; their differences on a scale from 0."""
    floor, ceiling = (rounded(line[name], POINTS_DIGITS) for name in ("floor", "ceiling"))
    first, second = (on_scale(points[side], floor, ceiling) for side in ("first", "second"))
    if first is None or second is None:
        return None
    share = 100 / (ceiling - floor)
    interval, shows = points["interval"], points["detectable"]
    figures = {
        "first": first,
        "second": second,
        "difference": first - second,
        "interval": interval and [share * end for end in interval],
        "detectable": None if shows is None else share * shows,
        "floor": floor,
        "ceiling": ceiling,
    }
    found: dict[str, Any] = rounded(figures, POINTS_DIGITS)
    return found


def _mean_skill(lines: Sequence[Mapping[str, Any] | None]) -> dict[str, Any] | None:
    """The mean of the tracks' redacted lines; the interval as if tracks were independent."""
    known = [line for line in lines if line is not None]
    if not known or len(known) < len(lines):
        return None
    count = len(known)
    names = ("first", "second", "difference", "floor", "ceiling")
    figures: dict[str, Any] = {
        name: math.fsum(line[name] for line in known) / count for name in names
    }
    away = [
        math.hypot(*(line["interval"][side] - line["difference"] for line in known)) / count
        if all(line["interval"] for line in known)
        else None
        for side in (0, 1)
    ]
    low, high = away
    centre = figures["difference"]
    figures["interval"] = None if low is None or high is None else [centre - low, centre + high]
    steps = [line["detectable"] for line in known if line["detectable"] is not None]
    figures["detectable"] = math.hypot(*steps) / count if steps else None
    found: dict[str, Any] = rounded(figures, POINTS_DIGITS)
    return found
