"""The grader as a process of its own: what it imports, and how it ends."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEAVY = (
    "numpy",
    "jinja2",
    "markdown_it",
    "pandas",
    "pyarrow",
    "datasets",
    "scipy",
    "sklearn",
    "builder",
    "causal_exams",
)


def python(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("CAUSAL_EXAMS")}
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False,
        env=inherited | environment, encoding="utf-8",
    )  # fmt: skip


def test_grading_loads_none_of_the_builders_libraries(
    release: Path, gold: Path, tmp_path: Path
) -> None:
    """NumPy waits for an interval, Jinja2 and Markdown for a page."""
    code = (
        "import json, sys; from grader.commands.main import main\n"
        "code = main(sys.argv[1:])\n"
        f"print(json.dumps([code, sorted(set({HEAVY!r}) & set(sys.modules))]))"
    )
    outputs = [w for k in ("json", "csv", "parquet") for w in (f"--{k}", str(tmp_path / k))]
    for words, loaded in (
        (["validate", str(gold)], []),
        (["grade", str(gold), *outputs], ["numpy"]),
        (
            ["grade", str(gold), "--html", str(tmp_path / "html")],
            ["jinja2", "markdown_it", "numpy"],
        ),
        (["workspace", "--out", str(tmp_path / "w")], []),
        (["pack", str(gold), "--name", "x", "--out", str(tmp_path / "p.parquet")], []),
    ):
        done = python("-c", code, *words, "--release", str(release), "--split", "dev")
        assert json.loads(done.stdout.splitlines()[-1]) == [0, loaded], done.stderr


def test_a_terminal_that_knows_only_ascii_is_no_reason_to_fail(release: Path, gold: Path) -> None:
    """Tables have arrows and boxes; a log file of a build server may not."""
    words = ("-m", "grader", str(gold), "--release", str(release), "--split", "dev")
    done = python(*words, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
