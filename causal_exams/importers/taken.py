"""What an importer reads of one attempt at one task, and the folder of answers it becomes."""

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.errors import UsageError
from grader.io.files import write_text
from grader.io.jsonio import pretty
from grader.io.paths import inside
from grader.shape import Task
from grader.submission.submission import MAX_BYTES


@dataclass(frozen=True, slots=True)
class Taken:
    """One attempt: the bytes of the answer file, None where there is none, and what it cost.

    ``usage`` has the members of a line of ``usage.jsonl`` that are known, ``ending`` among them.
    """

    task_id: str
    attempt: int
    answer: bytes | None
    usage: Mapping[str, Any] = field(default_factory=dict)


def write_answers(
    folder: Path, taken: Iterable[Taken], tasks: Mapping[str, Task], card: Mapping[str, Any],
    attempts: int = 1,
) -> list[dict[str, Any]]:  # fmt: skip
    """Write ``folder`` anew: answers, usage and ``run.json``; returns the lines of usage.

    With several ``attempts`` each has a folder of its own. A task that is none of ``tasks`` is
    left out. Raises ``UsageError`` where the folder cannot be written.
    """
    lines: list[dict[str, Any]] = []
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for one in taken:
            task = tasks.get(one.task_id)
            if task is None:
                continue
            place = inside(folder, f"attempt-{one.attempt}") if attempts > 1 else folder
            place.mkdir(exist_ok=True)
            if one.answer is not None:
                most = MAX_BYTES[task.shape.suffix] + 1
                inside(place, task.answer_file).write_bytes(one.answer[:most])
            line = {"task_id": one.task_id, "attempt": one.attempt, **one.usage}
            lines.append(line)
            with (place / "usage.jsonl").open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(line) + "\n")
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written ({error.strerror})") from None
    write_text(folder / "run.json", pretty(card))
    return lines
