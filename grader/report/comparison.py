"""Two submissions to one exam, compared task by task and clustered by instance.

Every figure is first minus second. What one of them left out counts zero, as everywhere; beside
that stands the comparison over the tasks that both answered, which says whether one is better or
only more complete.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from grader import __version__
from grader.model import Score
from grader.pipeline import Graded, Session
from grader.report.build import combined_points, replicates_of
from grader.report.redact import (
    FEWEST,
    LOSS_DIGITS,
    SPREAD,
    redact_loss,
    redact_points,
    redact_reading,
    rounded,
)
from grader.report.summaries import summaries
from grader.report.table import ScoreTable
from grader.shape import LOSS_CAP
from grader.statistics import bootstrap
from grader.statistics.paired import Pair, difference, line
from grader.statistics.resample import REPLICATES, Draws
from grader.tracks.causalds.figures import losses_by_reading
from grader.tracks.causalds.replicates import SMALL_EXAM, Weights

FORMAT: Final = 1

_Pairs = Sequence[tuple[Score, Score]]


def compare(session: Session, first: Graded, second: Graded) -> dict[str, Any]:
    """The comparison as plain data (``schemas/comparison.json``), redacted like a report.

    Both must be graded by ``session`` on one exam; raises ``ValueError`` otherwise.
    """
    tasks = [[score.task_id for score in graded.scores] for graded in (first, second)]
    if tasks[0] != tasks[1]:
        raise ValueError("the two submissions were graded on different tasks")
    pairs = list(zip(first.scores, second.scores, strict=True))
    headlines = [_Headline(session, graded) for graded in (first, second)]
    tracks = list(dict.fromkeys(score.track for score in first.scores))
    result = {
        "format": FORMAT,
        "grader": __version__,
        "release": session.release.name,
        "split": first.selection.split,
        "exam": first.selection.exam,
        "first": _who(first),
        "second": _who(second),
        "answered": _answered(pairs),
        "points": _overall(headlines),
        "tracks": {track: _track(track, pairs, headlines) for track in tracks},
    }
    return result if session.reveal else _redact(result)


class _Headline:
    """Points of one submission by track, with replicates that pair with the other's."""

    def __init__(self, session: Session, graded: Graded) -> None:
        truths = session.truths(graded.selection.tasks)
        own = summaries(graded.scores, truths, graded.checked)
        with ScoreTable(graded.scores) as table:
            self.replicates = replicates_of(table, graded.scores, own)
            rows = table.query("tracks")
            readings = table.query("readings", LOSS_CAP)
            self.losses = losses_by_reading(table)
        self.points = {row["track"]: row["points"] for row in rows}
        special = {track: s.points for track, s in own.items() if s.points is not None}
        self.own_points = frozenset(special)
        self.points |= special
        self.attempted = {row["track"]: row["attempted"] for row in rows}
        self.readings = {row.pop("reading"): row for row in readings}


def _who(graded: Graded) -> dict[str, Any]:
    report = graded.report
    return {"system": report["submission"]["system"], "census": report["census"]}


def _answered(pairs: _Pairs) -> dict[str, int]:
    """How many tasks both, one or neither answered, validly or not."""
    marks = [(a.status != "missing", b.status != "missing") for a, b in pairs]
    return {
        "tasks": len(marks),
        "both": marks.count((True, True)),
        "first_only": marks.count((True, False)),
        "second_only": marks.count((False, True)),
        "neither": marks.count((False, False)),
    }


def _overall(headlines: Sequence[_Headline]) -> dict[str, Any] | None:
    """The difference of overall points; ``None`` unless both have them."""
    values = [combined_points(h.points, h.attempted) for h in headlines]
    if values[0] is None or values[1] is None:
        return None
    replicates = [bootstrap.overall(h.replicates) for h in headlines]
    return difference(values[0], values[1], _minus(*replicates))


def _minus(first: Sequence[float], second: Sequence[float]) -> list[float]:
    return [a - b for a, b in zip(first, second, strict=True)]


def _track(track: str, pairs: _Pairs, headlines: Sequence[_Headline]) -> dict[str, Any]:
    own = [(a, b) for a, b in pairs if a.track == track]
    one, two = headlines
    both = [(a, b) for a, b in own if a.status != "missing" and b.status != "missing"]
    points = difference(
        one.points[track],
        two.points[track],
        _minus(one.replicates[track], two.replicates[track]),
    )
    tasks = _line(own)
    if not (one.own_points | two.own_points) & {track}:
        # The same mean twice: one set of draws, so that it has one interval.
        tasks |= {name: points[name] for name in ("interval", "detectable")}
    found = {
        "points": points,
        "tasks": tasks,
        "answered_by_both": _line(both) if both else None,
        "families": _lines(own, lambda score: score.family),
    }
    if track == "causalds":
        found["pools"] = _lines(own, lambda score: score.pool)
        found["readings"] = _readings(own, one, two)
    return found


def _line(pairs: _Pairs) -> dict[str, Any]:
    return line([Pair(a.instance_id, a.points, b.points) for a, b in pairs])


def _lines(pairs: _Pairs, level: Callable[[Score], str]) -> dict[str, Any]:
    grouped: dict[str, list[tuple[Score, Score]]] = {}
    for a, b in pairs:
        grouped.setdefault(level(a), []).append((a, b))
    return {name: _line(grouped[name]) for name in sorted(grouped)}


def _readings(own: _Pairs, one: _Headline, two: _Headline) -> dict[str, Any]:
    """CausalDSScore in both readings; in the paper's, each submission has pools of its own."""
    seed = bootstrap.seed_of(a.task_id for a, _ in own)
    count = REPLICATES if len(own) <= SMALL_EXAM else 0
    instances = sorted({a.instance_id for a, _ in own})
    draws = Weights.of(Draws.of(instances, seed, count))
    found = {}
    for name in sorted(one.readings.keys() & two.readings.keys()):
        pairs = zip(draws.scores(one.losses[name]), draws.scores(two.losses[name]), strict=True)
        replicates = [a - b for a, b in pairs if a is not None and b is not None]
        values = [h.readings[name] for h in (one, two)]
        found[name] = {
            "causalds_score": difference(
                values[0]["causalds_score"], values[1]["causalds_score"], replicates
            ),
            "first": values[0],
            "second": values[1],
        }
    return found


def _redact(result: dict[str, Any]) -> dict[str, Any]:
    """What :mod:`grader.report.redact` lets through: no pools, and no counts of wins.

    Whether one of two own submissions wins a task says which is nearer to the truth: a few dozen
    comparisons would find it.
    """
    points = result["points"]
    tracks = {}
    for name, track in result["tracks"].items():
        families = {
            family: _redacted_line(row)
            for family, row in track["families"].items()
            if row["tasks"] >= FEWEST
        }
        both = track["answered_by_both"]
        shown: dict[str, Any] = {
            "points": _redacted_points(track["points"], track["tasks"]["tasks"]),
            "tasks": _redacted_line(track["tasks"]),
            "answered_by_both": _redacted_line(both) if both and both["tasks"] >= FEWEST else None,
            "families": families,
        }
        if "readings" in track:
            shown["readings"] = {
                reading: _redacted_reading(row) for reading, row in track["readings"].items()
            }
        tracks[name] = shown
    return {
        **result,
        "redacted": True,
        "points": points and _redacted_points(points, result["answered"]["tasks"]),
        "tracks": tracks,
    }


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


def _redacted_reading(row: Mapping[str, Any]) -> dict[str, Any]:
    first, second = redact_reading(row["first"]), redact_reading(row["second"])
    enough = first["causalds_score"] is not None and second["causalds_score"] is not None
    score = row["causalds_score"]
    return {
        "causalds_score": {
            "first": redact_loss(score["first"]),
            "second": redact_loss(score["second"]),
            **rounded(
                {key: score[key] for key in ("difference", "interval", "detectable")}, LOSS_DIGITS
            ),
        }
        if enough
        else None,
        "first": first,
        "second": second,
    }
