"""What a slip costs: one sentence that says what was meant, and nothing graded by mistake."""

import json
import shutil
from pathlib import Path

import pytest
from grading import Runner, put
from small_release import OUTSIDE_EXAM, answer_file, task_id

DEV = ("--split", "dev")


@pytest.fixture
def board(runner: Runner, gold: Path, tmp_path: Path) -> Path:
    """A folder with one right submission."""
    folder = tmp_path / "board"
    shutil.copytree(gold, folder / "right")
    return folder


def test_an_answer_outside_the_exam_is_told(runner: Runner, tmp_path: Path) -> None:
    """It was graded as 0.0 points and everything missing, without a word why."""
    folder = tmp_path / "one"
    folder.mkdir()
    put(folder, OUTSIDE_EXAM, '{"value": 1.0}')
    run = runner.grade(folder, exam="mini")
    assert run.report["census"]["scored"] == 0
    (notice,) = run.report["notices"]
    assert task_id(OUTSIDE_EXAM) in notice and "--exam all" in notice


def test_options_of_grading_are_those_of_boards_and_comparisons(runner, board, gold, tmp_path):
    """A board of signed sessions was graded by other rules."""
    key = tmp_path / "host.key"
    key.write_bytes(b"k" * 32)
    for words in (("leaderboard", board), ("compare", gold, gold)):
        assert runner.run(*words, *runner.dev, "--transcript-key", key).code == 0
    assert runner.run("validate", gold, *runner.dev, "--transcript-key", key).code == 0
    explained = ("explain", task_id("ate"), "--answers", gold, "--transcript-key", key)
    assert runner.run(*explained, *runner.dev).code == 0


def test_a_submission_to_another_exam_is_left_out_with_a_word(runner, board, tmp_path):
    """Packed for another split, it stood last with 0 points."""
    secret = tmp_path / "secret"
    options = (*runner.test, "--reveal", "--out", secret)
    assert runner.run("gold", *options).code == 0
    options = (*runner.test, "--name", "other")
    assert runner.run("pack", secret, *options, "--out", board / "other.parquet").code == 0
    run = runner.run("leaderboard", board, *runner.dev)
    assert run.code == 0 and "other" not in run.out
    assert "left out" in run.err and "other.parquet" in run.err.replace("\n", "")


def test_namesakes_are_told_apart_and_copies_flagged(runner, board, tmp_path):
    """Two rows called alike say nothing of which is whose, or that they are one."""
    for name, date in (("right", "2026-01-01"), ("again", "2026-02-02")):
        if name != "right":
            shutil.copytree(board / "right", board / name)
        card = {"system": "ours", "date": date}
        (board / name / "run.json").write_text(json.dumps(card), encoding="utf-8")
    shutil.copytree(board / "again", board / "changed")
    (board / "changed" / "run.json").write_text('{"system": "theirs"}', encoding="utf-8")
    put(board / "changed", "ate", '{"value": 17.0}')
    for name in ("junk", "void"):  # no answer in them that could be equal to another
        (board / name).mkdir()
        put(board / name, "ate", name)
    out = tmp_path / "board.json"
    run = runner.run("leaderboard", board, *runner.dev, "--json", out)
    rows = {
        row["report"]["submission"]["file"]: row["report"] for row in json.loads(out.read_text())
    }
    assert rows["right"]["submission"]["label"] == "ours (right, 2026-01-01)"
    assert rows["again"]["submission"]["label"] == "ours (again, 2026-02-02)"
    assert "label" not in rows["changed"]["submission"]
    said = " ".join(run.out.split())
    assert "Equal answers: ours (again, 2026-02-02), ours (right, 2026-01-01)." in said
    assert "theirs." not in said and said.count("Equal answers") == 1


@pytest.mark.parametrize(
    ("option", "name", "said"),
    [
        ("--csv", "out.xlsx", "end its name in .csv"),
        ("--json", "out.html", "end its name in .json"),
        ("--html", "out.json", "end its name in .html"),
        ("--parquet", "out.csv", "end its name in .parquet"),
        ("--json", "absent/out.json", "make it first"),
    ],
)
def test_an_output_is_what_its_name_says(runner, gold, tmp_path, option, name, said):
    """A mistyped folder was made, and a CSV file stood there as a workbook."""
    message = runner.fails("grade", gold, *runner.dev, option, tmp_path / name)
    assert said in message
    assert not (tmp_path / name).exists() and not (tmp_path / "absent").exists()


def test_mistyped_ids_and_folders_meet_near_ones(runner: Runner, gold: Path) -> None:
    """Sixteen hexadecimal digits are seldom typed right."""
    for words in (
        ("validate", gold.with_name("glod"), *runner.dev),
        (str(gold.with_name("glod")), *runner.dev),
        ("grade", gold, "--release", runner.release.with_name("relaese"), *DEV),
    ):
        assert "did you mean" in runner.fails(*words)
    strange = task_id("ate")[:-1] + "_"
    (gold / answer_file("ate")).rename(gold / f"{strange}.json")
    run = runner.grade(gold)
    (notice,) = run.report["notices"]
    assert f"did you mean '{task_id('ate')}'" in notice
    line = json.dumps({"task_id": strange, "answer": {"value": 1.0}})
    (gold / f"{strange}.json").unlink()
    (gold / "answers.jsonl").write_text(line + "\n", encoding="utf-8")
    (notice,) = runner.grade(gold).report["notices"]
    assert f"did you mean '{task_id('ate')}'" in notice
