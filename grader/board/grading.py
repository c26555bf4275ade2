"""The submissions of a board, each graded in a worker."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.answers.submission import SubmissionLimits
from grader.board.sessions import refuse_others
from grader.board.workers import WorkFailure, WorkLimits, run_limited, run_patiently
from grader.pipeline import grade
from grader.release.exam import Exam
from grader.reports.build import GradedSubmission
from grader.reports.ledger import close, show_all, with_held_back


@dataclass(frozen=True, slots=True)
class Entry:
    """A graded submission and its report."""

    source: Path
    report: dict[str, Any]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file or folder that is no submission to this exam, and why."""

    source: Path
    reason: str


@dataclass(frozen=True, slots=True)
class NotGraded:
    """A submission that could not be graded, and why.

    ``again`` is whether another try may end otherwise.
    """

    source: Path
    reason: str
    again: bool = False


Result = Entry | LeftOut | NotGraded


def grade_all(
    exam: Exam,
    sources: Sequence[Path],
    *,
    workers: int,
    limits: WorkLimits,
    budget: SubmissionLimits | None = None,
    documents: bool = False,
    patient: bool = False,
    advance: Callable[[], None] = lambda: None,
) -> list[Result]:
    """Grade every submission in a process of its own; return results in the order of ``sources``.

    ``limits`` are those of a process, ``budget`` is what reading the answers of one may cost.
    ``documents`` is whether anyone will see more of a report than a table, ``patient`` whether what
    fails for want of time or memory is tried once more. ``advance`` is called for each as it is
    finished.
    """
    # Read once, before there are workers, which then share it.
    _ = exam.truths, exam.floors, exam.arms

    def work(source: Path) -> bytes:
        graded = grade(exam, source, slice_intervals=documents, tables=documents, limits=budget)
        return json.dumps(_document(graded, source)).encode("ascii")

    found: dict[int, Result] = {}
    run = run_patiently if patient else run_limited
    for place, outcome in run(work, sources, workers, limits):
        found[place] = _result(sources[place], outcome)
        advance()
    return [found[place] for place in range(len(sources))]


def with_figures(ledger: Path | None, exam: Exam, entries: Sequence[Entry]) -> list[Entry]:
    """Enter the submissions of a private exam into the ledger, and return them with the figures
    that their teams are shown in their reports."""
    shown = show_all(ledger, exam, [(entry.source, entry.report) for entry in entries])
    return [replace(entry, report=report) for entry, report in zip(entries, shown, strict=True)]


def in_time(ledger: Path | None, exam: Exam, results: Sequence[Result]) -> list[Result]:
    """Record the final ranking in the ledger unless it was made, and return the results, with
    ``NotGraded`` in place of submissions that came too late.

    The ledger knows which were handed in before the ranking was made.
    """
    graded = {r.source: r for r in results if isinstance(r, Entry)}
    handed = {
        source: str(entry.report["submission"]["answers_sha256"])
        for source, entry in graded.items()
    }
    late = close(ledger, exam, handed)
    why = "handed in after the final ranking, which is made once"
    return [NotGraded(r.source, why) if r.source in late else r for r in results]


def _result(source: Path, outcome: bytes | WorkFailure) -> Result:
    """Return a worker's outcome as a value: bytes are an entry or why it is left out."""
    if isinstance(outcome, WorkFailure):
        return NotGraded(source, outcome.reason, outcome.again)
    document = json.loads(outcome)
    if "left_out" in document:
        return LeftOut(source, document["left_out"])
    return Entry(source, document)


def _document(graded: GradedSubmission, source: Path) -> dict[str, Any]:
    """Return the report of a submission, or ``left_out`` and why.

    Raises ``UsageError`` for one that holds the sessions of another.
    """
    if (reason := _unranked_reason(graded, source)) is not None:
        return {"left_out": reason}
    refuse_others(graded)
    name = source.name.encode("utf-8", errors="replace").decode("utf-8")
    own = {"file": name, "answers_sha256": graded.answers_sha256}
    report = with_held_back(graded) if graded.exam.keeps_ledger else graded.report
    return {**report, "submission": {**report["submission"], **own}}


def _unranked_reason(graded: GradedSubmission, source: Path) -> str | None:
    """Return why a submission cannot be ranked (it answers no task of this exam), or None."""
    submission, split = graded.submission, graded.exam.split
    if any(score.status != "missing" for score in graded.scores):
        return None
    if not (submission.answers or submission.run or submission.unknown):
        return f"{source}: neither an answer nor a run.json in it"
    if split.track and submission.answers:
        return f"{source}: answers nothing of track {split.track}"
    if submission.answers or submission.unknown:
        return f"{source}: {graded.report['notices'][0]}; no answer to this exam in it"
    return None
