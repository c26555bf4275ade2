"""``report.json``: all that a submission's scores say, as plain data (``schemas/report.json``)."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from grader import __version__
from grader.model import Score, TrackSummary
from grader.report.table import ScoreTable
from grader.report.usage import fill_usage, usage_means, with_quality
from grader.statistics import bootstrap
from grader.statistics.resample import cluster_means
from grader.submission.found import Found
from grader.tracks.causalds.figures import extend as extend_causalds

if TYPE_CHECKING:
    from grader.pipeline import Selection

FORMAT = 1
_NO_SPREAD = 1e-9


def build_report(
    selection: "Selection",
    found: Found,
    scores: Sequence[Score],
    own: Mapping[str, TrackSummary] | None = None,
) -> dict[str, Any]:
    """Aggregate the score rows. The same answers give the same bytes: no clock, no host name.

    ``own`` is what tracks say of themselves: headlines, figures and further members.
    """
    with ScoreTable(scores) as table:
        fill_usage(table, found.usage, scores)
        tracks = _tracks(table)
        if "causalds" in tracks:
            extend_causalds(tracks["causalds"], table, scores)
        census = _census(table, len(scores))
        costs = table.query("usage")
        replicates = replicates_of(table, scores, own or {})
    for track, summary in (own or {}).items():
        tracks[track] |= summary.members
        tracks[track]["metrics"] |= summary.metrics
        if summary.points is not None:
            tracks[track]["points"] = summary.points
    for track, values in replicates.items():
        tracks[track]["points_interval"] = bootstrap.percentile_interval(values)
        tracks[track]["detectable"] = _detectable(values)
    for row in costs:
        track = row.pop("track")
        tracks[track]["usage"] = with_quality(row, tracks[track]["readings"])
    points = combined_points(
        {name: track["points"] for name, track in tracks.items()},
        {name: track["attempted"] for name, track in tracks.items()},
    )
    combined = None if points is None else bootstrap.overall(replicates)
    release = selection.release
    report: dict[str, Any] = _clean(
        {
            "format": FORMAT,
            "grader": __version__,
            "release": {
                "name": release.name,
                "content_sha256": release.content_hashes(selection.split),
            },
            "split": selection.split,
            "exam": selection.exam,
            "submission": _submission(found),
            "usage": usage_means(found.usage, [score.task_id for score in scores]),
            "census": census,
            "notices": found.notices,
            "unknown_answers": found.unknown,
            "points": points,
            "points_interval": combined and bootstrap.percentile_interval(combined),
            "detectable": combined and _detectable(combined),
            "tracks": tracks,
        }
    )
    return report


def replicates_of(
    table: ScoreTable, scores: Sequence[Score], own: Mapping[str, TrackSummary]
) -> dict[str, list[float]]:
    """Bootstrap replicates of each track's points, 0 to 100.

    Two submissions to one exam are resampled alike, draw by draw, so that the differences of their
    replicates are replicates of their difference.
    """
    clusters: dict[str, dict[str, tuple[float, int]]] = {}
    for row in table.query("clusters"):
        clusters.setdefault(row["track"], {})[row["instance_id"]] = (row["points"], row["tasks"])
    seed = bootstrap.seed_of(score.task_id for score in scores)
    return {
        track: list(own[track].replicates)
        if track in own and own[track].points is not None
        else [100 * mean for mean in cluster_means(sums, seed)]
        for track, sums in clusters.items()
    }


def _detectable(replicates: Sequence[float]) -> float | None:
    """Difference of points to a second system of the same spread that one exam would show.

    As if the two were independent: `compare` pairs them task by task and sees smaller ones.
    ``None`` for points that do not vary, of which no other system has the spread.
    """
    error = bootstrap.standard_error(replicates)
    return bootstrap.detectable(math.sqrt(2) * error) if error > _NO_SPREAD else None


def _submission(found: Found) -> dict[str, Any]:
    system = found.run.get("system")
    if not isinstance(system, str) or not system.strip():
        place = found.source.absolute()
        system = place.stem if place.is_file() else place.resolve().name
    # A folder name may hold bytes that are no text; the report is UTF-8 all the same.
    name = system[:200].encode("utf-8", errors="replace").decode("utf-8")
    return {"system": name, "run": found.run}


def _tracks(table: ScoreTable) -> dict[str, dict[str, Any]]:
    tracks: dict[str, dict[str, Any]] = {}
    for row in table.query("tracks"):
        track = row.pop("track")
        tracks[track] = {
            "points": row.pop("points"),
            "tasks": row.pop("tasks"),
            "attempted": row.pop("attempted"),
            "metrics": row,
            "readings": {},
            "slices": {},
        }
    for row in table.query("slices"):
        axis = tracks[row.pop("track")]["slices"].setdefault(row.pop("axis"), {})
        axis[row.pop("level")] = row
    return tracks


def combined_points(points: Mapping[str, float], attempted: Mapping[str, int]) -> float | None:
    """The unweighted mean over tracks, once every track of the exam was attempted.

    A submission that attempts some tracks only has no overall number; one that attempts nothing
    has 0, like any other zero.
    """
    marks = [count > 0 for count in attempted.values()]
    if any(marks) and not all(marks):
        return None
    return math.fsum(points.values()) / len(points)


def _census(table: ScoreTable, expected: int) -> dict[str, Any]:
    counts = {"scored": 0, "missing": 0, "invalid": 0}
    reasons: dict[str, int] = {}
    for row in table.query("census"):
        counts[row["status"]] += row["tasks"]
        if row["status"] == "invalid":
            reasons[row["reason"]] = row["tasks"]
    if sum(counts.values()) != expected:
        raise AssertionError(f"census {counts} does not add up to {expected} tasks")
    return {"tasks": expected, **counts, "invalid_reasons": reasons}


def _clean(value: Any) -> Any:
    """Floats that are not finite (a mean of capped-at-1e300 losses) become null."""
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
