"""`verify`: what it accepts, and every kind of damage it sees."""

import shutil
from pathlib import Path
from typing import Any

from grading import Runner
from small_release import rewrite, task_id

DEV = ("--split", "dev")
TRUTHS = "causalds_truth/dev-00000-of-00001.parquet"


def test_verify_accepts_the_release_and_its_public_half(runner: Runner, tmp_path: Path) -> None:
    """Anyone may check the public side; the maintainer checks both."""
    run = runner.run("verify", runner.release)
    assert run.code == 0 and "private rows are what was committed to" in run.out
    public = shutil.copytree(runner.release / "public", tmp_path / "public")
    run = runner.run("verify", public)
    assert run.code == 0 and "not checked" in run.out


def test_verify_sees_one_flipped_byte_in_any_shard(runner: Runner, own_release: Path) -> None:
    """And grading refuses the shard."""
    for file in sorted(own_release.glob("*/*/*.parquet"))[::3]:
        data = file.read_bytes()
        middle = len(data) // 2
        file.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
        run = runner.run("verify", own_release)
        assert run.code == 1 and file.name in run.out, file
        file.write_bytes(data)
    assert runner.run("verify", own_release).code == 0


def test_grading_refuses_a_shard_that_differs_from_its_hash(runner, own_release, gold):
    """A truth edited after the fact must not grade anyone."""
    for config in ("causalds", "causalds_exams", "causalds_truth", "causalds_labels"):
        file = own_release / "public" / config / "dev-00000-of-00001.parquet"
        data = file.read_bytes()
        file.write_bytes(data + b"\0")
        message = runner.fails("grade", gold, "--release", own_release, *DEV)
        assert str(file) in message and "SHA-256" in message and "fetch" in message
        file.unlink()
        assert str(file) in runner.fails("grade", gold, "--release", own_release, *DEV)
        file.write_bytes(data)


def test_verify_sees_a_private_row_changed_with_its_hash(runner: Runner, own_release: Path) -> None:
    """The manifest can be fixed up to fit a changed truth; the commitment cannot."""

    def change(rows: list[dict[str, Any]]) -> None:
        (row,) = [row for row in rows if row["task_id"] == task_id("ett", "test")]
        row["value"] = -3.0000001

    rewrite(own_release / "private", "causalds_truth/test-00000-of-00001.parquet", change)
    run = runner.run("verify", own_release)
    assert run.code == 1
    assert f"row {task_id('ett', 'test')} is not what was committed to" in one_line(run.out)


def test_verify_sees_a_shard_nobody_vouches_for(runner: Runner, own_release: Path) -> None:
    """``load_dataset`` would read it with the others."""
    folder = own_release / "public" / "causalds"
    shutil.copy(folder / "dev-00000-of-00001.parquet", folder / "dev-00001-of-00002.parquet")
    run = runner.run("verify", own_release)
    assert run.code == 1 and "dev-00001-of-00002.parquet is not in the manifest" in run.out


def one_line(text: str) -> str:
    """Without the breaks of a terminal's lines."""
    return " ".join(text.split())
