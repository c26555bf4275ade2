"""The commands that read other projects' data. Heavy imports wait until one runs."""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

OK, REFUSED = 0, 1


def add_ccr_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``import-ccr``."""
    parser.add_argument("tables", type=Path, nargs="+", metavar="TABLE", help="CSV or Parquet")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to write")


def import_ccr(options: argparse.Namespace) -> int:
    """Raw tables to contexts and samples; raises ``UsageError``."""
    from builder.ccr.importing import import_tables

    print(import_tables(options.tables, options.out))
    return OK


def add_causalab_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``import-causalab``."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="its folder of .jsonl files")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="RELEASE", help="the release to write"
    )
    parser.add_argument(
        "--seeding",
        choices=("reference", "own"),
        default="reference",
        help="prior observations: the reference's fixed stream, or drawn for each episode "
        "(default: reference)",
    )
    parser.add_argument("--fresh", action="store_true", help="replace a finished release")
    parser.add_argument("--quiet", action="store_true", help="show warnings and errors only")


def import_causalab(options: argparse.Namespace, gate: Callable[..., Any]) -> int:
    """Models to a release of episodes with public truth; raises ``UsageError``."""
    from builder.causalab.importing import import_config
    from builder.release.build import build_release
    from builder.release.progress import Reporter
    from builder.release.roots import read_roots
    from builder.release.summary import describe_outcome

    reporter = Reporter(options.quiet)
    config = import_config(options.folder, options.seeding)
    roots, _ = read_roots(config)
    outcome = build_release(
        config,
        options.out,
        roots,
        partial(gate, workers=options.workers),
        workers=options.workers,
        fresh=options.fresh,
        reporter=reporter,
    )
    if outcome.status == "refused by the gate":
        assert outcome.gate is not None
        print(outcome.gate.markdown, file=sys.stderr)
        return REFUSED
    describe_outcome(outcome, options.out, reporter)
    return OK
