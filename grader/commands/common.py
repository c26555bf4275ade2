"""Options and outputs that several commands share."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from grader.answers.collect import read_submission
from grader.answers.submission import Submission, SubmissionLimits
from grader.errors import UsageError
from grader.io.files import write_text
from grader.io.jsonio import pretty_json
from grader.io.process import processors
from grader.opening import open_release
from grader.release.exam import Exam, Split
from grader.scoring.route import READINGS

MIN_KEY = 16

_FOLDER: Final = {"type": Path, "metavar": "DIR"}
_OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    "answers": {"type": Path, "help": "folder of answers, or a packed .parquet"},
    "--release": _FOLDER
    | {"help": "release folder (default: $CAUSAL_EXAMS_RELEASE, then ./release)"},
    "--private": _FOLDER
    | {"help": "private side of a private-truth split (default: beside the public one)"},
    "--split": {"metavar": "NAME", "help": "split (default: the only one there is)"},
    "--exam": {
        "metavar": "NAME",
        "help": "exam, or 'all' for the whole split "
        "(default: the only one there is, or the only one with every answered task)",
    },
    "--track": {"metavar": "NAME", "help": "this track only"},
    "--out": _FOLDER | {"required": True, "help": "a new folder"},
    "--strict": {"action": "store_true", "help": "exit with 1 on an invalid answer"},
    "--reading": {
        "choices": READINGS,
        "default": READINGS[0],
        "help": "what screens and pages lead with where tasks have pools: pools by the truth alone "
        "(fixed, default), or by the published routing (paper)",
    },
    "--ledger": {
        "type": Path,
        "metavar": "FILE",
        "help": "of a private split: who was shown what (default: beside the private side); "
        "teams.txt beside it lists who may be",
    },
    "--transcript-key": {
        "type": Path,
        "metavar": "FILE",
        "help": "require laboratory transcripts to be signed with this host's key",
    },
}

_ENDINGS: Final = {
    "json": (".json",),
    "csv": (".csv",),
    "parquet": (".parquet",),
    "html": (".html", ".htm"),
}

_LIMITS: Final[Mapping[str, tuple[str, str]]] = {
    "mebibytes": ("--max-mib", "MiB of answers after decompression"),
    "cells": ("--max-cells", "cells in them (commas and ends of lines)"),
    "seconds": ("--max-seconds", "seconds of processor time"),
}
"""Field of ``SubmissionLimits`` -> its option, and what that counts."""

RELEASE: Final = ("--release", "--private", "--split")
EXAM: Final = (*RELEASE, "--exam", "--track")
PUBLIC_EXAM: Final = tuple(name for name in EXAM if name != "--private")


def add(parser: argparse.ArgumentParser, *names: str) -> None:
    """Declare some of the options that several commands share."""
    for name in names:
        parser.add_argument(name, **_OPTIONS[name])


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Declare the options that limit what a submission may cost."""
    group = parser.add_argument_group("what one submission may cost; later answers are invalid")
    for name, (option, counted) in _LIMITS.items():
        default = getattr(SubmissionLimits(), name)
        text = f"{counted} (default: {default:,})"
        group.add_argument(
            option, dest=name, type=positive, default=default, metavar="N", help=text
        )


def limits_of(arguments: argparse.Namespace) -> SubmissionLimits:
    """Return the limits that the options of :func:`add_limits` set."""
    return SubmissionLimits(**{name: getattr(arguments, name) for name in _LIMITS})


def add_effort(parser: argparse.ArgumentParser) -> None:
    """Declare ``--workers``, and of a submission ``--memory`` (MiB), ``--seconds`` (``wall``)."""
    effort = parser.add_argument_group("effort")
    effort.add_argument(
        "--workers", type=positive, default=processors(), metavar="N", help="number of processes"
    )
    for option, name, default, unit in (
        ("--memory", "memory", 2048, "MIB"),
        ("--seconds", "wall", 300, "S"),
    ):
        text = f"of one submission (default {default})"
        effort.add_argument(
            option, dest=name, type=positive, default=default, metavar=unit, help=text
        )


def positive(text: str) -> int:
    """Return a whole number from 1, for argparse."""
    if not (text.isascii() and text.isdigit() and 0 < len(text) <= 12 and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text} is no whole number from 1")
    return int(text)


def add_documents(
    parser: "argparse.ArgumentParser | argparse._ArgumentGroup", json: str, reveal: str
) -> None:
    """Declare ``--json``, ``--html`` and ``--reveal``; ``json`` and ``reveal`` are help texts."""
    parser.add_argument("--json", type=Path, metavar="FILE", help=json)
    parser.add_argument("--html", type=Path, metavar="FILE", help="one self-contained page")
    parser.add_argument("--reveal", action="store_true", help=reveal)


def write_documents(
    arguments: argparse.Namespace, document: Callable[[], Any], page: Callable[[], str]
) -> None:
    """Write the files of ``--json`` and ``--html`` where they were asked for."""
    if arguments.json:
        write_text(arguments.json, pretty_json(document()))
    if arguments.html:
        write_text(arguments.html, page())


def check_outputs(arguments: argparse.Namespace, answers: Path | None = None) -> None:
    """Raise ``UsageError`` for an output named like another kind of file, like another output, in
    no folder, or inside ``answers``."""
    seen: set[Path] = set()
    for option, endings in _ENDINGS.items():
        path: Path | None = getattr(arguments, option, None)
        if path is None or (path.exists() and not path.is_file()):
            continue  # a device such as /dev/null takes any number of outputs
        if path.suffix and path.suffix.lower() not in endings:
            raise UsageError(
                f"--{option} {path}: writes {option.upper()}; end its name in {endings[0]}"
            )
        if not path.parent.exists():
            raise UsageError(f"--{option} {path}: no folder {path.parent}; make it first")
        if path.absolute() in seen:
            raise UsageError(f"--{option} {path}: another output has this name; choose another")
        if answers is not None and path.absolute().parent == answers.absolute():
            raise UsageError(f"--{option} {path}: inside the answers folder; choose another place")
        seen.add(path.absolute())


def read_answers(arguments: argparse.Namespace) -> tuple[Exam, Submission]:
    """Return the exam that the submission at the argument ``answers`` answers, and it."""
    split = open_split(arguments)
    submission = read_submission(arguments.answers, split.tasks, limits_of(arguments))
    return split.choose_exam_for(frozenset(submission.answers)), submission


def open_split(arguments: argparse.Namespace) -> Split:
    """Open the release and split that the options name, with what else they ask of it."""
    asked = {
        name: getattr(arguments, name)
        for name in ("exam", "track", "reveal")
        if hasattr(arguments, name)
    }
    key = getattr(arguments, "transcript_key", None)
    return Split.open(
        open_release(arguments.release, getattr(arguments, "private", None)),
        arguments.split,
        transcript_key=None if key is None else read_key(key),
        **asked,
    )


def read_key(path: Path) -> bytes:
    """Read a host's key, the whole content of a file; raises ``UsageError`` below 16 bytes."""
    try:
        key = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from None
    if len(key) < MIN_KEY:
        raise UsageError(
            f"{path}: a key of {len(key)} bytes; use at least {MIN_KEY} random ones, such as "
            "`head -c 32 /dev/urandom > host.key` writes"
        )
    return key
