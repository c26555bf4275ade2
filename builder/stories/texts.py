"""Texts of prompts and stories, kept as TOML beside their module; tables in Markdown."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any, Final


class Texts:
    """The texts of the file named like a module: ``Texts(__file__)`` of wording.py: wording.toml.

    A text of a table is asked for by its path ("question.ordered"); ``$slot`` in a text is where a
    value goes. Raises ``KeyError`` for a text or a value that is not there.
    """

    def __init__(self, module: str) -> None:
        file = Path(module).with_suffix(".toml")
        self._file: Final[Mapping[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8"))

    def __getitem__(self, path: str) -> Any:
        """Return what the file holds under ``path``."""
        found: Any = self._file
        for key in path.split("."):
            found = found[key]
        return found

    def __call__(self, path: str, **values: object) -> str:
        """Return the text at ``path`` with its slots filled."""
        return Template(self[path]).substitute(values)

    def lines(self, path: str) -> tuple[str, ...]:
        """Return the list of texts at ``path``."""
        return tuple(self[path])


def markdown_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown under a heading."""
    lines = [f"## {title}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines)
