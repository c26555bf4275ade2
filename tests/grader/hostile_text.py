"""Text that acts on terminals and pages where it is printed as it came, and who looks for it."""

import unicodedata
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest

from grader.commands.main import main

FORGED = "FAIL forged"
TAG = "<script>x"
EVIL = (
    f"e\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31m\x7f\u202e\u2066\u200b\ufeff[red]{TAG}a"
    + "\u0301" * 30
    + f"\n{FORGED}\r{FORGED}"
)
_SUFFIXES = (".html", ".md", ".json", ".jsonl", ".yaml", ".toml")
_VERBATIM = ("prompt.md", "story.md", "instruction.md")
"""Files that hold a release's text for a model, as it is."""


def check_characters(text: str, what: object) -> None:
    """No character of ``text`` acts on who reads it."""
    for character in set(text) - set("\n\t"):
        assert unicodedata.category(character) not in ("Cc", "Cf"), (what, character, text)


def check_printable(text: str, what: object) -> None:
    """Nothing in ``text`` acts on a terminal, stands above its line or forges a line."""
    check_characters(text, what)
    for kind, run in groupby(text, lambda c: unicodedata.category(c)[0]):
        assert kind != "M" or len(list(run)) <= 4, (what, text)
    assert not any(line.startswith(FORGED) for line in text.splitlines()), (what, text)


def check_files(folder: Path) -> None:
    """Nothing in the documents below ``folder`` acts on who reads or opens them."""
    for file in folder.rglob("*"):
        if file.suffix in _SUFFIXES and file.is_file() and file.name not in _VERBATIM:
            text = file.read_text(encoding="utf-8")
            check_characters(text, file)
            assert file.suffix != ".html" or TAG not in text, file


def check_runs(
    capsys: pytest.CaptureFixture[str],
    written: Path,
    commands: list[list[object]],
    program: Callable[[list[str]], int] = main,
) -> list[int]:
    """Run commands, whatever comes of them, check all that they print and that is in ``written``;
    return their exit codes."""
    codes = []
    for words in commands:
        capsys.readouterr()
        codes.append(program([str(word) for word in words]))
        for text in capsys.readouterr():
            check_printable(text, words)
    check_files(written)
    return codes
