"""The two paths in CONTRIBUTING.md, which a newcomer follows function by function."""

import inspect
import re
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
