"""The submissions of a board, each graded in a worker, and the sessions that teams began.

Replay and signatures prove that a session took place. How often it was tried before only the host
knows, who keeps one transcript for each session (``causal-exams lab --sessions``).
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.answers.submission import SubmissionLimits, submission_name, team_of
from grader.board.workers import WorkFailure, WorkLimits, run_limited
from grader.errors import UsageError
from grader.io.files import Unreadable, open_regular
from grader.io.jsonio import clip
from grader.laboratory.transcript import MAX_LINE_BYTES, TranscriptError, check_chain, read_lines
from grader.pipeline import grade
from grader.release.exam import Exam
from grader.reports.build import GradedSubmission
from grader.reports.ledger import locked_ledger, show_all, with_held_back


@dataclass(frozen=True, slots=True)
class Entry:
    """A graded submission and its report."""

    source: Path
    report: dict[str, Any]


@dataclass(frozen=True, slots=True)
class NotGraded:
    """A submission that could not be graded, or is none to this exam, and why."""

    source: Path
    reason: str


Result = Entry | NotGraded


def grade_all(
    exam: Exam,
    sources: Sequence[Path],
    *,
    workers: int,
    limits: WorkLimits,
    budget: SubmissionLimits | None = None,
    documents: bool = False,
    advance: Callable[[], None] = lambda: None,
) -> list[Result]:
    """Grade every submission in a process of its own; return results in the order of ``sources``.

    ``limits`` are those of a process, ``budget`` is what reading the answers of one may cost.
    ``documents`` is whether anyone will see more of a report than a table. ``advance`` is called
    for each as it is finished.
    """
    # Read once, before there are workers, which then share it.
    _ = exam.truths, exam.floors, exam.arms

    def work(source: Path) -> bytes:
        graded = grade(exam, source, slice_intervals=documents, tables=documents, limits=budget)
        _refuse_unranked(graded, source)
        refuse_others(graded)
        name = source.name.encode("utf-8", errors="replace").decode("utf-8")
        own = {"file": name, "answers_sha256": graded.answers_sha256}
        report = with_held_back(graded) if exam.keeps_ledger else graded.report
        document = {**report, "submission": {**report["submission"], **own}}
        return json.dumps(document).encode("ascii")

    found: dict[int, Result] = {}
    for place, outcome in run_limited(work, sources, workers, limits):
        if isinstance(outcome, WorkFailure):
            found[place] = NotGraded(sources[place], outcome.reason)
        else:
            found[place] = Entry(sources[place], json.loads(outcome))
        advance()
    return [found[place] for place in range(len(sources))]


def with_figures(ledger: Path | None, exam: Exam, entries: Sequence[Entry]) -> list[Entry]:
    """Enter the submissions of a private exam into the ledger, and return them with the figures
    that their teams are shown in their reports."""
    shown = show_all(ledger, exam, [(entry.source, entry.report) for entry in entries])
    return [replace(entry, report=report) for entry, report in zip(entries, shown, strict=True)]


def in_time(ledger: Path | None, exam: Exam, results: Sequence[Result]) -> list[Result]:
    """Record the final ranking in the ledger unless it was made, and return the results, with
    ``NotGraded`` in place of submissions of teams that are not listed or came too late.

    The ledger knows which were handed in before the ranking was made. Raises ``UsageError`` where
    it would rank nobody.
    """
    graded = {team_of(submission_name(r.source)): r for r in results if isinstance(r, Entry)}
    digests = {team: r.report["submission"]["answers_sha256"] for team, r in graded.items()}
    with locked_ledger(ledger, exam) as record:
        unranked = record.close(digests)
    late = {graded[team].source: why for team, why in unranked.items()}
    return [NotGraded(r.source, late[r.source]) if r.source in late else r for r in results]


def _refuse_unranked(graded: GradedSubmission, source: Path) -> None:
    """Raise ``UsageError`` for a submission that answers no task of this exam, and is not empty."""
    submission, split = graded.submission, graded.exam.split
    if any(score.status != "missing" for score in graded.scores):
        return
    if not (submission.answers or submission.run or submission.unknown):
        why = "".join(f" ({text.removesuffix('; ignored')})" for text in submission.notices[:1])
        raise UsageError(f"{source}: neither an answer nor a usable run.json in it{why}")
    if split.track and submission.answers:
        raise UsageError(f"{source}: answers nothing of track {split.track}")
    if submission.answers or submission.unknown:
        exam = f"exam {graded.exam.name} of split {split.name}"
        raise UsageError(
            f"{source}: none of its answers is to a task of {exam}; is it the right one?"
        )


def refuse_others(graded: GradedSubmission) -> None:
    """Raise ``UsageError`` where a submission holds sessions of another team.

    The host gives a submission its name, for its sessions and as its file or folder.
    """
    if graded.exam.split.transcript_key is None:
        return
    source = graded.submission.source
    own = submission_name(source)
    for name in sorted(graded.hosts):
        if team_of(name) != team_of(own):
            raise UsageError(
                f"{source}: holds sessions of {clip(name)}, not of {clip(own)}; a submission is "
                "called as the host called it when its sessions were opened, or TEAM@N"
            )


def count_sessions(folder: Path, key: bytes, tasks: Collection[str]) -> dict[str, dict[str, int]]:
    """Count the sessions at ``tasks`` in a host's folder, at any depth, opened with its ``key``.

    Returns by team how many it ``started``, at how many ``tasks``, and the ``most`` at one. The
    first line of a session says whose it is, not the name of its file: one that was moved aside to
    start anew still counts. Raises ``UsageError`` for no folder.
    """
    if not folder.is_dir():
        raise UsageError(f"--sessions {folder}: no such folder; give that of `causal-exams lab`")
    found: dict[str, Counter[str]] = {}
    for path in folder.rglob("*"):
        try:
            with open_regular(path) as handle:
                (first,) = lines = read_lines(handle.readline(MAX_LINE_BYTES + 1))
            check_chain(lines, key)
        except (Unreadable, TranscriptError, OSError):
            continue  # no session of this host
        if (task_id := str(first.get("task_id"))) in tasks:
            found.setdefault(team_of(str(first.get("submission"))), Counter())[task_id] += 1
    return {
        team: {"started": own.total(), "tasks": len(own), "most": max(own.values())}
        for team, own in found.items()
    }
