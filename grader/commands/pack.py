"""Pack a folder of answers into one Parquet file to submit.

examples:
  python -m grader pack answers/ --name "My system 1.0" --out submission.parquet
"""

import argparse
import json
from pathlib import Path
from typing import Any

from grader import __version__
from grader.commands.common import PUBLIC_EXAM, add, add_limits, read_answers
from grader.errors import UsageError
from grader.exam import Exam
from grader.pipeline import look_at
from grader.submission.attempts import attempt_folders


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``pack``."""
    parser.add_argument("answers", type=Path, help="folder of answers")
    parser.add_argument("--name", required=True, help="the system's name on the leaderboard")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="a .parquet file")
    add(parser, *PUBLIC_EXAM)
    add_limits(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the submission and say what is in it."""
    from collections import Counter

    if arguments.out.suffix != ".parquet":
        raise UsageError(f"--out {arguments.out}: the name must end in .parquet")
    if not arguments.name.strip() or len(arguments.name) > 200:
        raise UsageError("--name: give 1 to 200 characters")
    if folders := attempt_folders(arguments.answers):
        raise UsageError(
            f"{arguments.answers}: holds repeated attempts; pack one of them, such as {folders[0]}"
        )
    exam, found = read_answers(arguments)
    checked, _ = look_at(exam, found)
    # What could not be read is packed as null: it stays an invalid answer, not a missing one.
    packed = {
        task.task_id: raw.data
        for task in exam.tasks
        if (raw := found.answers.get(task.task_id)) is not None
    }
    _write(arguments.out, _card(arguments.name, exam, found.run), packed, found.usage)
    counts = Counter(answer.status for answer in checked.values())
    print(
        f"{arguments.out}: {len(packed)} answers to {exam.split.name}/{exam.name} "
        f"({counts['scored']} valid, {counts['invalid']} invalid, {counts['missing']} missing)"
    )
    for task_id, answer in checked.items():
        if answer.status == "invalid":
            print(f"  {task_id}  {answer.reason}  {ascii(answer.message)[1:-1]}")
    return 0


def _card(name: str, exam: Exam, run: dict[str, Any]) -> dict[str, Any]:
    return {
        **run,
        "system": name,
        "release": exam.split.release.name,
        "split": exam.split.name,
        "exam": exam.name,
        "packed_by": __version__,
    }


def _write(
    path: Path,
    card: dict[str, Any],
    packed: dict[str, bytes | None],
    usage: dict[str, dict[str, Any]],
) -> None:
    from grader.io import parquet
    from grader.io.files import replacing

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
