"""What repeated attempts add to a report: each as a complete exam, and how far they spread."""

from collections.abc import Mapping, Sequence
from typing import Any

from grader.model import Checked, Score, Truth
from grader.report.aggregate import points_by_track
from grader.report.usage import usage_means
from grader.statistics.repeats import spread_of
from grader.submission.submission import Submission
from grader.tracks import TRACKS


def with_attempts(
    report: Mapping[str, Any],
    attempts: Sequence[Submission],
    grid: Sequence[Sequence[Score]],
    truths: Mapping[str, Truth],
    checked: Sequence[Mapping[str, Checked]],
) -> dict[str, Any]:
    """``report`` with ``attempts``, and with what each track says of its own.

    ``grid`` holds the score rows of each attempt by itself, ``checked`` what they were made from.
    """
    runs: list[dict[str, Any]] = []
    for attempt, scores, answers in zip(attempts, grid, checked, strict=True):
        points, figures = points_by_track(scores, truths, answers)
        ids = [score.task_id for score in scores]
        usage = usage_means(attempt.usage, ids)
        label = attempt.source.name
        runs.append({"attempt": label, "points": points, **figures, "usage": usage})
    parts = dict(report["tracks"])
    for name, part in parts.items():
        if (repeated := TRACKS[name].attempts) is not None:
            own = [[score for score in scores if score.track == name] for scores in grid]
            parts[name] = {**part, "attempts": repeated(own)}
    summary = {"runs": runs, **spreads(runs, report["tracks"])}
    return {**report, "attempts": summary, "tracks": parts}


def spreads(
    runs: Sequence[Mapping[str, Any]], tracks: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """How far the points of each track, and the figures that tracks give of a run, spread."""
    figures = [track.run_figure for track in TRACKS.values()]
    levels = {figure.name: figure.levels for figure in figures if figure is not None}
    return {
        name: {level: spread_of([run[name].get(level) for run in runs]) for level in names}
        for name, names in {"points": tuple(tracks), **levels}.items()
    }
