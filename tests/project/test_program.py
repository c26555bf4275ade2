"""Our programs: one has the commands of all, and each ends without a word on a closed pipe; every
table and figure of the papers has a command that shows it: ``paper_rows.toml``."""

import ast
import contextlib
import importlib
import io
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from builder.commands.main import BUILDER
from builder.commands.main import main as build_dataset
from causal_exams.cli import COMMANDS as SITTING
from causal_exams.cli import PROGRAM, main
from grader.commands.main import COMMANDS, GRADER
from grader.commands.main import main as grader

ROOT = Path(__file__).parent.parent.parent
ROWS: dict[str, dict[str, list[str]]] = tomllib.loads(
    Path(__file__).with_name("paper_rows.toml").read_text(encoding="utf-8")
)
PLACES = {place for rows in ROWS.values() for places in rows.values() for place in places} | {
    # What writes the sections of a page, of several systems and of one.
    "python -m grader leaderboard answers/ --html board.html",
    "python -m grader grade answers/ --html report.html",
}


def table_rows(paper: str) -> Iterator[tuple[str, str]]:
    """What each row of a paper's table is about, and where it says that this is shown."""
    text = (ROOT / "docs" / "papers" / f"{paper}.md").read_text(encoding="utf-8")
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells[-1] in ("page", "command", "report", "docs"):
            link = re.search(r"\]\(\.\./(.+?)\)", cells[2])
            yield cells[0], f"docs/{link[1]}" if link else cells[2].strip("`")


@pytest.mark.parametrize("paper", sorted(ROWS))
def test_every_row_is_covered(paper: str) -> None:
    """A row that goes with the code that showed it would be missed by nobody."""
    found: dict[str, list[str]] = {}
    for label, place in table_rows(paper):
        found.setdefault(label, []).append(place)
    assert found == ROWS[paper]


def test_every_paper_has_its_rows() -> None:
    assert {file.stem for file in (ROOT / "docs" / "papers").glob("*.md")} == set(ROWS)


@pytest.mark.parametrize("place", sorted(PLACES))
def test_what_is_named_exists(place: str) -> None:
    """A section that was renamed, or an option that is gone, is found by no reader of the table."""
    if place.startswith("python "):
        check_command(place)
    elif place.startswith("docs/"):
        assert (ROOT / place).is_file()
    else:
        assert place in titles()


def check_command(line: str) -> None:
    """Assert that a command, each of its options and each split file it names exist."""
    _, *words = line.split()
    module = words[1] if words[0] == "-m" else ""
    if module == "grader":
        text = help_of(grader, words[2])
    elif module:
        assert find_spec(module) is not None
        return
    else:
        assert words[0] == "build_dataset.py"
        text = help_of(build_dataset, words[1])
    for word in words:
        if word.startswith("--"):
            assert re.search(rf"{word}\b", text), f"{line}: no {word}"
        if word.endswith(".toml"):
            assert (ROOT / word).is_file()


@cache
def help_of(main: Callable[[list[str]], int], command: str) -> str:
    """What ``--help`` of a command says."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):
        assert main([command, "--help"]) == 0
    assert f" {command} " in shown.getvalue()
    return shown.getvalue()


@cache
def titles() -> frozenset[str]:
    """Every text in the grader's sources that may be a title, without the track before it."""
    found = set()
    for file in (ROOT / "grader").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(re.sub(r"^\w+: ", "", node.value))
    for file in (ROOT / "grader").rglob("*.toml"):
        found |= set(re.findall(r'"([^"]+)"', file.read_text(encoding="utf-8")))
    return frozenset(found)


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
    + [(build_dataset, BUILDER.name, command) for command in sorted(BUILDER.all_commands)],
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
