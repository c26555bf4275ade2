"""``report.json``: all that a submission's scores say, as plain data (``schemas/report.json``)."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from grader import __version__, bootstrap
from grader.aggregate import ScoreTable
from grader.found import Found
from grader.model import Score, TrackSummary
from grader.spec import LOSS_CAP

if TYPE_CHECKING:
    from grader.pipeline import Selection

FORMAT = 1
USAGE_FIGURES = ("input_tokens", "output_tokens", "tool_calls", "seconds", "cost_usd")


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
        tracks = _tracks(table)
        intervals, replicates = _intervals(table, scores)
        census = _census(table, len(scores))
    for track, summary in (own or {}).items():
        tracks[track] |= summary.members
        tracks[track]["metrics"] |= summary.metrics
        if summary.points is not None:
            tracks[track]["points"] = summary.points
            replicates[track] = list(summary.replicates)
            intervals[track] = list(bootstrap.percentile_interval(summary.replicates))
    for track, interval in intervals.items():
        tracks[track]["points_interval"] = interval
    points, points_interval = _overall(tracks, replicates)
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
            "usage": _usage(found, [score.task_id for score in scores]),
            "census": census,
            "notices": found.notices,
            "unknown_answers": found.unknown,
            "points": points,
            "points_interval": points_interval,
            "tracks": tracks,
        }
    )
    return report


def _submission(found: Found) -> dict[str, Any]:
    system = found.run.get("system")
    if not isinstance(system, str) or not system.strip():
        place = found.source.absolute()
        system = place.stem if place.is_file() else place.resolve().name
    # A folder name may hold bytes that are no text; the report is UTF-8 all the same.
    name = system[:200].encode("utf-8", errors="replace").decode("utf-8")
    return {"system": name, "run": found.run}


def _usage(found: Found, task_ids: Sequence[str]) -> dict[str, Any]:
    """Means per task over the tasks of the exam that have the figure; null where none has."""
    rows = [found.usage[task_id] for task_id in task_ids if task_id in found.usage]
    means: dict[str, Any] = {"tasks": len(rows)}
    for figure in USAGE_FIGURES:
        values = [float(row[figure]) for row in rows if _is_amount(row.get(figure))]
        means[figure] = math.fsum(values) / len(values) if values else None
    return means


def _is_amount(value: object) -> bool:
    """A finite number from 0 up to what no honest run exceeds; True and False are no numbers."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1e15


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
    for row in table.query("readings", LOSS_CAP):
        if "causalds" in tracks:
            tracks["causalds"]["readings"][row.pop("reading")] = row
    for row in table.query("slices"):
        axis = tracks[row.pop("track")]["slices"].setdefault(row.pop("axis"), {})
        axis[row.pop("level")] = row
    return tracks


def _intervals(
    table: ScoreTable, scores: Sequence[Score]
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    clusters: dict[str, list[tuple[float, int]]] = {}
    for row in table.query("clusters"):
        clusters.setdefault(row["track"], []).append((row["points"], row["tasks"]))
    seed = bootstrap.seed_of(score.task_id for score in scores)
    replicates = {
        track: [100 * mean for mean in bootstrap.cluster_means(sums, seed)]
        for track, sums in clusters.items()
    }
    intervals = {
        track: list(bootstrap.percentile_interval(values)) for track, values in replicates.items()
    }
    return intervals, replicates


def _overall(
    tracks: dict[str, dict[str, Any]], replicates: dict[str, list[float]]
) -> tuple[float | None, list[float] | None]:
    """The unweighted mean over tracks, once every track of the exam was attempted.

    A submission that attempts some tracks only has no overall number; one that attempts nothing
    has 0, like any other zero.
    """
    attempted = [track["attempted"] > 0 for track in tracks.values()]
    if any(attempted) and not all(attempted):
        return None, None
    points = math.fsum(track["points"] for track in tracks.values()) / len(tracks)
    return points, list(bootstrap.percentile_interval(bootstrap.overall(replicates)))


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
