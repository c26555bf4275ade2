"""A folder of answers as one Parquet file: what is handed in."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.answers.attempts import attempt_folders
from grader.answers.submission import Submission
from grader.errors import UsageError
from grader.io.files import file_sha256, replacing
from grader.pipeline import look_at
from grader.release.exam import Exam
from grader.scoring.model import Checked
from grader.version import __version__

_LONGEST = 200


def named(name: object) -> str:
    """A system's name for the leaderboard; raises ``UsageError`` where it is none."""
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST:
        raise UsageError(f"--name: give 1 to {_LONGEST} characters")
    return name


def refuse_attempts(answers: Path) -> None:
    """Raise ``UsageError`` for a folder of repeated attempts: one file holds one."""
    if folders := attempt_folders(answers):
        raise UsageError(
            f"{answers}: holds repeated attempts; pack one of them, such as {folders[0]}"
        )


def pack(path: Path, exam: Exam, found: Submission, name: str) -> Mapping[str, Checked]:
    """Write a submission and say how its answers look without the truth, by task id.

    The card says who, how (``run.json``) and to what: release, split, exam, and the hash of the
    release's manifest. Raises ``UsageError`` where ``path`` cannot be written.
    """
    checked, _ = look_at(exam, found)
    # What could not be read is packed as null: it stays an invalid answer, not a missing one.
    packed = {
        task.task_id: raw.data
        for task in exam.tasks
        if (raw := found.answers.get(task.task_id)) is not None
    }
    release = exam.split.release
    card = {
        **found.run,
        "system": name,
        "release": release.name,
        "release_sha256": file_sha256(release.public.path / "manifest.json"),
        "split": exam.split.name,
        "exam": exam.name,
        "packed_by": __version__,
    }
    _write(path, card, packed, found.usage)
    return checked


def _write(
    path: Path,
    card: Mapping[str, Any],
    packed: Mapping[str, bytes | None],
    usage: Mapping[str, Mapping[str, Any]],
) -> None:
    from grader.io import parquet

    ids: list[str | None] = [*sorted(packed)]
    ids = ids or [None]  # a row to carry the card of an empty submission
    answers = [packed[task_id] if task_id else None for task_id in ids]
    usages = [json.dumps(usage[i]) if i is not None and i in usage else None for i in ids]
    with replacing(path) as temporary, parquet.connect() as connection:
        connection.execute(
            "CREATE TEMP TABLE submission AS SELECT unnest($1::VARCHAR[]) AS task_id, "
            "unnest($2::BLOB[]) AS answer, unnest($3::VARCHAR[]) AS usage_json, "
            "$4::VARCHAR AS submission_json",
            [ids, answers, usages, json.dumps(card)],
        )
        parquet.copy_to(
            connection, "SELECT * FROM submission", temporary, "FORMAT parquet, COMPRESSION zstd"
        )
