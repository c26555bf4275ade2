"""Writing an ordinary answers folder: run.json first, then one file per answer."""

import json
import re
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any, Final

import numpy as np

from baselines.release import FloatArray
from grader.errors import UsageError
from grader.io.files import write_text
from grader.io.jsonio import pretty
from grader.io.paths import inside
from grader.shape import Task

_ANSWER_FILE: Final = re.compile(r"[a-z]+-[0-9a-f]{16}\.(json|jsonl|csv)")


Answer = Mapping[str, Any] | str
"""What a solver returns: a JSON object, or a file's text (see :func:`csv_text`)."""


def prepare(folder: Path, system: str, settings: Mapping[str, Any], notes: str) -> None:
    """Make ``folder`` ready for a run of ``system`` and write its ``run.json``.

    A folder that an earlier run of the same system left is reused and its old answer files
    removed; any other folder with something in it is refused. Raises ``UsageError``.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            _check_ours(folder, system)
            for path in sorted(folder.iterdir()):
                if _ANSWER_FILE.fullmatch(path.name) and path.is_file():
                    path.unlink()
        run = {"system": system, "settings": dict(settings), "notes": notes}
        write_text(folder / "run.json", pretty(run))
    except OSError as error:
        raise UsageError(
            f"{folder}: cannot write there ({error.strerror or error}); choose another --out"
        ) from None


def write_answer(folder: Path, task: Task, answer: Answer) -> None:
    """Write the answer to a task in one step: a reader never sees half of it."""
    write_text(inside(folder, task.task_id, task.shape.suffix), text_of(answer))


def text_of(answer: Answer) -> str:
    """The answer as its file holds it."""
    return answer if isinstance(answer, str) else pretty(dict(answer))


def csv_text(**columns: FloatArray) -> str:
    """A prediction file: column name -> values, each of shape (held-out rows,)."""
    text = StringIO()
    rows, head = np.column_stack(list(columns.values())), ",".join(columns)
    np.savetxt(text, rows, fmt="%.9g", delimiter=",", header=head, comments="")
    return text.getvalue()


def _check_ours(folder: Path, system: str) -> None:
    try:
        owner = json.loads((folder / "run.json").read_bytes())["system"]
    except (OSError, ValueError, KeyError, TypeError):
        owner = None
    if owner != system:
        whose = f"answers of {owner!r}" if owner else "files that no run.json explains"
        raise UsageError(
            f"{folder}: holds {whose}, not of {system!r}; choose another --out or empty it"
        )
