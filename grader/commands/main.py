"""The command line: ``python -m grader …``. Other programs have commands of their own besides."""

import argparse
import importlib
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, NoReturn

from grader.errors import OUR_PACKAGES, UsageError, error_text
from grader.io.names import did_you_mean, nearest, nearest_path
from grader.io.printing import print_lines
from grader.io.process import exit_with, is_interrupt, is_unwritable
from grader.version import __version__

COMMANDS: Final[dict[str, str]] = {
    "grade": "score a folder of answers (the default)",
    "validate": "check answers without the truth: same parser, same schemas",
    "workspace": "write what a test taker needs, one folder per task",
    "gold": "write the right answers of a public-truth split",
    "explain": "one task: its rule, the answer given, why it scored so",
    "pack": "pack answers into one file to submit",
    "submit": "hand answers in to a maintainer's dataset on the Hub",
    "evaluate": "of a dataset of submissions: grade what is new, record it, answer",
    "board": "a dataset of results as a static site",
    "results": "a report's skills for a model repository on the Hub",
    "leaderboard": "grade many submissions and rank them",
    "compare": "two submissions, task by task: is one better, and would it show",
    "fetch": "a release from the Hub: fetched, checked, kept",
    "browse": "a site to read tasks: prompt, story, graph, data, truth, answer",
    "verify": "check a release: hashes, rows, private against public",
    "schema": "print the answer schema of a variant",
}
_EXAMPLES: Final = """examples:
  python -m grader answers/                       score a folder against ./release
  python -m grader answers/ --html report.html    … and write a page to look at
  python -m grader workspace --out work/          unpack the exam, one folder per task
  python -m grader leaderboard submissions/       rank several submissions

exit codes: 0 done; 1 graded, but answers were invalid (--strict), or a check failed;
2 unusable input, or no room for the output; 3 a bug of ours; 130 interrupted
"""


@dataclass(frozen=True, slots=True)
class Program:
    """A command line: its ``name`` as it is called, and its commands.

    ``commands`` maps a package to the commands in it, each with a line of help; the module of a
    command has its name, an underscore for a hyphen. ``default`` is the command meant by a first
    word that names none. ``interrupted`` is the line after Ctrl-C.
    """

    name: str
    commands: Mapping[str, Mapping[str, str]]
    default: str = ""
    examples: str = ""
    interrupted: str = "interrupted"

    @property
    def all_commands(self) -> dict[str, str]:
        """Every command with its line of help."""
        return {name: text for table in self.commands.values() for name, text in table.items()}


GRADER: Final = Program("python -m grader", {"grader.commands": COMMANDS}, "grade", _EXAMPLES)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line that ends with what to do."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see `{self.prog} --help`)")


def main(arguments: Sequence[str] | None = None, program: Program = GRADER) -> int:
    """Run one command of ``program`` and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    return with_errors_told(partial(_dispatch, words, program), program.interrupted)


def with_errors_told(run: Callable[[], int], interrupted: str) -> int:
    """Run what is given and return its exit code; of an error print what to do about it.

    ``interrupted`` is the line after Ctrl-C. Raises only where standard output is unwritable.
    """
    try:
        return run()
    except (BrokenPipeError, SystemExit):
        # The reader of our output (head, less) has seen enough, or argparse has said all it had to.
        return 0
    except (KeyboardInterrupt, Exception) as error:
        if is_interrupt(error):
            print_lines(interrupted, to_stderr=True)
            return 130
        if is_unwritable(error):
            raise  # exit_with says so, once
        match error:
            case UsageError():
                told = str(error)
            case ModuleNotFoundError(name=str(name)) if name.partition(".")[0] not in OUR_PACKAGES:
                told = (
                    f"the package {name} is not installed here; activate the environment "
                    "(`source .venv/bin/activate`) or `pip install .` (for the builder '.[build]')"
                )
            case OSError() if error.filename is not None:
                told = f"{error.filename}: {error.strerror}; check the path"
            case _:
                _report_bug(error)
                return 3
        print_lines(f"error: {told}", to_stderr=True)
        return 2


def entry_point(program: Program = GRADER) -> None:
    """Run a program as a script, and end the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A log that knows only ASCII, or a path that is no text, is no reason to fail.
            stream.reconfigure(errors="replace")
    exit_with(partial(main, program=program))


def _dispatch(words: list[str], program: Program) -> int:
    """Run the command that the first word names, or the default one, on the other words."""
    commands = program.all_commands
    if not words or words[0] in ("-h", "--help"):
        words_after = "[COMMAND] … (no command: grade)" if program.default else "COMMAND …"
        print_lines(f"usage: {program.name} {words_after}", "")
        told = program.examples.replace(GRADER.name, program.name)
        width = max(map(len, commands))
        print_lines(*(f"  {name:<{width}} {text}" for name, text in commands.items()), "")
        print_lines(*told.splitlines())
        return 0 if words else 2
    if words[0] == "--version":
        print_lines(f"causal-exams {__version__}")
        return 0
    name = words[0] if words[0] in commands else program.default
    if name == words[0]:
        words = words[1:]
    elif not name:
        raise UsageError(f"{words[0]}: no such command{did_you_mean(words[0], commands)}")
    elif not words[0].startswith("-") and not Path(words[0]).exists():
        near = nearest(words[0], sorted(commands)) or nearest_path(Path(words[0]))
        near = near or did_you_mean(words[0], commands)
        raise UsageError(f"{words[0]}: neither a command nor a folder of answers{near}")
    (package,) = (key for key, table in program.commands.items() if name in table)
    module = importlib.import_module(f"{package}.{name.replace('-', '_')}")
    parser = _Parser(
        prog=f"{program.name} {name}",
        description=(module.__doc__ or "").strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.configure(parser)
    return int(module.run(parser.parse_args(words)))


def _report_bug(error: BaseException) -> None:
    """Print that the fault is ours (or that of who changed the file), and where it is."""
    import traceback

    print_lines(
        f"bug: {error_text(error)}",
        "Mend it if you changed such a file. If not, it is our fault; please report it with "
        "the command you ran (CAUSAL_EXAMS_TRACEBACK=1 shows the whole trace).",
        to_stderr=True,
    )
    if os.environ.get("CAUSAL_EXAMS_TRACEBACK"):
        print_lines(*"".join(traceback.format_exception(error)).splitlines(), to_stderr=True)
