"""Large exams are graded some tasks at a time, and say what they say all at once."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_release import TASKS, answer_file

from grader import pipeline
from grader.exam import Exam, choose_exam
from grader.io import parquet
from grader.io.release import Release
from grader.report import table
from grader.submission import packed


def seen(exam: Exam, source: Path) -> tuple[Any, ...]:
    """Everything that grading gives."""
    graded = pipeline.grade(exam, source, identify=True)
    assert len(graded.answers_sha256) == 64
    return graded.report, graded.scores, graded.answers_sha256, graded.totals


@pytest.fixture
def in_blocks(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Blocks far smaller than the exam, and score rows in a database of their own."""

    def turn_on() -> None:
        monkeypatch.setattr(table, "_MANY", 2)
        monkeypatch.setattr(table, "_ROWS_AT_ONCE", 2)
        monkeypatch.setattr(packed, "_BATCH_ROWS", 2)
        monkeypatch.setattr(parquet, "_ROWS_AT_ONCE", 2)

    return turn_on


def spoiled(gold: Path) -> Path:
    """Right answers, of which one is missing and one is no JSON."""
    first, second = (name for name in list(TASKS)[:2])
    (gold / answer_file(first)).unlink()
    (gold / answer_file(second)).write_bytes(b"{")
    return gold


def test_blocks_change_nothing(dev: Exam, gold: Path, in_blocks: Callable[[], None]) -> None:
    whole = seen(dev, spoiled(gold))
    in_blocks()
    assert seen(dev, gold) == whole
    assert 0 < whole[0]["points"] < 100


def test_blocks_of_several_attempts_change_nothing(
    dev: Exam, gold: Path, tmp_path: Path, in_blocks: Callable[[], None]
) -> None:
    for k in (1, 2):
        shutil.copytree(gold, tmp_path / "both" / f"attempt-{k}")
    spoiled(tmp_path / "both" / "attempt-2")
    whole = seen(dev, tmp_path / "both")
    in_blocks()
    assert seen(dev, tmp_path / "both") == whole
    assert len(whole[0]["attempts"]["runs"]) == 2


def test_blocks_of_a_private_split_change_nothing(
    release: Path, tmp_path: Path, in_blocks: Callable[[], None]
) -> None:
    exam = choose_exam(Release.open(release), "test", "all")
    task = exam.tasks[0]
    folder = tmp_path / "some"
    folder.mkdir()
    text = task.shape.gold(task, exam.truths[task.task_id])
    (folder / task.answer_file).write_text(text, encoding="utf-8")
    whole = seen(exam, folder)
    in_blocks()
    assert seen(choose_exam(Release.open(release), "test", "all"), folder) == whole
    assert whole[0]["points"] is None and whole[0]["census"]["scored"] == 1


def test_a_table_is_read_in_batches_in_its_order(
    dev: Exam, gold: Path, tmp_path: Path, in_blocks: Callable[[], None]
) -> None:
    """Strangers, doubles and answers of null stand between those that are read."""
    names = [path.name for path in sorted(gold.iterdir()) if path.name != "run.json"][::-1]
    rows = [(name.split(".")[0], (gold / name).read_text(encoding="utf-8")) for name in names]
    rows[2:2] = [("cds-stranger", "{}"), rows[1], (rows[5][0], None)]
    columns = {"task_id": [row[0] for row in rows], "answer": [row[1] for row in rows]}
    folder = tmp_path / "packed"
    folder.mkdir()
    pq.write_table(pa.table(columns), folder / "answers.parquet", row_group_size=4)
    whole = seen(dev, folder)
    in_blocks()
    assert seen(dev, folder) == whole
    assert whole[0]["census"]["invalid_reasons"] == {"duplicate_answer": 2}
    assert whole[0]["census"]["scored"] == len(names) - 2
