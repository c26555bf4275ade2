"""``build_dataset.py floors``: what knowing nothing earns in an exam."""

import argparse
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from builder.cli.command import OK, Command, add_workers
from grader.errors import UsageError
from grader.names import did_you_mean

if TYPE_CHECKING:
    from builder.release.config import ReleaseConfig
    from builder.release.floors import Twin

SEED: Final = "causal-exams floors 1"
TASKS: Final = 200

EVERY: Final = "all"


def _add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("toml", type=Path, metavar="TOML", help="the split file")
    parser.add_argument("exam", metavar="EXAM", help=f"one of its exams, or {EVERY}")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="where the files go (default: floors beside TOML)"
    )
    parser.add_argument(
        "--seed", default=SEED, metavar="TEXT", help=f"the twin's public seed (default: {SEED})"
    )
    parser.add_argument(
        "--tasks",
        type=int,
        default=TASKS,
        metavar="N",
        help=f"hidden worlds of a variant at least (default: {TASKS})",
    )
    add_workers(parser)
    parser.add_argument("--quiet", action="store_true", help="show warnings and errors only")


def _floors(options: argparse.Namespace) -> int:
    from builder.floors.measure import measure_exams
    from builder.release.config import load_config
    from builder.release.floors import floors_file, write_floors
    from builder.release.show.progress import Reporter

    if options.tasks < 1:
        raise UsageError(f"--tasks {options.tasks}: give a whole number from 1 on")
    config = load_config(options.toml)
    twins = _chosen(config, options.exam)
    folder = options.out or floors_file(options.toml, options.exam).parent
    reporter = Reporter(options.quiet)
    unfinished = folder / ".unfinished"
    found = measure_exams(
        twins,
        options.seed,
        unfinished,
        tasks=options.tasks,
        workers=options.workers,
        reporter=reporter,
    )
    for exam, floors in found.items():
        file = write_floors(folder, exam, options.seed, twins[exam], floors)
        print(file)
    shutil.rmtree(unfinished, ignore_errors=True)
    return OK


def _chosen(config: "ReleaseConfig", wanted: str) -> "dict[str, dict[str, Twin]]":
    """The twins of the exams that are asked for, by exam and track; raises ``UsageError``."""
    from builder.release.floors import twins_of

    found: dict[str, dict[str, Any]] = {}
    for split in config.splits:
        for exam in split.exams:
            twins = twins_of(split, exam)
            for track, twin in twins.items():
                known = found.setdefault(exam.name, {}).setdefault(track, twin)
                if (known.sha256(track), known.variants) != (twin.sha256(track), twin.variants):
                    raise UsageError(
                        f"{config.path}: splits.{split.name}.exams.{exam.name}: {track} is drawn "
                        "by other rules in another split; one exam has one floor, so give them "
                        "different names"
                    )
    if wanted == EVERY:
        return found
    if wanted not in found:
        hint = did_you_mean(wanted, [*found, EVERY])
        raise UsageError(f"{wanted}: no such exam in {config.path}{hint}")
    return {wanted: found[wanted]}


FLOORS: Final = Command(
    "floors",
    "measure what knowing nothing earns in an exam",
    (
        "floors splits/mini.toml mini",
        "floors splits/main.toml all --workers 2",
        "floors splits/mini.toml mini --seed another --out elsewhere",
    ),
    _add,
    _floors,
)
