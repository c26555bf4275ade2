"""What a private split tells, and what it keeps to itself."""

import json
import shutil
from pathlib import Path

from grading import Runner
from small_release import SECRET_TASKS, task_id

from grader.io.schemas import first_problem

DEV = ("--split", "dev")


def test_one_workspace_of_a_private_split_needs_no_truth(runner: Runner, tmp_path: Path) -> None:
    """The public repository alone must suffice to sit the exam."""
    public = shutil.copytree(runner.release / "public", tmp_path / "public")
    options = ("--release", public, "--split", "test", "--task", task_id("sketch", "test"))
    run = runner.run("workspace", *options, "--out", tmp_path / "w")
    assert run.code == 0 and "1 workspace;" in run.out
    message = runner.fails("workspace", "--release", public, "--split", "test", "--task",
                           "cds-nothing", "--out", tmp_path / "v")  # fmt: skip
    assert "no such task" in message
    assert not (tmp_path / "v").exists()


def test_a_private_split_is_graded_with_its_private_side(runner: Runner, tmp_path: Path) -> None:
    """And refused without, naming the way out."""
    public = shutil.copytree(runner.release / "public", tmp_path / "apart" / "public")
    private = shutil.copytree(runner.release / "private", tmp_path / "safe")
    options = ("--release", public.parent, "--split", "test")
    out = tmp_path / "gold"
    words = ("gold", *options, "--private", private, "--out", out)
    assert "--reveal" in runner.fails(*words)
    assert runner.run(*words, "--reveal").code == 0
    run = runner.run("grade", out, *options, "--private", private, "--quiet")
    assert run.out == f"skill – points – scored {len(SECRET_TASKS)} missing 0 invalid 0\n"
    run = runner.run("grade", out, *options, "--private", private, "--quiet", "--reveal")
    assert run.out == f"skill 100.0 points 100.0 scored {len(SECRET_TASKS)} missing 0 invalid 0\n"
    message = runner.fails("grade", out, *options)
    assert "its truth is private" in message and "--private" in message
    assert runner.run("validate", out, *options).code == 0


def test_a_private_split_tells_no_task_its_score_unless_asked(runner, secret, tmp_path):
    """An absolute error beside one's own answer is the truth, give or take a sign."""
    table = tmp_path / "rows.csv"
    assert "--reveal" in runner.fails("grade", secret, *runner.test, "--csv", table)
    assert not table.exists()
    assert runner.run("grade", secret, *runner.test, "--csv", table, "--reveal").code == 0
    task = next(iter(sorted(secret.glob("cds-*")))).stem
    asked = ("explain", task, *runner.test, "--answers", secret)
    assert "--reveal" in runner.fails(*asked)
    assert "100.0 of 100" in runner.run(*asked, "--reveal").out


def test_a_private_report_is_redacted_unless_revealed(runner, secret, tmp_path):
    """A submission with one answer read the hidden structure of its task off the slices."""
    file = tmp_path / "report.json"
    assert runner.run("grade", secret, *runner.test, "--json", file).code == 0
    report = json.loads(file.read_text("utf-8"))
    assert first_problem("report", report) is None and report["redacted"]
    track = report["tracks"]["causalds"]
    assert "structure" not in track["slices"] and "variant" in track["slices"]
    rows = [row for axis in track["slices"].values() for row in axis.values()]
    assert rows and all(row["points"] is None for row in rows) and not track["readings"]
    assert runner.run("grade", secret, *runner.test, "--json", file, "--reveal").code == 0
    revealed = json.loads(file.read_text("utf-8"))
    assert "redacted" not in revealed and "structure" in revealed["tracks"]["causalds"]["slices"]
