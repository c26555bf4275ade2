"""``report.json`` (``schemas/report.json``) as plain data, and what repeated attempts add."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from grader.answers.submission import Submission
from grader.release.exam import Exam
from grader.reports.aggregate import Totals, points_by_track, spread
from grader.reports.table import count_endings, usage_means
from grader.scoring.model import Checked, Score, Truth
from grader.scoring.skill import members
from grader.statistics.repeats import spread_of
from grader.tracks import TRACKS
from grader.version import __version__

FORMAT = 1


def build_report(
    exam: Exam, submission: Submission, totals: Totals, notices: Sequence[str]
) -> dict[str, Any]:
    """The whole report. The same answers give the same bytes: no clock, no host name."""
    release, split = exam.split.release, exam.split.name
    report = {
        "format": FORMAT,
        "grader": __version__,
        "release": {"name": release.name, "content_sha256": release.content_hashes(split)},
        "split": split,
        "exam": exam.name,
        "submission": _submission(submission),
        "usage": usage_means(submission.usage, [task.task_id for task in exam.tasks]),
        "census": totals.census,
        "notices": list(notices),
        "unknown_answers": submission.unknown,
        "points": totals.points,
        **spread(totals.combined),
        **members(totals.skill),
        "tracks": totals.parts,
    }
    if endings := count_endings(submission.usage, [task.task_id for task in exam.tasks]):
        report["endings"] = endings
    return finite(report)


def _submission(submission: Submission) -> dict[str, Any]:
    system = submission.run.get("system")
    if not isinstance(system, str) or not system.strip():
        place = submission.source.absolute()
        system = place.stem if place.is_file() else place.resolve().name
    # A folder name may hold bytes that are no text; the report is UTF-8 all the same.
    name = system[:200].encode("utf-8", errors="replace").decode("utf-8")
    return {"system": name, "run": submission.run}


def finite(report: Mapping[str, Any]) -> dict[str, Any]:
    """A report whose floats that are not finite (a mean of losses of 1e308) are null."""
    return {key: _finite(item) for key, item in report.items()}


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


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
