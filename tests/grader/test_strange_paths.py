"""Files whose names are patterns to DuckDB, and neighbours that are meant to be matched."""

import shutil
from pathlib import Path

import pytest
from grading import Runner

NAMES = (
    "a\\*b", "a*b", "a[b]", "[!a]", "**", "a?b", "a\\[b", "x\\", "~", "a'b", "{a,b}", "s3:\\x",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_submission_of_any_name_can_be_read(
    runner: Runner, gold: Path, tmp_path: Path, name: str
) -> None:
    """A backslash before a star was neither escaped nor found; a neighbour must not be matched."""
    packed = tmp_path / "packed.parquet"
    dev = ("--release", runner.release, "--split", "dev", "--exam", "all")
    assert runner.run("pack", gold, *dev, "--name", "x", "--out", packed).code == 0
    board = tmp_path / "board"
    board.mkdir()
    (board / "\\\\.parquet").write_bytes(b"no Parquet")  # stopped every pattern in its folder
    (board / "aXXb.parquet").write_bytes(b"no Parquet")
    shutil.copy(packed, board / f"{name}.parquet")
    assert runner.grade(board / f"{name}.parquet").report["points"] == 100.0


@pytest.mark.parametrize("name", ["re*lease", "re\\*lease", "[release]", "re?lease"])
def test_a_release_in_a_folder_of_any_name_can_be_read(
    runner: Runner, release: Path, gold: Path, tmp_path: Path, name: str
) -> None:
    """Shards are named one by one, too."""
    runner.release = Path(shutil.copytree(release, tmp_path / name))
    assert runner.grade(gold).report["points"] == 100.0
    assert runner.run("verify", runner.release).code == 0
