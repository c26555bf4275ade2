"""What several commands of ``build_dataset.py`` share: options, exit codes, tables."""

import argparse
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from builder.commands.main import PROGRAM
from builder.splits.track import Composition
from builder.stories.knowledge import OWN, read_domain
from builder.stories.lint import lint_domains
from builder.stories.texts import markdown_table
from grader.commands.common import positive
from grader.errors import UsageError
from grader.io.process import processors

OK, FAILED, BUG = 0, 1, 3
"""Exit codes."""

_OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    "release": {"type": Path, "metavar": "RELEASE", "help": "a release folder"},
    "--workers": {
        "type": positive,
        "default": processors(),
        "metavar": "N",
        "help": "worker processes (default: one per CPU that this process may use)",
    },
    "--domains": {
        "type": Path,
        "metavar": "DIR",
        "help": "a folder of story domains of your own, told beside ours (see new-domain)",
    },
    "--quiet": {"action": "store_true", "help": "show warnings, errors and the result only"},
}


def add(parser: argparse.ArgumentParser, *names: str) -> None:
    """Declare on ``parser`` the shared options called ``names`` (keys of ``_OPTIONS``)."""
    for name in names:
        parser.add_argument(name, **_OPTIONS[name])


def use_domains(folder: Path | None) -> None:
    """Let this process and its workers tell stories with the domains in ``folder`` as well, by the
    variable ``OWN``. Raises ``UsageError`` where it has no domain or one with a problem."""
    if folder is None:
        return
    paths = sorted(folder.glob("*.toml")) if folder.is_dir() else []
    if not paths:
        raise UsageError(f"--domains {folder}: no domain in it; `{PROGRAM} new-domain` begins one")
    if problems := lint_domains([read_domain(path) for path in paths]):
        raise UsageError(
            f"--domains {folder}: {problems[0]} ({len(problems)} problems in all; "
            f"`{PROGRAM} new-domain {folder}/*.toml` lists them)"
        )
    os.environ[OWN] = str(folder.resolve())


def build_line(toml: Path, domains: Path | None) -> str:
    """Return the command that builds a split file, told with the domains in a folder (or None)."""
    words = ["build", toml, *(() if domains is None else ("--domains", domains))]
    return f"{PROGRAM} {shlex.join(map(str, words))}"


def composition_table(title: str, composition: Composition) -> str:
    """Return a Markdown table of requested beside realised counts, a row per axis and level."""
    rows = [
        [axis, level, f"{counts['requested']:g}", f"{counts['realised']:g}"]
        for axis, levels in composition.items()
        for level, counts in levels.items()
    ]
    return markdown_table(title, ("axis", "level", "requested", "realised"), rows)
