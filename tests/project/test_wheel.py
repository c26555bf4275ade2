"""The wheel alone must grade: that is how most people will have the grader."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import duckdb
import pytest


@pytest.fixture(scope="module")
def installed(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, unpacked where the checkout is not on the path."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=root, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    target = folder / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


def run(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """``python -m grader …`` with the wheel's code, in ``folder``."""
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_the_wheel_holds_what_grades_and_hands_out_exams_only(installed: Path) -> None:
    """The builder in the wheel would ask every grader for NumPy and SciPy."""
    assert {path.name for path in installed.iterdir() if "dist-info" not in path.name} == {
        "causal_exams",
        "grader",
    }
    assert (installed / "grader" / "schemas" / "answers" / "sign.json").is_file()
    assert (installed / "grader" / "reports" / "sql" / "slices.sql").is_file()
    assert (installed / "grader" / "tracks" / "causalds" / "sql" / "readings.sql").is_file()


def test_the_wheel_alone_grades_and_writes_workspaces(
    installed: Path, mini_release: Path, tmp_path: Path
) -> None:
    """A missing package-data file shows only where the checkout is not there to help."""
    release = ["--release", str(mini_release)]
    gold = run(installed, tmp_path, "grader", "gold", *release, "--out", "gold")
    assert gold.returncode == 0, gold.stderr
    graded = run(installed, tmp_path, "grader", "./gold", *release, "--html", "page.html")
    assert graded.returncode == 0, graded.stderr
    assert "100.0" in graded.stdout
    work = run(installed, tmp_path, "grader", "workspace", *release, "--out", "work")
    assert work.returncode == 0, work.stderr
    exams = str(mini_release / "public" / "*_exams" / "*.parquet")
    with duckdb.connect() as connection:
        query = "SELECT count(*) FROM read_parquet(?) WHERE exam = 'mini'"
        counted = connection.execute(query, [exams])
        (asked,) = counted.fetchone() or (0,)
    assert len(list((tmp_path / "work").iterdir())) == asked
