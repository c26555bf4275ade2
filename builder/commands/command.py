"""What a command of ``build_dataset.py`` is, and what several of them share.

Heavy imports wait inside the functions that need them: ``--help`` needs no numerical library.
"""

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.errors import UsageError
from grader.io.processors import processors

PROGRAM: Final = "python build_dataset.py"
OK, FAILED, UNUSABLE, BUG, INTERRUPTED = 0, 1, 2, 3, 130


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its name, one line about it, examples, its arguments, and what it does.

    ``run`` returns the exit code; ``arguments`` declares the options on the command's parser.
    """

    name: str
    about: str
    examples: tuple[str, ...]
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def add_release(parser: argparse.ArgumentParser) -> None:
    """The release to look at."""
    parser.add_argument("release", type=Path, metavar="RELEASE", help="a release folder")


def add_written_release(parser: argparse.ArgumentParser) -> None:
    """``--out`` of a command that has no release to fall back on."""
    parser.add_argument(
        "--out", type=Path, required=True, metavar="RELEASE", help="the release to write"
    )


def add_workers(parser: argparse.ArgumentParser) -> None:
    """``--workers``."""
    parser.add_argument(
        "--workers",
        type=_positive,
        default=processors(),
        metavar="N",
        help="worker processes (default: one per CPU that this process may use)",
    )


def cluster_of(options: argparse.Namespace) -> str | None:
    """The address of the Ray cluster that ``--engine`` names, None for processes of this machine;
    raises ``UsageError``."""
    kind, _, address = options.engine.partition(":")
    if kind == "ray":
        return str(address)
    if options.engine != "processes":
        raise UsageError(
            f"--engine {options.engine}: no such engine; write processes, ray or ray:ADDRESS"
        )
    return None


def add_domains(parser: argparse.ArgumentParser) -> None:
    """``--domains``."""
    parser.add_argument(
        "--domains", type=Path, metavar="DIR",
        help="a folder of story domains of your own, told beside ours (see new-domain)",
    )  # fmt: skip


def use_domains(folder: Path) -> None:
    """Tell stories with the domains of a folder as well; raises ``UsageError`` for what is wrong
    with one of them."""
    from builder.stories.knowledge import OWN, read_domain
    from builder.stories.lint import lint_domains

    paths = sorted(folder.glob("*.toml")) if folder.is_dir() else []
    if not paths:
        raise UsageError(f"--domains {folder}: no domain in it; `{PROGRAM} new-domain` begins one")
    if problems := lint_domains([read_domain(path) for path in paths]):
        raise UsageError(
            f"--domains {folder}: {problems[0]} ({len(problems)} problems in all; "
            f"`{PROGRAM} new-domain {folder}/*.toml` lists them)"
        )
    os.environ[OWN] = str(folder.resolve())


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if not 1 <= number <= 100_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no positive whole number")
    return number
