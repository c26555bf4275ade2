"""The import commands of ``build_dataset.py``. Heavy imports wait until a command needs them."""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

Add = Callable[..., argparse.ArgumentParser]


OK, REFUSED = 0, 1


def add_imports(
    commands: Any,
    add: Add,
    add_workers: Callable[[argparse.ArgumentParser], None],
    gate: Callable[..., Any],
) -> None:
    """Declare the import commands; ``add`` is how every command is declared."""
    causalab = add(
        commands,
        "import-causalab",
        partial(_import_causalab, gate=gate),
        "complete the public causalab reference's models into episodes, as a release",
        "import-causalab causalab_dataset --out imported",
        "import-causalab causalab_dataset --out imported --seeding own",
    )
    _causalab_arguments(causalab)
    add_workers(causalab)
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
    return OK


def _import_ccr(options: argparse.Namespace) -> int:
    from builder.importing.ccr.reading import import_tables

    print(import_tables(options.tables, options.out))
    return OK


def _causalab_arguments(parser: argparse.ArgumentParser) -> None:
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


def _import_causalab(options: argparse.Namespace, gate: Callable[..., Any]) -> int:
    from builder.importing.causalab.command import import_config
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
