"""The two paths in CONTRIBUTING.md, and how much of the project a newcomer meets on them."""

import inspect
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

STEP = re.compile(r"^\d+\. `([\w.]+)`$", re.MULTILINE)


def steps(root: Path, title: str) -> list[str]:
    """The names listed under a heading."""
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return STEP.findall(text.partition(f"### {title}\n")[2].partition("\n### ")[0])


def resolved(name: str) -> object:
    """The function, or the member of a record, that a dotted name stands for."""
    module, _, rest = name.rpartition(".")
    try:
        return getattr(import_module(module), rest)
    except ModuleNotFoundError:
        module, _, owner = module.rpartition(".")
        return getattr(getattr(import_module(module), owner), rest)


@pytest.mark.parametrize("title", ["The path of one scene", "The path of one answer"])
def test_a_path_is_short_and_every_step_exists(root: Path, title: str) -> None:
    """A guide that names a function that was renamed sends its reader away."""
    names = steps(root, title)
    assert 10 <= len(names) <= 15
    assert len(set(names)) == len(names)
    for name in names:
        assert resolved(name) is not None


@pytest.mark.parametrize("name", ["builder.build.build_release", "grader.pipeline.grade"])
def test_a_program_is_shown_as_it_is_and_fits_a_screen(root: Path, name: str) -> None:
    """Whoever reads the two has seen the project: so they must be the real ones."""
    function = resolved(name)
    assert callable(function)
    code = inspect.getsource(function)
    assert f"```python\n{code}```" in (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert len(code.splitlines()) <= 60


LIMITS = {
    "one answer": (365, 62),
    "all answers": (520, 66),
    "causalds/dev/3": (760, 150),
    "ccr/dev/0": (515, 142),
}
"""Functions and files, class bodies and what runs at import included. They may only fall, but
for checks that safety asks for: opening a release made elsewhere took sixteen functions more, and
reading the inputs and truths of every track with their checks some fifty."""


@pytest.mark.slow
@pytest.mark.parametrize("path", LIMITS)
def test_a_path_through_the_project_grows_no_longer(path, root, mini_release, tmp_path):
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
