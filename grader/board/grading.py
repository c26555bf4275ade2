"""The submissions of a board, each graded in a worker, and whose sessions they hold.

Replay and signatures prove that a session took place; how often it was tried before only the host
knows, who keeps one transcript for each session (``causal-exams lab --sessions``).
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from grader.answers.submission import SubmissionLimits, submission_name, team_of
from grader.board.workers import WorkFailure, WorkLimits, run_limited, run_patiently
from grader.errors import UsageError
from grader.io.files import Unreadable, open_regular
from grader.io.jsonio import clip
from grader.laboratory.transcript import MAX_LINE_BYTES, TranscriptError, check_chain, read_lines
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
class NotGraded:
    """A submission that could not be graded, and why, or what is none to this exam.

    ``again`` is whether another try may end otherwise, ``counts`` whether it is a submission.
    """

    source: Path
    reason: str
    again: bool = False
    counts: bool = True


Result = Entry | NotGraded


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
    ``NotGraded`` in place of submissions of teams that are not listed or came too late.

    The ledger knows which were handed in before the ranking was made. A ranked team that handed in
    nothing gets a ``NotGraded`` at the end. Raises ``UsageError`` where it would rank nobody.
    """
    graded = {team_of(submission_name(r.source)): r for r in results if isinstance(r, Entry)}
    unranked = close(
        ledger,
        exam,
        {team: str(r.report["submission"]["answers_sha256"]) for team, r in graded.items()},
    )
    late = {r.source: unranked.pop(team) for team, r in graded.items() if team in unranked}
    own = [NotGraded(r.source, late[r.source]) if r.source in late else r for r in results]
    return [*own, *(NotGraded(Path(team), why) for team, why in unranked.items())]


def _result(source: Path, outcome: bytes | WorkFailure) -> Result:
    """Return a worker's outcome as a value: bytes are an entry or why it is left out."""
    if isinstance(outcome, WorkFailure):
        return NotGraded(source, outcome.reason, outcome.again)
    document = json.loads(outcome)
    if "left_out" in document:
        return NotGraded(source, document["left_out"], counts=False)
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
        why = "".join(f" ({text.removesuffix('; ignored')})" for text in submission.notices[:1])
        return f"{source}: neither an answer nor a usable run.json in it{why}"
    if split.track and submission.answers:
        return f"{source}: answers nothing of track {split.track}"
    if submission.answers or submission.unknown:
        exam = f"exam {graded.exam.name} of split {split.name}"
        return f"{source}: none of its answers is to a task of {exam}; is it the right one?"
    return None


SessionCounts = Mapping[str, Counter[str]]
"""The number of sessions begun, by team and task."""
_MOST_FILES: Final = 1_000_000


def count_sessions(folder: Path, key: bytes) -> SessionCounts:
    """Count the sessions in a host's folder, at any depth, that were opened with its ``key``.

    The first line of a session says whose it is and at which task, not the name of its file: one
    that was moved aside to start anew still counts. Raises ``UsageError`` for no folder.
    """
    if not folder.is_dir():
        raise UsageError(f"--sessions {folder}: no such folder; give that of `causal-exams lab`")
    found: dict[str, Counter[str]] = {}
    count = 0
    for place, _, names in os.walk(folder):
        for name in names:
            count += 1
            if count > _MOST_FILES:
                raise UsageError(f"--sessions {folder}: over {_MOST_FILES:,} files; remove some")
            if (session := _read_session(Path(place) / name, key)) is not None:
                submission, task_id = session
                found.setdefault(team_of(submission), Counter())[task_id] += 1
    return found


def _read_session(path: Path, key: bytes) -> tuple[str, str] | None:
    """Return submission and task of a session that the host opened, or None for another file."""
    try:
        with open_regular(path) as handle:
            line = handle.readline(MAX_LINE_BYTES + 1)
        (first,) = lines = read_lines(line)
        check_chain(lines, key)
    except (Unreadable, TranscriptError, OSError):
        return None
    return str(first.get("submission")), str(first.get("task_id"))


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


def sessions_of(found: SessionCounts, team: str, tasks: Set[str]) -> dict[str, Any] | None:
    """Return how many sessions a team began at the tasks of an exam, or None for none.

    ``tasks`` are those it began any at, ``most`` is the number at one task.
    """
    counts = [count for task, count in found.get(team, Counter()).items() if task in tasks]
    if not counts:
        return None
    return {"started": sum(counts), "tasks": len(counts), "most": max(counts)}
