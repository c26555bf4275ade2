"""``report.json``: all that a submission's scores say, as plain data (``schemas/report.json``)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from grader.exam import Exam
from grader.report.aggregate import Totals, spread
from grader.report.skill import members
from grader.report.usage import count_endings, usage_means
from grader.submission.submission import Submission
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
