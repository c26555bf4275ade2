"""``build_dataset.py import-ccr``."""

import argparse
from pathlib import Path
from typing import Final

from builder.cli.command import OK, Command, add_written_release


def _add_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tables", type=Path, nargs="+", metavar="TABLE", help="CSV or Parquet")
    add_written_release(parser)


def _import(options: argparse.Namespace) -> int:
    from builder.importing.ccr.tasks import import_tables

    print(import_tables(options.tables, options.out))
    return OK


IMPORT: Final = Command(
    "import-ccr",
    "turn the public ccr reference's raw tables into a release with exact truth",
    ("import-ccr flu_vaccine.csv --out imported",),
    _add_import,
    _import,
)
