"""The import commands of ``build_dataset.py``. Heavy imports wait until a command needs them."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from grader.errors import UsageError

Add = Callable[..., argparse.ArgumentParser]


def add_imports(commands: Any, add: Add) -> None:
    """Declare the import commands; ``add`` is how every command is declared."""
    causalds = add(
        commands,
        "import-causalds",
        _import_causalds,
        "turn a checkout of the public causalds reference into a release that can be graded",
        "import-causalds causalds/data/benchmark/main --out reference",
        "import-causalds causalds/data --out reference   (with both ablations)",
    )
    causalds.add_argument(
        "folder", type=Path, metavar="DIR", help="a folder with exam.json, or one of such folders"
    )
    causalds.add_argument(
        "--out", type=Path, required=True, metavar="RELEASE", help="the release to write"
    )
    ccr = add(
        commands,
        "import-ccr",
        _import_ccr,
        "turn the public ccr reference's raw tables into a release with exact truth",
        "import-ccr flu_vaccine.csv --out imported",
    )
    ccr.add_argument("tables", type=Path, nargs="+", metavar="TABLE", help="CSV or Parquet")
    ccr.add_argument(
        "--out", type=Path, required=True, metavar="RELEASE", help="the release to write"
    )


def refuse_imported(manifest: Mapping[str, Any], folder: Path) -> None:
    """Raises ``UsageError`` for a release that was imported: its hidden worlds are not known."""
    if "imported" in manifest["configuration"]:
        raise UsageError(
            f"{folder}: an imported release, whose worlds are not known here; check it with "
            "`python -m grader verify`"
        )


def _import_causalds(options: argparse.Namespace) -> int:
    import shlex

    from builder.importing.causalds.command import import_causalds

    summaries = import_causalds(options.folder, options.out)
    for summary in summaries:
        for line in summary.lines():
            print(line)
    out = shlex.quote(str(options.out))
    several = f" --split {summaries[0].split}" if len(summaries) > 1 else ""
    print(
        f"{options.out}: written; corrected truths are listed in {options.out / 'IMPORT.md'}\n"
        f"next: python -m grader answers/ --release {out}{several}\n"
        f"      python -m grader answers/ --release {out}{several} --truth corrected"
    )
    return 0


def _import_ccr(options: argparse.Namespace) -> int:
    from builder.ccr.importing import import_tables

    print(import_tables(options.tables, options.out))
    return 0
