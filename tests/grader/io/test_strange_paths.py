"""Names that are patterns, quotes, partitions or home folders to careless readers, and neighbours
that are meant to be matched."""

import shutil
from pathlib import Path

import pytest
from grading import Runner
from small_release import TASKS, task_id

NAMES = (
    "a\\*b", "[!a]", "**", "a?b[c]", "x\\", "~", "{a,b}", "s3:\\x", "'quote' \"double\"",
    "line\nbreak", "%41 task_id=zzz", "-x",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_submission_of_any_name_can_be_read(
    runner: Runner, gold: Path, tmp_path: Path, name: str
) -> None:
    """A backslash before a star was neither escaped nor found; a neighbour must not be matched."""
    board = gold.rename(tmp_path / name)
    dev = (*runner.dev, "--exam", "all")
    assert f"{len(TASKS)} valid" in runner.run("validate", board, *dev).out
    packed = board / f"{name}.parquet"
    assert runner.run("pack", board, *dev, "--name=x", "--out", packed).code == 0
    (board / "\\\\.parquet").write_bytes(b"no Parquet")  # stopped every pattern in its folder
    (board / "aXXb.parquet").write_bytes(b"no Parquet")
    assert f"{len(TASKS)} valid" in runner.run("validate", packed, *dev).out


@pytest.mark.parametrize("name", ["re*lease", "re\\*lease", "[release]", "re?lease", "variant=5"])
def test_a_release_in_a_folder_of_any_name_can_be_read(
    runner: Runner, release: Path, gold: Path, tmp_path: Path, name: str
) -> None:
    """Shards are named one by one, too."""
    runner.release = Path(shutil.copytree(release, tmp_path / name))
    assert runner.grade(gold).report["points"] == 100.0
    assert runner.run("verify", runner.release).code == 0
    at = (*runner.dev, "--task", task_id("ate"))
    assert runner.run("workspace", *at, "--out", tmp_path / "w").code == 0


@pytest.mark.parametrize("name", ["a*b", "[ab]", "plain"])
def test_workers_leave_no_folder_behind(
    runner: Runner, gold: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A file that could be a pattern is read by a link, in a folder that nobody removed since a
    worker never ends as other processes do."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    board = tmp_path / "board"
    board.mkdir()
    packed = board / f"{name}.parquet"
    dev = (*runner.dev, "--exam", "all")
    assert runner.run("pack", gold, *dev, "--name=x", "--out", packed).code == 0
    assert runner.run("leaderboard", board, *dev).code == 0
    assert list(scratch.iterdir()) == []
