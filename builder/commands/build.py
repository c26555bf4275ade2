"""``build_dataset.py build``, ``plan`` and ``exam``: what split and exam files ask for."""

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from builder.commands import command
from builder.commands.command import BUG, FAILED, OK, PROGRAM, Command, add_domains, add_workers
from grader.errors import UsageError

if TYPE_CHECKING:
    from builder.build import Outcome
    from builder.release.progress import Reporter
    from builder.splits.config import ReleaseConfig


def _add_split_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("toml", type=Path, metavar="TOML", help="the split file")
    add_domains(parser)


def _add_build(parser: argparse.ArgumentParser) -> None:
    _add_split_file(parser)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("release"),
        metavar="DIR",
        help="the release to write (default: release)",
    )
    add_workers(parser)
    parser.add_argument(
        "--engine",
        default="processes",
        metavar="ENGINE",
        help="processes (default), or ray[:ADDRESS]: the workers of a cluster",
    )
    parser.add_argument(
        "--staging",
        metavar="URL",
        help="where workers that share no folder leave their parts, such as s3://bucket/parts",
    )
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="use nothing of an earlier run; replace a finished release",
    )
    parser.add_argument(
        "--only",
        metavar="TRACK/SPLIT/INDEX",
        help="build this instance alone and print its rows' summary as JSON",
    )
    parser.add_argument(
        "--update-lock", action="store_true", help="write the content hashes to TOML's .lock.json"
    )
    parser.add_argument("--quiet", action="store_true", help="show warnings and errors only")


def _build(options: argparse.Namespace) -> int:
    from builder.build import build_alone, build_release
    from builder.release.engine import InstanceFailed, WorkerDied
    from builder.release.progress import Reporter
    from builder.splits.config import load_config
    from builder.splits.roots import read_roots
    from builder.tracks import TRACKS
    from grader.io.jsonio import pretty

    reporter = Reporter(options.quiet)
    config = load_config(options.toml, TRACKS)
    roots, warnings = read_roots(config)
    for warning in warnings:
        reporter.warn(warning)
    try:
        if options.only is not None:
            print(pretty(build_alone(config, roots, options.only)), end="")
            return OK
        outcome = build_release(
            config,
            options.out,
            roots,
            cluster=command.cluster_of(options),
            staging=options.staging,
            workers=options.workers,
            fresh=options.fresh,
            reporter=reporter,
        )
    except InstanceFailed as error:
        print(
            f"{error.details}\nbug in the builder at {error.label}: {error.summary}\nrebuild it "
            f"alone: {PROGRAM} build {shlex.quote(str(options.toml))} --only {error.label}",
            file=sys.stderr,
        )
        return BUG
    except WorkerDied as error:
        print(
            f"error: {error}; finished parts are kept: run the same command again, with fewer "
            f"--workers if memory ran out, or build one of them alone: {PROGRAM} build "
            f"{shlex.quote(str(options.toml))} --only TRACK/SPLIT/INDEX",
            file=sys.stderr,
        )
        return BUG
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(
            f"--out {options.out}: {error.strerror or error} ({error.filename or 'writing'}); "
            "make room or name another folder, then run the same command again"
        ) from None
    return _conclude(options, config, outcome, reporter)


def _conclude(
    options: argparse.Namespace, config: "ReleaseConfig", outcome: "Outcome", reporter: "Reporter"
) -> int:
    """What a person wants to know after a build."""
    from builder.commands.report import describe_outcome, report_lock

    if outcome.status == "refused by the gate":
        assert outcome.gate is not None
        print(outcome.gate.markdown, file=sys.stderr)
        print(
            f"the gate refused the release, which stays in {outcome.folder}; {options.out} was "
            f"not touched: see {outcome.folder / 'GATE.md'}, mend, run the same command again",
            file=sys.stderr,
        )
        return FAILED
    report_lock(config, outcome.manifest, options.update_lock, reporter)
    describe_outcome(outcome, options.out, reporter)
    return OK


def _plan(options: argparse.Namespace) -> int:
    from builder.commands.report import describe_plan
    from builder.release.planning import plan_specs
    from builder.splits.config import load_config
    from builder.splits.roots import placeholder_roots
    from builder.tracks import TRACKS

    config = load_config(options.toml, TRACKS)
    describe_plan(config, plan_specs(config, placeholder_roots(config)))
    return OK


def _add_exam(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from", dest="release", type=Path, required=True, metavar="RELEASE", help="its folder"
    )
    parser.add_argument("--exam", type=Path, required=True, metavar="TOML", help="the exam file")
    parser.add_argument("--split", metavar="NAME", help="default: the only one with public truth")
    parser.add_argument("--name", metavar="NAME", help="default: the exam file's name")
    parser.add_argument("--seed", metavar="TEXT", help="default: the split's own seed")
    add_workers(parser)
    parser.add_argument("--quiet", action="store_true", help="show warnings and errors only")


def _exam(options: argparse.Namespace) -> int:
    from builder.build import check_release
    from builder.commands.report import describe_exam
    from builder.release.extra_exam import draw_extra_exam
    from builder.release.progress import Reporter
    from builder.release.workspace import GATE_FILE, write_gate
    from builder.tracks import TRACKS

    added = draw_extra_exam(
        options.release,
        TRACKS,
        options.exam,
        split=options.split,
        name=options.name,
        seed=options.seed,
    )
    describe_exam(added, options.release)
    reporter = Reporter(options.quiet)
    try:
        report = check_release(options.release, reporter.note, options.workers)
    except UsageError as error:  # a public side alone, as it is downloaded
        reporter.warn(f"without a {GATE_FILE}: {error}")
        return OK
    write_gate(options.release, report.markdown)
    if report.ok:
        return OK
    print(
        f"the gate refuses the release with exam {added.name} in it: see "
        f"{options.release / GATE_FILE}",
        file=sys.stderr,
    )
    return FAILED


BUILD: Final = Command(
    "build",
    "build a release from a split file",
    (
        "build splits/mini.toml --out release",
        "build splits/mini.toml --out release --workers 8 --fresh",
        "build splits/mini.toml --only TRACK/SPLIT/INDEX",
    ),
    _add_build,
    _build,
)
PLAN: Final = Command(
    "plan",
    "show what a split file asks for; needs no secret",
    ("plan splits/mini.toml",),
    _add_split_file,
    _plan,
)
EXAM: Final = Command(
    "exam",
    "draw another exam from a release that is built",
    (
        "exam --from release --exam splits/exams/realistic.toml",
        "exam --from release --exam my-exam.toml --name hard-2 --seed again",
    ),
    _add_exam,
    _exam,
)
