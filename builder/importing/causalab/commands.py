"""``build_dataset.py import-causalab``."""

import argparse
from pathlib import Path
from typing import Final

from builder.cli.build import build_gated
from builder.cli.command import FAILED, OK, Command, add_engine, add_workers, add_written_release

EPISODES: Final = "builder.importing.causalab.episodes:TRACK"
"""The track whose episodes are read instead of drawn."""


def _add_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="its folder of .jsonl files")
    add_written_release(parser)
    parser.add_argument(
        "--seeding",
        choices=("reference", "own"),
        default="reference",
        help="prior observations: the reference's fixed stream, or drawn for each episode "
        "(default: reference)",
    )
    parser.add_argument("--fresh", action="store_true", help="replace a finished release")
    parser.add_argument("--quiet", action="store_true", help="show warnings and errors only")
    add_workers(parser)
    add_engine(parser)


def _import(options: argparse.Namespace) -> int:
    from builder.importing.causalab.episodes import TRACK, import_config
    from builder.release.roots import read_roots
    from builder.release.show.progress import Reporter
    from builder.release.show.told import describe_outcome
    from builder.tracks import TRACKS

    reporter = Reporter(options.quiet)
    config = import_config(options.folder, options.seeding)
    roots, _ = read_roots(config)
    with TRACKS.replaced(TRACK.name, EPISODES):
        outcome = build_gated(config, roots, options, reporter)
    if outcome.status == "refused by the gate":
        return FAILED
    describe_outcome(outcome, options.out, reporter)
    return OK


IMPORT: Final = Command(
    "import-causalab",
    "complete the public causalab reference's models into episodes, as a release",
    (
        "import-causalab causalab_dataset --out imported",
        "import-causalab causalab_dataset --out imported --seeding own",
    ),
    _add_import,
    _import,
)
