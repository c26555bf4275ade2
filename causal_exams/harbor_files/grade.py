"""Grade one answer in a verifier of Harbor; ``test.sh`` beside it calls :func:`main`.

``task.json`` holds the task; where it holds the truth too the reward is the grader's points, from 0
to 1. Without the truth answers are only collected: a valid one has the reward 1.
"""

import json
from pathlib import Path

from grader.answers.submission import MAX_BYTES
from grader.io.files import Unreadable, open_regular
from grader.io.paths import path_inside
from grader.release.rows import task_of, truth_of
from grader.scoring.model import RawAnswer
from grader.scoring.score import check, score_answer
from grader.scoring.shape import Task
from grader.tracks import TRACKS


def main(tests: str, answers: str, logs: str) -> None:
    """Grade the answer in the folder ``answers`` to the task in ``tests``/task.json.

    Writes reward.txt, graded.txt and a copy of the answer into the folder ``logs``.
    """
    place = Path(logs)
    stated = json.loads((Path(tests) / "task.json").read_text(encoding="utf-8"))
    task = task_of(stated["task"], TRACKS)
    raw = _answer(task, Path(answers), place)
    if stated["truth"] is None:
        checked = check(task, raw)
        reward, verdict = float(checked.status == "scored"), f"{checked.status} {checked.reason}"
    else:
        truth = truth_of(stated["truth"], stated["labels"])
        row = score_answer(task, truth, raw)
        reward, verdict = row.points, f"{row.status} {row.reason} {row.message}"
    (place / "reward.txt").write_text(f"{reward}\n", encoding="utf-8")
    (place / "graded.txt").write_text(f"{task.task_id}: {verdict.strip()}\n", encoding="utf-8")


def _answer(task: Task, answers: Path, logs: Path) -> RawAnswer | None:
    """Return the answer file, no link, and copy it into ``logs``/answer; None if unreadable."""
    try:
        with open_regular(path_inside(answers, task.answer_file)) as stream:
            data = stream.read(MAX_BYTES[task.shape.suffix] + 1)
    except Unreadable:
        return None
    (logs / "answer").mkdir(exist_ok=True)
    path_inside(logs / "answer", task.answer_file).write_bytes(data)
    return RawAnswer(task.answer_file, data)
