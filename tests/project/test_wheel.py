"""The wheel alone must grade: that is how most people will have the grader."""

import os
import subprocess
import sys
from pathlib import Path

import duckdb

SCRIPT = """
import sys
from grader.commands.main import main
release = ["--release", sys.argv[1]]
assert main(["gold", *release, "--out", "gold"]) == 0
assert main(["./gold", *release, "--html", "page.html"]) == 0
assert main(["workspace", *release, "--out", "work"]) == 0
"""


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
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(mini_release)], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "100.0" in done.stdout
    exams = str(mini_release / "public" / "*_exams" / "*.parquet")
    with duckdb.connect() as connection:
        query = "SELECT count(*) FROM read_parquet(?) WHERE exam = 'mini'"
        counted = connection.execute(query, [exams])
        (asked,) = counted.fetchone() or (0,)
    assert len(list((tmp_path / "work").iterdir())) == asked
