"""The command line of a track's generation report: a written release in, Markdown out."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from builder.gate.tables import split_tables
from grader.errors import UsageError

Record = Mapping[str, Any]
"""What a world row or a truth row holds as JSON."""

Parts = Callable[[Sequence[Record], Mapping[str, Record]], Sequence[str]]
"""The worlds of a split and the truths of its tasks by id -> the report's parts, as Markdown."""


def print_report(
    track: str, about: str | None, parts: Parts, arguments: Sequence[str] | None = None
) -> int:
    """Print the report of the release that the arguments name; 2 where it is unusable.

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
    worlds = [json.loads(row["world_json"]) for row in table.worlds.values()]
    truths = {task: json.loads(row["target_json"]) for task, row in table.truth.items()}
    head = f"# Generation report: {track}, split {options.split}"
    print("\n\n".join([head, *parts(worlds, truths)]))
    return 0


def markdown_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A titled table."""
    lines = [f"## {title}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines)
