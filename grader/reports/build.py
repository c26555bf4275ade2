"""``report.json`` (``schemas/report.json``) as plain data, and what repeated attempts add."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from grader.answers.submission import Submission, submission_name
from grader.release.exam import Exam
from grader.reports.aggregate import Totals, points_by_track, spread
from grader.reports.table import count_endings, usage_means
from grader.scoring.model import CheckedAnswer, Score, Truth, Unit
from grader.scoring.track import Tracks
from grader.statistics.skill import members
from grader.version import __version__

FORMAT = 1


@dataclass(frozen=True, slots=True)
class GradedSubmission:
    """A graded submission; ``hosts`` names those whose signed sessions it holds."""

    exam: Exam
    submission: Submission
    scores: Sequence[Score]
    totals: Totals
    report: dict[str, Any]
    hosts: frozenset[str]
    answers_sha256: str

    @property
    def shown_units(self) -> list[list[Unit]]:
        """The units, a list a track, in the half that figures of a private split are about."""
        shown = self.exam.shown_instances
        every = self.totals.units.values()
        halves = [[unit for unit in units if unit.instance in shown] for units in every]
        return [half for half in halves if half]


def build_report(
    exam: Exam, submission: Submission, totals: Totals, notices: Sequence[str]
) -> dict[str, Any]:
    """Return the whole report. The same answers give the same bytes: no clock, no host name."""
    release, split = exam.split.release, exam.split.name
    task_ids = [task.task_id for task in exam.tasks]
    system = submission.run.get("system")
    if not isinstance(system, str) or not system.strip():
        system = submission_name(submission.source)
    report = {
        "format": FORMAT,
        "grader": __version__,
        "release": {"name": release.name, "content_sha256": release.content_hashes(split)},
        "split": split,
        "exam": exam.name,
        # It may hold what is no text; the report is UTF-8 all the same.
        "submission": {
            "system": system[:200].encode("utf-8", errors="replace").decode("utf-8"),
            "run": submission.run,
        },
        "usage": usage_means(submission.usage, task_ids),
        "census": totals.census,
        "notices": list(notices),
        "unknown_answers": submission.unknown,
        "points": totals.points,
        **spread(totals.points_replicates),
        **members(totals.skill),
        "tracks": totals.parts,
    }
    if endings := count_endings(submission.usage, task_ids):
        report["endings"] = endings
    shown: dict[str, Any] = _null_infinite(report)
    return shown


def _null_infinite(value: Any) -> Any:
    """Return a report whose floats that are not finite (a mean of losses of 1e308) are null."""
    if isinstance(value, dict):
        return {key: _null_infinite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_null_infinite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def with_attempts(
    report: Mapping[str, Any],
    attempts: Sequence[Submission],
    grid: Sequence[Sequence[Score]],
    truths: Mapping[str, Truth],
    checked: Sequence[Mapping[str, CheckedAnswer]],
    tracks: Tracks,
) -> dict[str, Any]:
    """Return ``report`` with a member ``attempts``, and one in the part of each track that has a
    summary of attempts. ``attempts``: points, figures and usage of each run, and their spreads.

    ``grid`` holds the score rows of each attempt, ``checked`` the answers they are of by task id.
    """
    runs: list[dict[str, Any]] = []
    for attempt, scores, answers in zip(attempts, grid, checked, strict=True):
        points, figures = points_by_track(scores, truths, answers, tracks)
        usage = usage_means(attempt.usage, [score.task_id for score in scores])
        run = {"attempt": attempt.source.name, "points": points, **figures, "usage": usage}
        runs.append(run)
    parts = dict(report["tracks"])
    for name, part in parts.items():
        if (repeated := tracks[name].attempts) is not None:
            own = [[score for score in scores if score.track == name] for scores in grid]
            parts[name] = {**part, "attempts": repeated(own)}
    extra = [track.run_figure for track in tracks.values() if track.run_figure is not None]
    levels = {"points": tuple(parts), **{figure.name: figure.levels for figure in extra}}
    spreads = {
        name: {level: spread_of([run[name].get(level) for run in runs]) for level in names}
        for name, names in levels.items()
    }
    members: dict[str, Any] = {"attempts": {"runs": runs, **spreads}, "tracks": parts}
    shown: dict[str, Any] = _null_infinite({**report, **members})
    return shown


def spread_of(values: Sequence[float | None]) -> dict[str, Any] | None:
    """Return a figure of complete runs (CausalDS Table 7): ``runs`` (its values), ``mean``, ``sd``
    (sample SD) and ``relative_sd`` (SD over mean).

    Return ``None`` for fewer than two runs, or any without a finite value. At a mean of 0 only
    ``relative_sd`` is None.
    """
    present = [value for value in values if value is not None and math.isfinite(value)]
    if len(present) < 2 or len(present) != len(values):
        return None
    mean, sd = fmean(present), stdev(present)
    return {"runs": present, "mean": mean, "sd": sd, "relative_sd": sd / mean if mean else None}
