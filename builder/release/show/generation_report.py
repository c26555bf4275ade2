"""The command line of a track's generation report: a written release in, Markdown out."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from builder.gate.tables import SplitTables, split_tables
from grader.errors import UsageError


def print_report(
    track: str,
    about: str | None,
    report: Callable[[SplitTables], str],
    arguments: Sequence[str] | None = None,
) -> int:
    """Print ``report`` of the release that the arguments name; 2 where it is unusable.

    ``about`` is the text of ``--help``.
    """
    parser = argparse.ArgumentParser(
        f"python -m builder.{track}.show.statistics",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("release", type=Path)
    parser.add_argument("--split", default="dev")
    options = parser.parse_args(arguments)
    try:
        table = split_tables(options.release, track, options.split)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(report(table))
    return 0


def markdown_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A titled table."""
    lines = [f"## {title}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines)
