"""How much of the project a newcomer meets who follows one command through it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LIMITS = {
    "one answer": (417, 75),
    "all answers": (598, 79),
    "causalds/dev/3": (900, 180),
    "ccr/dev/0": (580, 170),
}
"""Functions and files, class bodies and what runs at import included. They may only fall, but
for checks that safety asks for: opening a release made elsewhere took sixteen functions more, and
reading the inputs and truths of every track with their checks some fifty."""


@pytest.mark.slow
@pytest.mark.parametrize("path", LIMITS)
def test_a_path_through_the_project_grows_no_longer(
    path: str, root: Path, mini_release: Path, tmp_path: Path
) -> None:
    if "/" in path:
        command = ["build_dataset.py", "build", "splits/mini.toml", "--only", path]
    else:
        at = ["--release", str(mini_release), "--exam", "mini"]
        answers = tmp_path / "answers"
        gold = [sys.executable, "-m", "grader", "gold", *at, "--out", str(answers)]
        subprocess.run(gold, cwd=root, check=True, capture_output=True)
        if path == "one answer":
            first = min(answers.iterdir())
            answers = tmp_path / "one"
            answers.mkdir()
            shutil.copy(first, answers)
        command = ["grader", "grade", str(answers), *at]
    script = str(Path(__file__).with_name("entered.py"))
    run = subprocess.run(
        [sys.executable, script, *command], cwd=root, capture_output=True, text=True, check=True
    )
    found = tuple(map(int, run.stderr.split()[-2:]))
    assert found[0] <= LIMITS[path][0] and found[1] <= LIMITS[path][1], found
