"""Our programs: one has the commands of all, and each ends without a word on a closed pipe."""

import importlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from builder.commands.main import BUILDER
from builder.commands.main import main as build
from causal_exams.cli import COMMANDS as SITTING
from causal_exams.cli import PROGRAM, main
from grader.commands.main import COMMANDS, GRADER


def test_the_script_is_the_dispatcher_of_both(root: Path) -> None:
    """An installed command that knows half of the commands would be found out by users only."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["scripts"]["causal-exams"].partition(":")
    assert callable(getattr(importlib.import_module(module), name))
    assert set(PROGRAM.all_commands) == set(GRADER.all_commands) | set(SITTING)
    assert not set(GRADER.all_commands) & set(SITTING)


@pytest.mark.parametrize(
    ("call", "program", "command"),
    [(main, PROGRAM.name, command) for command in sorted(PROGRAM.all_commands)]
    + [(build, BUILDER.name, command) for command in sorted(BUILDER.all_commands)],
)
def test_every_listed_command_is_there(call, program, command, capsys):
    """Its module is found by its name; ``--help`` names the program that was called."""
    assert call([command, "--help"]) == 0
    assert f"{program} {command} " in capsys.readouterr().out


def test_a_misspelt_command_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lbb"]) == 2
    assert "lab" in capsys.readouterr().err
    assert "grade" in COMMANDS and main([]) == 2 and main(["--version"]) == 0
    assert "usage: causal-exams" in capsys.readouterr().out


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
