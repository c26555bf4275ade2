"""The grader from Python: the same figures as the command's, and what may not be seen is not."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import grader
from grader import Release, grade
from grader.commands.main import main
from grader.errors import UsageError


def test_the_figures_are_the_commands(release: Path, gold: Path, tmp_path: Path) -> None:
    out, opened = tmp_path / "report.json", Release(release, split="dev")
    words = [str(gold), "--release", str(release), "--split", "dev"]
    assert main([*words, "--json", str(out)]) == 0
    report = grade(gold, opened)
    assert json.loads(json.dumps(report.data)) == json.loads(out.read_text(encoding="utf-8"))
    assert report.points == 100 and set(report.tracks) == set(report.data["tracks"])
    assert len(report.tasks) == report.data["census"]["tasks"]
    assert "points=100" in repr(report)
    table = tmp_path / "rows.parquet"
    for told, more in ((report, []), (grade(gold, opened, reveal=True), ["--reveal"])):
        assert main([*words, "--parquet", str(table), *more]) == 0
        assert told.tasks == pq.read_table(table).to_pylist()
        assert all(("truth_json" in row) == bool(more) for row in told.tasks)


def test_answers_may_be_objects(release: Path) -> None:
    """A program has answers at hand, not files; what is wrong with one stands in its row."""
    opened = Release(release, split="dev")
    ids = {opened.task(i)["answer_schema"]: i for exam in opened.exams.values() for i in exam}
    answers = {ids["ate"]: {"ate": 1.5}, ids["effect_sign"]: '{"sign": ', "nobody-0": {}}
    report = grade(answers, opened, exam="all")
    rows = {row["task_id"]: row for row in report.tasks}
    assert rows[ids["ate"]]["status"] == "scored"
    assert (rows[ids["effect_sign"]]["status"], rows[ids["effect_sign"]]["reason"]) == (
        "invalid", "not_json",
    )  # fmt: skip
    assert report.data["unknown_answers"] == 1


def test_a_task_and_its_tables(release: Path) -> None:
    opened = Release(release, split="dev")
    known = [opened.task(task_id) for exam in opened.exams.values() for task_id in exam]
    data = next(task for task in known if task["input_mode"] == "data")
    table = opened.table(data["task_id"])
    assert table and len({len(values) for values in table.values()}) == 1
    story = next(task for task in known if task["input_mode"] != "data")
    assert opened.table(story["task_id"]) == {}
    predicted = {task["family"] for task in known if opened.table(task["task_id"], "test_features")}
    assert predicted == {"prediction"}
    assert data["prompt"] and not {"truth", "target"} & data.keys()
    with pytest.raises(UsageError, match="no such task"):
        opened.task("cds-0")
    with pytest.raises(UsageError, match="no such table"):
        opened.table(data["task_id"], "labels")


def test_a_private_split_tells_what_the_command_tells(release, secret, tmp_path):
    private = Release(release, split="test")
    report = grade(secret, private, ledger=tmp_path / "ledger.json")
    assert report.tasks == [] and report.data["redacted"] is True
    assert (tmp_path / "ledger.json").exists()
    revealed = grade(secret, private, reveal=True)
    assert revealed.points == 100 and revealed.tasks


def test_importing_the_package_is_light() -> None:
    """Every command imports it; only programs ask for what is heavy."""
    code = "import grader, sys; print('duckdb' in sys.modules, grader.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", grader.__version__]
    with pytest.raises(AttributeError, match="nothing"):
        _ = grader.nothing
