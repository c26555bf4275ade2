"""Options that several commands share."""

import argparse
from pathlib import Path

from grader.errors import UsageError
from grader.exam import Split
from grader.io.release import PUBLISHED, Release

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


def add_exam(parser: argparse.ArgumentParser) -> None:
    """``--exam`` and ``--track``."""
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
