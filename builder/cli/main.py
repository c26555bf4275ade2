"""The commands of ``build_dataset.py``. Heavy imports wait until a command needs them."""

import argparse
import os
import secrets
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from builder.cli.exam import add_exam
from builder.cli.imports import add_imports
from builder.cli.read import add_read
from grader.errors import UsageError
from grader.names import did_you_mean

if TYPE_CHECKING:
    from builder.release.build import GateResult, Outcome
    from builder.release.config import ReleaseConfig
    from builder.release.progress import Reporter

PROGRAM: Final = "python build_dataset.py"
OK, FAILED, UNUSABLE, BUG, INTERRUPTED = 0, 1, 2, 3, 130
SECRET_BYTES: Final = 32


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; the exit code.

    0 done; 1 a gate failed or releases differ; 2 unusable input; 3 our own bug; 130 interrupted.
    """
    try:
        options = _parser().parse_args(arguments)
        command: Callable[[argparse.Namespace], int] = options.command
        return command(options)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        print(
            "interrupted; finished parts are kept: run the same command again to go on",
            file=sys.stderr,
        )
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("builder", "grader"):
            traceback.print_exc()
            return BUG
        print(
            f"error: the package {error.name} is not installed here; activate the environment "
            "(`source .venv/bin/activate`) or `pip install '.[build]'`",
            file=sys.stderr,
        )
        return UNUSABLE
    except Exception:
        # The last resort: whatever gets here is our own fault, and the trace is what finds it.
        traceback.print_exc()
        print(
            "this is a bug of the builder; please report it with the lines above", file=sys.stderr
        )
        return BUG


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints look like ours: one line with a fix, exit code 2."""

    def error(self, message: str) -> NoReturn:
        known = (
            "build", "plan", "check", "diff", "inspect", "read", "exam", "new-secret", "import-ccr",
            "import-causalab", "import-causalds",
        )  # fmt: skip
        if "invalid choice: " in message:
            given = message.split("invalid choice: ")[1].split("'")[1]
            message = f"{given}: unknown command{did_you_mean(given, known)}"
        raise UsageError(f"{message}; {self.prog} --help shows examples")


def _parser() -> argparse.ArgumentParser:
    parser = _new_parser(
        PROGRAM,
        "Build, plan, check and compare releases of the causal exams.",
        "build splits/mini.toml --out release",
        "plan splits/mini.toml",
        "check release",
        "diff release-a release-b",
        "inspect release dev/0",
        "read release --n 12",
        "new-secret > ~/.causal-exams-secret",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)

    build = _add(
        commands,
        "build",
        _build,
        "build a release from a split file",
        "build splits/mini.toml --out release",
        "build splits/mini.toml --out release --workers 8 --fresh",
        "build splits/mini.toml --only causalds/dev/17",
    )
    build.add_argument("toml", type=Path, metavar="TOML", help="the split file")
    build.add_argument(
        "--out",
        type=Path,
        default=Path("release"),
        metavar="DIR",
        help="the release to write (default: release)",
    )
    _add_workers(build)
    build.add_argument(
        "--fresh",
        action="store_true",
        help="use nothing of an earlier run; replace a finished release",
    )
    build.add_argument(
        "--only",
        metavar="TRACK/SPLIT/INDEX",
        help="build this instance alone and print its rows' summary as JSON",
    )
    build.add_argument(
        "--update-lock", action="store_true", help="write the content hashes to TOML's .lock.json"
    )
    build.add_argument("--quiet", action="store_true", help="show warnings and errors only")

    plan = _add(
        commands,
        "plan",
        _plan,
        "show what a split file asks for; needs no secret",
        "plan splits/mini.toml",
    )
    plan.add_argument("toml", type=Path, metavar="TOML", help="the split file")

    check = _add(
        commands,
        "check",
        _check,
        "run the gate over a finished release",
        "check release",
    )
    check.add_argument("release", type=Path, metavar="RELEASE", help="a release folder")
    _add_workers(check)
    check.add_argument("--quiet", action="store_true", help="show the report only")

    diff = _add(
        commands,
        "diff",
        _diff,
        "what changed between two releases, per column",
        "diff release-a release-b",
    )
    diff.add_argument("first", type=Path, metavar="A", help="a release folder")
    diff.add_argument("second", type=Path, metavar="B", help="another release folder")

    inspect = _add(
        commands,
        "inspect",
        _inspect,
        "look at one scene of causalds: graph, equations, truths, tables, measurements",
        "inspect release dev/0",
        "inspect release scene-0123456789abcdef --out scene.html",
    )
    inspect.add_argument("release", type=Path, metavar="RELEASE", help="a release folder")
    inspect.add_argument("scene", metavar="SCENE", help="its id, or split/index")
    inspect.add_argument(
        "--out", type=Path, metavar="FILE", help="the page to write (default: <scene id>.html)"
    )

    add_read(commands, _add)
    add_exam(commands, _add)

    _add(
        commands,
        "new-secret",
        _new_secret,
        "print a new secret of 256 random bits",
        "new-secret > ~/.causal-exams-secret && chmod 600 ~/.causal-exams-secret",
        "new-secret    # then: export CAUSAL_EXAMS_SECRET=...",
    )
    add_imports(commands, _add, _add_workers, _gate)
    return parser


def _new_parser(program: str, description: str, *examples: str) -> _Parser:
    return _Parser(
        prog=program,
        description=description,
        epilog="examples:\n" + "\n".join(f"  {PROGRAM} {example}" for example in examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _add(
    commands: Any,
    name: str,
    function: Callable[[argparse.Namespace], int],
    description: str,
    *examples: str,
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=description,
        description=description[0].upper() + description[1:] + ".",
        epilog="examples:\n" + "\n".join(f"  {PROGRAM} {example}" for example in examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(command=function)
    return parser


def _add_workers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workers",
        type=_positive,
        default=os.cpu_count() or 1,
        metavar="N",
        help="worker processes (default: one per CPU)",
    )


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if not 1 <= number <= 100_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no positive whole number")
    return number


def _build(options: argparse.Namespace) -> int:
    from builder.release.build import build_alone, build_release
    from builder.release.config import load_config
    from builder.release.engine import InstanceFailed, WorkerDied
    from builder.release.progress import Reporter
    from builder.release.roots import read_roots
    from grader.io.jsonio import pretty

    reporter = Reporter(options.quiet)
    config = load_config(options.toml)
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
            partial(_gate, workers=options.workers),
            workers=options.workers,
            fresh=options.fresh,
            reporter=reporter,
        )
    except InstanceFailed as error:
        print(
            f"{error.details}\nbug in the builder at {error.label}: {error.summary}\nrebuild it "
            f"alone: {PROGRAM} build {_quoted(options.toml)} --only {error.label}",
            file=sys.stderr,
        )
        return BUG
    except WorkerDied as error:
        print(f"error: {error}", file=sys.stderr)
        return BUG
    except OSError as error:
        raise UsageError(
            f"--out {options.out}: {error.strerror or error} ({error.filename or 'writing'}); "
            "make room or name another folder, then run the same command again"
        ) from None
    return _conclude(options, config, outcome, reporter)


def _gate(release: Path, reporter: "Reporter", *, workers: int) -> "GateResult":
    from builder.gate.run import run_gate

    return run_gate(release, reporter.note, workers=workers)


def _conclude(
    options: argparse.Namespace, config: "ReleaseConfig", outcome: "Outcome", reporter: "Reporter"
) -> int:
    """What a person wants to know after a build."""
    from builder.release.summary import describe_outcome, report_lock

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
    from builder.release.config import load_config
    from builder.release.planning import plan_specs
    from builder.release.roots import placeholder_roots
    from builder.release.summary import describe_plan

    config = load_config(options.toml)
    describe_plan(config, plan_specs(config, placeholder_roots(config)))
    return OK


def _check(options: argparse.Namespace) -> int:
    from builder.release.manifest import read_manifest, refuse_imported
    from builder.release.progress import Reporter

    _need_release(options.release)
    refuse_imported(read_manifest(options.release / "public"), options.release)
    report = _gate(options.release, Reporter(options.quiet), workers=options.workers)
    print(report.markdown, end="" if report.markdown.endswith("\n") else "\n")
    return OK if report.ok else FAILED


def _diff(options: argparse.Namespace) -> int:
    for folder in (options.first, options.second):
        _need_release(folder)
    from builder.release.diff import diff_releases

    report = diff_releases(options.first, options.second)
    for line in report.lines:
        print(line)
    return OK if report.identical else FAILED


def _inspect(options: argparse.Namespace) -> int:
    _need_release(options.release)
    from builder.causalds.show.inspection import inspect_scene

    page, summary = inspect_scene(options.release, options.scene)
    file = options.out or Path(f"{summary.splitlines()[0]}.html")
    try:
        file.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file}: cannot be written ({error.strerror or error})") from None
    print(summary)
    print(f"page: {file}")
    return OK


def _need_release(folder: Path) -> None:
    if not (folder / "public" / "manifest.json").is_file():
        raise UsageError(
            f"{folder}: no release there (public/manifest.json is absent); name the folder that "
            "`build --out` wrote"
        )


def _new_secret(_: argparse.Namespace) -> int:
    print(secrets.token_hex(SECRET_BYTES))
    return OK


def _quoted(path: Path) -> str:
    import shlex

    return shlex.quote(str(path))
