"""Options that several commands share."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grader.errors import UsageError
from grader.exam import Exam, Split
from grader.io.files import write_text
from grader.io.jsonio import pretty
from grader.io.release import PUBLISHED, Release
from grader.submission.attempts import read
from grader.submission.submission import Submission

MIN_KEY = 16


def add_release(parser: argparse.ArgumentParser, *, private: bool = True) -> None:
    """``--release``, ``--private`` and ``--split``."""
    parser.add_argument(
        "--release",
        type=Path,
        metavar="DIR",
        help="release folder (default: $CAUSAL_EXAMS_RELEASE, then ./release)",
    )
    if private:
        parser.add_argument(
            "--private",
            type=Path,
            metavar="DIR",
            help="private side of a private-truth split (default: beside the public one)",
        )
    parser.add_argument("--split", metavar="NAME", help="split (default: the only one there is)")


def add_exam(parser: argparse.ArgumentParser, *, private: bool = True) -> None:
    """The options of :func:`add_release`, ``--exam`` and ``--track``."""
    add_release(parser, private=private)
    parser.add_argument(
        "--exam",
        metavar="NAME",
        help="exam, or 'all' for the whole split "
        "(default: the only one there is, or the only one with every answered task)",
    )
    parser.add_argument("--track", metavar="NAME", help="this track only")


def add_transcript_key(parser: argparse.ArgumentParser) -> None:
    """``--transcript-key``."""
    parser.add_argument(
        "--transcript-key",
        type=Path,
        metavar="FILE",
        help="require laboratory transcripts to be signed with this host's key",
    )


def add_answers(parser: argparse.ArgumentParser) -> None:
    """The answers that a command is about."""
    parser.add_argument("answers", type=Path, help="folder of answers, or a packed .parquet")


def add_documents(
    parser: "argparse.ArgumentParser | argparse._ArgumentGroup", json: str, reveal: str
) -> None:
    """``--json``, ``--html`` and ``--reveal``, with what the first writes and the last shows."""
    parser.add_argument("--json", type=Path, metavar="FILE", help=json)
    parser.add_argument("--html", type=Path, metavar="FILE", help="one self-contained page")
    parser.add_argument("--reveal", action="store_true", help=reveal)


def write_documents(
    arguments: argparse.Namespace, document: Callable[[], Any], page: Callable[[], str]
) -> None:
    """Write what :func:`add_documents` offers, where it was asked for."""
    if arguments.json:
        write_text(arguments.json, pretty(document()))
    if arguments.html:
        write_text(arguments.html, page())


def read_answers(arguments: argparse.Namespace) -> tuple[Exam, Submission]:
    """What :func:`add_answers` names, read, and the exam that it answers."""
    split = open_split(arguments)
    submission = read(arguments.answers, split.tasks)
    return split.choose_exam_for(frozenset(submission.answers)), submission


def open_split(arguments: argparse.Namespace) -> Split:
    """The release and split that the options name, and what they ask of it."""
    release = Release.open(arguments.release, getattr(arguments, "private", None))
    return Split.open(
        release,
        arguments.split,
        getattr(arguments, "exam", None),
        getattr(arguments, "track", None),
        reveal=getattr(arguments, "reveal", False),
        truth=getattr(arguments, "truth", PUBLISHED),
        transcript_key=_key(getattr(arguments, "transcript_key", None)),
    )


def _key(path: Path | None) -> bytes | None:
    return None if path is None else read_key(path)


def read_key(path: Path) -> bytes:
    """A host's key: the whole content of a file, at least 16 bytes; raises ``UsageError``."""
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
