"""The commands of ``build_dataset.py``. Heavy imports wait until a command needs them."""

import argparse
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

from builder.commands.build import BUILD, EXAM, PLAN
from builder.commands.command import BUG, INTERRUPTED, PROGRAM, UNUSABLE, use_domains
from builder.commands.importing import IMPORT
from builder.commands.look import CHECK, DIFF, INSPECT
from builder.commands.new import NEW_DOMAIN, NEW_SECRET, NEW_VARIANT
from builder.commands.publish import PUBLISH
from grader.errors import UsageError
from grader.io.names import did_you_mean
from grader.io.pipe import interrupted, unwritable


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; the exit code.

    0 done; 1 a gate failed or releases differ; 2 unusable input; 3 our own bug; 130 interrupted.
    """
    try:
        options = _parser().parse_args(arguments)
        if getattr(options, "domains", None) is not None:
            use_domains(options.domains)
        command: Callable[[argparse.Namespace], int] = options.command
        return command(options)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return UNUSABLE
    except BrokenPipeError:
        raise  # whoever read our output has seen enough: see exit_with
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
    except (KeyboardInterrupt, Exception) as error:
        if interrupted(error):
            print(
                "interrupted; finished parts are kept: run the same command again to go on",
                file=sys.stderr,
            )
            return INTERRUPTED
        if unwritable(error):
            raise  # exit_with says so, once
        # The last resort: whatever gets here is our own fault, and the trace is what finds it.
        traceback.print_exc()
        print(
            "this is a bug of the builder; please report it with the lines above", file=sys.stderr
        )
        return BUG


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints look like ours: one line with a fix, exit code 2."""

    commands: tuple[str, ...] = ()

    def error(self, message: str) -> NoReturn:
        if self.commands and "invalid choice: " in message:
            given = message.split("invalid choice: ")[1].split("'")[1]
            message = f"{given}: unknown command{did_you_mean(given, self.commands)}"
        raise UsageError(f"{message}; {self.prog} --help shows examples")


ABOUT: Final = "Build, plan, check and compare releases of the causal exams."
EXAMPLES: Final = (
    "build splits/mini.toml --out release",
    "plan splits/mini.toml",
    "check release",
    "diff release-a release-b",
    "inspect release dev/0",
    "publish release --repo org/exams --dry-run",
    "new-secret > ~/.causal-exams-secret",
)


COMMANDS: Final = (
    BUILD, PLAN, CHECK, DIFF, INSPECT, EXAM, PUBLISH, NEW_SECRET, NEW_DOMAIN, NEW_VARIANT, IMPORT,
)  # fmt: skip
"""In the order of ``--help``."""


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog=PROGRAM, description=ABOUT, **_layout(EXAMPLES))
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)
    for command in COMMANDS:
        about = command.about
        added = subparsers.add_parser(
            command.name,
            help=about,
            description=f"{about[0].upper()}{about[1:]}.",
            **_layout(command.examples),
        )
        command.arguments(added)
        added.set_defaults(command=command.run)
        parser.commands += (command.name,)
    return parser


def _layout(examples: Sequence[str]) -> dict[str, Any]:
    """What the help of every command has in common: its examples, as they are typed."""
    return {
        "epilog": "examples:\n" + "\n".join(f"  {PROGRAM} {example}" for example in examples),
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "allow_abbrev": False,
    }
