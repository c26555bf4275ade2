"""Aggregates of the score rows of one grading, from one table, for report and comparison."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from grader.reports.table import ScoreTable, TrackResults, Usage, fill_usage
from grader.scoring.model import CheckedAnswer, Score, TrackSummary, Truth, Unit
from grader.scoring.track import Tracks
from grader.statistics import bootstrap
from grader.statistics.bootstrap import cluster_means
from grader.statistics.skill import (
    Floors,
    Skill,
    measure,
    members,
    on_scale,
    overall_skill,
    units_of,
)

NO_FLOORS: Final = Floors()


@dataclass(frozen=True, slots=True)
class Totals:
    """The aggregates of one grading, by track but for ``census``, the counts of statuses.

    ``parts`` holds each track's part of the report, not redacted; ``replicates`` the bootstrap
    replicates of their points (0 to 100), ``skills`` their skill with its replicates, ``units``
    what their points are the mean of. Two submissions to one exam are resampled alike, draw by
    draw, so that the differences of their replicates are replicates of their difference.
    """

    parts: dict[str, dict[str, Any]]
    census: dict[str, Any]
    replicates: Mapping[str, Sequence[float]]
    skills: Mapping[str, Skill | None]
    units: Mapping[str, Sequence[Unit]]

    @property
    def points(self) -> float | None:
        """The unweighted mean over tracks; None for some tracks only, 0 for none attempted."""
        marks = [part["attempted"] > 0 for part in self.parts.values()]
        if any(marks) and not all(marks):
            return None
        return math.fsum(part["points"] for part in self.parts.values()) / len(marks)

    @property
    def points_replicates(self) -> list[float] | None:
        """Bootstrap replicates of :attr:`points`; None where there are no points."""
        return None if self.points is None else bootstrap.mean_over_tracks(self.replicates.values())

    @property
    def skill(self) -> Skill | None:
        """The unweighted mean over tracks; None without points, or where a track has no floors."""
        return None if self.points is None else overall_skill(self.skills)


def spread(replicates: Sequence[float] | None) -> dict[str, Any]:
    """Return ``points_interval`` (its two ends) and ``detectable``, the difference between two
    systems that one exam would show. Both are None without replicates."""
    if replicates is None:
        return {"points_interval": None, "detectable": None}
    return {
        "points_interval": bootstrap.percentile_interval(replicates),
        "detectable": bootstrap.between_systems(replicates),
    }


def aggregate(
    scores: Sequence[Score],
    truths: Mapping[str, Truth],
    checked: Mapping[str, CheckedAnswer],
    usage: Usage,
    tracks: Tracks,
    floors: Floors = NO_FLOORS,
    *,
    slice_intervals: bool = True,
    tables: bool = True,
) -> Totals:
    """Return the totals of one grading, by track and over all tracks, from its score rows.

    Without ``slice_intervals`` slices get no intervals, which are most of the work. Without
    ``tables`` the figures are left out that only the tables of a track show.
    """
    with ScoreTable(scores) as table:
        fill_usage(table, usage, scores)
        parts = _parts(table)
        census = _census(table, len(scores))
        results = _results(table, scores, truths, checked, slice_intervals, floors, tables=tables)
        own = _summaries(results, tracks)
        # Of each track alone, so that its intervals are the same with and without other tracks.
        seeds = {
            name: bootstrap.seed_of(score.task_id for score in result.scores)
            for name, result in results.items()
        }
        replicates = _replicates(table, seeds, own)
        units = {
            name: (name in own and own[name].units) or units_of(result.scores)
            for name, result in results.items()
        }
        skills = {name: measure(counted, seeds[name]) for name, counted in units.items()}
        for name, summary in own.items():
            parts[name] |= summary.members
            parts[name]["metrics"] |= summary.metrics
            if summary.points is not None:
                parts[name]["points"] = summary.points
        for name, values in replicates.items():
            parts[name] |= spread(values) | members(skills[name])
        for name, result in results.items():
            if (extend := tracks[name].extend) is not None:
                extend(parts[name], result)
    return Totals(parts, census, replicates, skills, units)


def with_statuses(report: Mapping[str, Any], scores: Sequence[Score]) -> dict[str, Any]:
    """Return ``report`` with census and slices of ``scores``, whose statuses may differ."""
    with ScoreTable(scores) as table:
        tracks = {name: {**part, "slices": {}} for name, part in report["tracks"].items()}
        _fill_slices(table, tracks)
        return {**report, "census": _census(table, len(scores)), "tracks": tracks}


def _summaries(results: Mapping[str, TrackResults], tracks: Tracks) -> dict[str, TrackSummary]:
    """Return the summary of each track that has one beside the mean of its tasks' points."""
    return {
        name: summarise(result)
        for name, result in results.items()
        if (summarise := tracks[name].summarise) is not None
    }


def points_by_track(
    scores: Sequence[Score],
    truths: Mapping[str, Truth],
    checked: Mapping[str, CheckedAnswer],
    tracks: Tracks,
) -> tuple[dict[str, float], dict[str, Mapping[str, float | None]]]:
    """Return the points (0 to 100) of one attempt by track, and the figures that tracks give of
    one attempt among several: ``{figure: {level: value}}``."""
    with ScoreTable(scores) as table:
        points = {row["track"]: row["points"] for row in table.query("tracks")}
        results = _results(table, scores, truths, checked, slice_intervals=False)
        special = {name: r for name, r in results.items() if tracks[name].own_points}
        points |= {name: s.points for name, s in _summaries(special, tracks).items()}
        figures = {
            figure.name: figure.of(results[name]) if name in results else {}
            for name, track in tracks.items()
            if (figure := track.run_figure) is not None
        }
    return points, figures


def _results(
    table: ScoreTable,
    scores: Sequence[Score],
    truths: Mapping[str, Truth],
    checked: Mapping[str, CheckedAnswer],
    slice_intervals: bool,
    floors: Floors = NO_FLOORS,
    *,
    tables: bool = True,
) -> dict[str, TrackResults]:
    """Return by track its own score rows, with all that its figures are computed from."""
    found: dict[str, list[Score]] = {}
    for score in scores:
        found.setdefault(score.track, []).append(score)
    return {
        name: TrackResults(
            table, rows, truths, checked, slice_intervals, tables, partial(floors.of_variant, name)
        )
        for name, rows in found.items()
    }


def _replicates(
    table: ScoreTable, seeds: Mapping[str, int], own: Mapping[str, TrackSummary]
) -> dict[str, list[float]]:
    """Return bootstrap replicates of each track's points (0 to 100): its own, else of tasks."""
    clusters: dict[str, dict[str, tuple[float, int]]] = {}
    for row in table.query("clusters"):
        clusters.setdefault(row["track"], {})[row["instance_id"]] = (row["points"], row["tasks"])
    return {
        name: list(own[name].replicates)
        if name in own and own[name].points is not None
        else [100 * mean for mean in cluster_means(sums, seeds[name])]
        for name, sums in clusters.items()
    }


def _parts(table: ScoreTable) -> dict[str, dict[str, Any]]:
    """Return each track's part as SQL gives it, without ``readings``."""
    parts: dict[str, dict[str, Any]] = {}
    for row in table.query("tracks"):
        track = row.pop("track")
        parts[track] = {
            "points": row.pop("points"),
            "tasks": row.pop("tasks"),
            "attempted": row.pop("attempted"),
            "metrics": row,
            "readings": {},
            "slices": {},
        }
    _fill_slices(table, parts)
    for row in table.query("usage"):
        track = row.pop("track")
        parts[track]["usage"] = {**row, "tokens_per_quality": {}}
    return parts


def _fill_slices(table: ScoreTable, parts: Mapping[str, dict[str, Any]]) -> None:
    """Add points, skill and counts to each track's ``slices``: ``{axis: {level: row}}``."""
    for row in table.query("slices"):
        row["skill"] = on_scale(row["points"], row["floor"])
        axis = parts[row.pop("track")]["slices"].setdefault(row.pop("axis"), {})
        axis[row.pop("level")] = row


def _census(table: ScoreTable, expected: int) -> dict[str, Any]:
    """Return tasks by status, invalid answers by reason; ``AssertionError`` unless ``expected``."""
    rows = table.query("census")
    counts = {"scored": 0, "missing": 0, "invalid": 0}
    for row in rows:
        counts[row["status"]] += row["tasks"]
    reasons = {row["reason"]: row["tasks"] for row in rows if row["status"] == "invalid"}
    if sum(counts.values()) != expected:
        raise AssertionError(f"census {counts} does not add up to {expected} tasks")
    return {"tasks": expected, **counts, "invalid_reasons": reasons}
