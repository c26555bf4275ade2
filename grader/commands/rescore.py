"""After an erratum: grade stored submissions again by the new version of a release.

Rows of results that an older version of the same release graded are graded by --release, keep what
they said before, and get a line of the log. Prints what changed; --table FILE writes it as
Markdown.

examples:
  causal-exams rescore --from org/submissions --results org/results --release hf://org/exams@v0.1.1
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from grader.commands import evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.draw.table import Table
    from grader.hub.rescore import Change


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``rescore``."""
    evaluate.configure(parser)
    parser.add_argument("--table", type=Path, metavar="FILE", help="what changed, as Markdown")


def run(arguments: argparse.Namespace) -> int:
    """Grade again, record, and say what changed."""
    from grader.draw.table import in_terminal
    from grader.hub.client import connect
    from grader.hub.rescore import rescore
    from grader.hub.results import Results
    from grader.io.files import write_text
    from grader.show.terminal import console

    inbox, kept, desk = evaluate.read(arguments)
    with evaluate.alone(arguments.work):
        api = connect()
        found = rescore(api, inbox, Results(api, kept), desk, print)
    table = changed(found, desk.release.name)
    console().print(in_terminal(table))
    if arguments.table is not None:
        write_text(arguments.table, _markdown(table))
    return 0


def changed(found: "Sequence[Change]", release: str) -> "Table":
    """Figures and places before and after, of everyone who was rescored."""
    from grader.draw.table import Cell, Table
    from grader.draw.words import points

    head = ["system", "team", "place", "was", "skill", "was", "points", "was"]
    rows: list[list[str | Cell]] = [
        [
            Cell(change["system"], "name"),
            change["team"],
            *(str(change[when]["place"]) for when in ("after", "before")),
            *(points(change[when][f]) for f in ("skill", "points") for when in ("after", "before")),
        ]
        for change in found
    ]
    return Table(f"Rescored by {release}", head, rows, left=2)


def _markdown(table: "Table") -> str:
    """The table for an entry of ERRATA.md; names are shown as they are, not as markup."""
    lines = [list(map(str, row)) for row in (table.head, ["---"] * len(table.head), *table.rows)]
    safe = (
        [cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ") for cell in line]
        for line in lines
    )
    return f"{table.title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in safe)
