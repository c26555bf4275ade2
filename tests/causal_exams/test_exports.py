"""Exams for other harnesses: Harbor's folders grade as we do, without truth where agents look."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from causal_exams.commands.export import write_harbor
from causal_exams.harbor_files import grade
from grader.opening import open_release
from grader.release.exam import Exam, choose_exam

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def exam(mini_release: Path) -> Exam:
    return choose_exam(open_release(mini_release), None, "mini")


@pytest.fixture(scope="module")
def folders(exam: Exam, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """One task folder for each shape of answers."""
    shapes = {task.shape.name: task for task in exam.tasks if not task.inputs.get("budget")}
    out = tmp_path_factory.mktemp("harbor") / "tasks"
    assert write_harbor(replace(exam, tasks=tuple(shapes.values())), out) == len(shapes) > 15
    return sorted(out.iterdir())


def reward(folder: Path, place: Path, *, solved: bool = False) -> float:
    """What the verifier gives for the right answer, or for what is in the answers folder."""
    for name in ("answers", "logs"):
        (place / name).mkdir(parents=True, exist_ok=True)
    if solved:
        for file in (folder / "solution").glob("*-*"):
            shutil.copy(file, place / "answers")
    grade.main(str(folder / "tests"), str(place / "answers"), str(place / "logs"))
    return float((place / "logs" / "reward.txt").read_text())


def test_the_oracle_earns_all_and_nobody_nothing(folders: list[Path], tmp_path: Path) -> None:
    for folder in folders:
        assert reward(folder, tmp_path / "empty" / folder.name) == 0.0, folder
        assert reward(folder, tmp_path / folder.name, solved=True) == 1.0, folder


def test_the_scripts_do_as_much(folders: list[Path], tmp_path: Path) -> None:
    """By the grader that lies beside them, not by this checkout's."""
    variables = {
        "HARBOR_ANSWERS": str(tmp_path / "answers"), "HARBOR_LOGS": str(tmp_path / "logs"),
        "GRADER_PYTHON": sys.executable,
    }  # fmt: skip
    for script, earned in (
        ("tests/test.sh", 0.0),
        ("solution/solve.sh", 0.0),
        ("tests/test.sh", 1.0),
    ):
        command = ["bash", str(folders[0] / script)]
        subprocess.run(command, env={**os.environ, **variables}, check=True)
        assert float((tmp_path / "logs" / "reward.txt").read_text()) == earned


def test_what_an_agent_sees_holds_no_truth(folders: list[Path], exam: Exam) -> None:
    """Truth is in tests/ and solution/, which are not in the container while the agent works."""
    for folder in folders:
        task = next(task for task in exam.tasks if task.task_id == folder.name)
        gold = task.shape.gold(task, exam.truths[task.task_id])
        shown = [p for p in (folder / "environment").rglob("*") if p.is_file()]
        assert all(gold.encode() not in path.read_bytes() for path in shown if len(gold) > 40)
        config = tomllib.loads((folder / "task.toml").read_text())
        assert config["schema_version"] == "1.4"
        assert config["task"]["name"] == f"causal-exams/{task.task_id}"
        assert config["environment"]["network_mode"] == "no-network"
        assert f"/workspace/answers/{task.answer_file}" in (folder / "instruction.md").read_text()


def test_harbor_accepts_the_folders(folders: list[Path]) -> None:
    """Its own validator, where it is installed (Python 3.12 and newer)."""
    harbor = pytest.importorskip("harbor.models.task.task", reason="Harbor is not installed")
    for folder in folders:
        assert harbor.Task.is_valid_dir(folder)


def test_without_the_truth_answers_are_collected(folders: list[Path], tmp_path: Path) -> None:
    """Of a private split: a valid answer is 1, nothing or an invalid one 0."""
    folder = next(f for f in folders if f.name.startswith("cds") and (f / "solution").exists())
    stated = json.loads((folder / "tests" / "task.json").read_text())
    copied = tmp_path / "copy"
    shutil.copytree(folder, copied)
    (copied / "tests" / "task.json").write_text(json.dumps({**stated, "truth": None}))
    assert reward(copied, tmp_path / "empty") == 0.0
    assert reward(copied, tmp_path / "gold", solved=True) == 1.0
    broken = tmp_path / "broken" / "answers" / stated["task"]["answer_file"]
    broken.parent.mkdir(parents=True)
    broken.write_text("{")
    assert reward(copied, tmp_path / "broken") == 0.0
    assert (tmp_path / "gold" / "logs" / "answer" / broken.name).exists()
