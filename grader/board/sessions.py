"""Whose sessions a row of a board holds, and how many that submitter has started.

Replay and signatures prove that a session took place; how often it was tried before only the host
knows, who keeps one transcript for each session (``causal-exams lab --sessions``).
"""

import os
from collections import Counter
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any, Final

from grader.answers.submission import submission_name, team_of
from grader.errors import UsageError
from grader.io.files import Unreadable, open_regular
from grader.io.jsonio import clip
from grader.laboratory.transcript import MAX_LINE_BYTES, TranscriptError, check_chain, read_lines
from grader.reports.build import GradedSubmission

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
