"""causalab in a whole release: a private split, its host, the generation report."""

import json
from pathlib import Path

import pytest

from baselines.__main__ import main as answer
from builder.commands.main import main as build
from grader.commands.main import main as grade

SPLITS = """
name = "laboratories"
version = "0.1.0"
floor_tasks = 0

[splits.dev]
truth = "public"
seed = "laboratories 1"
[splits.dev.causalab]
graphs = 2
suites = ["main-3", "freqparent-4", "3o0i-4"]
[splits.dev.exams.practice]
causalab = { tasks = "all" }

[splits.test]
truth = "private"
secret_env = "LABORATORY_TEST_SECRET"
[splits.test.causalab]
per_suite = 2
suites = ["main-3", "hidden-count-1", "golden-4"]
[splits.test.exams.final]
causalab = { tasks = "all" }
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten public and eight private episodes, past the gate."""
    folder = tmp_path_factory.mktemp("laboratories")
    (folder / "splits.toml").write_text(SPLITS, encoding="utf-8")
    out = folder / "release"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABORATORY_TEST_SECRET", "8f3a91c2d04be5167a22f10c9d5e4b6a" * 2)
        command = ["build", str(folder / "splits.toml"), "--out", str(out), "--quiet"]
        assert build([*command, "--workers", "1"]) == 0
    return out


def test_a_private_split_needs_its_host(release, tmp_path, capsys):
    """The public folder is all that a test taker has; the maintainer hosts the laboratory."""
    arguments = ["--release", str(release), "--split", "test", "--out"]
    assert answer(["solver", *arguments, str(tmp_path / "a")]) == 2
    error = capsys.readouterr().err
    assert "private in split test" in error and "--private" in error
    hosted = [*arguments, str(tmp_path / "b"), "--private", str(release)]
    assert answer(["solver", *hosted]) == 0
    command = [str(tmp_path / "b"), "--release", str(release), "--split", "test"]
    report = tmp_path / "report.json"
    assert grade([*command, "--quiet", "--csv", str(tmp_path / "rows.csv")]) == 2
    assert grade([*command, "--quiet", "--reveal", "--json", str(report)]) == 0
    assert json.loads(report.read_text(encoding="utf-8"))["points"] >= 95


def test_blind_answers_need_no_host(release: Path, tmp_path: Path) -> None:
    """``constant`` and, without a host, ``random`` open no laboratory and still are sessions."""
    for name in ("constant", "random"):
        out = tmp_path / name
        options = ["--release", str(release), "--split", "test", "--out", str(out)]
        assert answer([name, *options]) == 0
        command = [str(out), "--release", str(release), "--split", "test", "--quiet", "--strict"]
        assert grade(command) == 0


def test_the_generation_report_stands_beside_table_1(release, capsys):
    assert build(["inspect", str(release)]) == 0
    text = capsys.readouterr().out
    assert "4 graphs" not in text and "6 graphs, 10 episodes." in text
    row, _ = (line for line in text.splitlines() if line.startswith("| 3 |"))
    assert row.startswith("| 3 | 50 / 2 | 2.56 / ")
    assert "| 3o0i-4 | reference | 2 |" in text
    assert "# dev: causalab" in text and "rejected attempts: " in text
