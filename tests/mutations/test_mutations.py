"""Sixty faults, one of each put into a copy of the tree: the test named for it must fail.

``mutations.toml`` lists them: ``file``, ``old`` text that stands there once, ``new`` text in its
place, and ``killed_by``, the node of a fast test. Code that moves takes its mutation with it.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parent.parent.parent
MUTATIONS: Final[list[dict[str, str]]] = tomllib.loads(
    Path(__file__).with_name("mutations.toml").read_text(encoding="utf-8")
)["mutation"]
NAMES: Final = [f"{number}-{one['file']}" for number, one in enumerate(MUTATIONS, start=1)]
PARTS: Final = (
    "baselines", "benchmarks", "builder", "causal_exams", "dataset_card", "grader",
    "schemas", "splits", "tests", "build_dataset.py", "pyproject.toml",
)  # fmt: skip


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of everything that tests import or read."""
    folder = tmp_path_factory.mktemp("copy")
    for name in PARTS:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder)
    return folder


def run(copy: Path, *nodes: str) -> subprocess.CompletedProcess[str]:
    """Run tests in the copy, until the first that fails."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *nodes]
    # Bytecode is told apart by seconds and sizes of files: two mutations can have both alike.
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    environment = {k: v for k, v in environment.items() if not k.startswith("PYTEST_")}
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)


def test_there_are_sixty() -> None:
    """Fewer would be fewer eyes: a mutation moves with its code, or another takes its place."""
    assert len(MUTATIONS) == 60
    assert len({(one["file"], one["old"]) for one in MUTATIONS}) == 60


@pytest.mark.parametrize("one", MUTATIONS, ids=NAMES)
def test_a_mutation_still_applies(one: dict[str, str]) -> None:
    """Text that is gone, or stands twice, would be a mutation of nothing."""
    assert (ROOT / one["file"]).read_text(encoding="utf-8").count(one["old"]) == 1
    assert one["new"] != one["old"]
    file, _, name = one["killed_by"].partition("::")
    assert f"def {name.partition('[')[0]}(" in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("folder", sorted({one["killed_by"].split("/")[1] for one in MUTATIONS}))
def test_the_copy_passes(copy: Path, folder: str) -> None:
    """A test that fails without any mutation would kill all of them."""
    nodes = dict.fromkeys(one["killed_by"] for one in MUTATIONS)
    done = run(copy, *(node for node in nodes if node.startswith(f"tests/{folder}/")))
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize("one", MUTATIONS, ids=NAMES)
def test_a_mutation_is_killed(copy: Path, one: dict[str, str]) -> None:
    """The named test runs and fails: 1, where a broken import or a missing test give 2 and more."""
    file = copy / one["file"]
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(one["old"], one["new"]), encoding="utf-8")
    try:
        done = run(copy, one["killed_by"])
    finally:
        file.write_text(text, encoding="utf-8")
    assert done.returncode == 1, done.stdout[-2000:] + done.stderr[-2000:]
