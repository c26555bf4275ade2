"""``causal-exams``: one program with the commands of the grader and those of sitting an exam."""

import importlib
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


@pytest.mark.parametrize("command", sorted(PROGRAM.all_commands))
def test_every_listed_command_is_there(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """``--help`` of each names the program that was called."""
    assert main([command, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"usage: causal-exams {command} ")


def test_a_misspelt_command_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lbb"]) == 2
    assert "lab" in capsys.readouterr().err
    assert "grade" in COMMANDS and main([]) == 2 and main(["--version"]) == 0
    assert "usage: causal-exams" in capsys.readouterr().out


@pytest.mark.parametrize("command", sorted(BUILDER.all_commands))
def test_every_command_of_the_builder_is_there(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The module of a command is found by its name when the command is called."""
    assert build([command, "--help"]) == 0
    assert f"\n  {BUILDER.name} {command}" in capsys.readouterr().out
