"""Every program ends without a word where nobody reads the rest of what it prints."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = re.compile(r"^if __name__ == .__main__.:\n", re.MULTILINE)


def programs(root: Path) -> list[Path]:
    folders = ("builder", "grader", "causal_exams", "baselines", "benchmarks")
    files = [
        root / "build_dataset.py",
        *(f for name in folders for f in (root / name).rglob("*.py")),
    ]
    return [file for file in files if PROGRAMS.search(file.read_text(encoding="utf-8"))]


def test_every_program_ends_by_the_one_rule_for_closed_pipes(root: Path) -> None:
    """`… | head` would otherwise end with a traceback, in whichever program forgot."""
    found = programs(root)
    assert len(found) >= 5
    for file in found:
        end = PROGRAMS.split(file.read_text(encoding="utf-8"))[-1]
        assert end == "    exit_with(main)\n", file


@pytest.mark.parametrize(
    ("words", "unbuffered"),
    [
        (("-m", "grader", "--help"), ""),  # what is buffered is written at the end
        (("build_dataset.py", "plan", "splits/ccr-paper.toml"), ""),  # rich ends it
        (("build_dataset.py", "new-secret"), "1"),  # the command itself meets the pipe
    ],
)
def test_a_closed_pipe_is_no_failure(root: Path, words: tuple[str, ...], unbuffered: str) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, *words], cwd=root, stdout=write, stderr=subprocess.PIPE, check=False,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
    finally:
        os.close(write)
    assert (done.returncode, done.stderr.decode()) == (0, "")
