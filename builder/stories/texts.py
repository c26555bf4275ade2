"""Texts of prompts and stories, kept as TOML beside their module; tables in Markdown."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any, Final


class Texts:
    """The texts of the TOML file beside a module: ``Texts(__file__)`` in wording.py: wording.toml.
    A text in a table has a dotted path ("question.ordered"). ``$slot`` is where a call puts a
    value. Raises ``KeyError`` for a path that the file lacks, and for a slot without value."""

    def __init__(self, module: str) -> None:
        file = Path(module).with_suffix(".toml")
        self._file: Final[Mapping[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8"))

    def __getitem__(self, path: str) -> Any:
        """Return the text, list or table at a dotted ``path``, slots unfilled."""
        found: Any = self._file
        for key in path.split("."):
            found = found[key]
        return found

    def __call__(self, path: str, **values: object) -> str:
        """Return the text at ``path`` with each ``$slot`` replaced by the value of that name."""
        return Template(self[path]).substitute(values)

    def lines(self, path: str) -> tuple[str, ...]:
        """Return the list of texts at ``path``, slots unfilled."""
        return tuple(self[path])


def markdown_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table under the level-2 heading ``title``; ``head`` names the columns."""
    lines = [f"## {title}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines)
