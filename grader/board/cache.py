"""Earlier gradings, so that a board of a thousand submissions grades what is new on it.

A grading is reused where the submission's bytes, the release, the grader and every option agree.
What is kept is believed, so it is kept in a place of the maintainer's own and nowhere near what
strangers hand in: ``$CAUSAL_EXAMS_CACHE``, else ``causal-exams`` in ``$XDG_CACHE_HOME`` or
``~/.cache``. It holds what reports hold, a private split's too. It can be deleted at any time.
"""

import hashlib
import os
import stat
import sys
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import duckdb

from grader.errors import UsageError
from grader.io.files import file_sha256
from grader.io.jsonio import canonical
from grader.io.paths import inside
from grader.io.release import Release
from grader.io.schemas import folder as schema_folder
from grader.submission.submission import Unreadable, open_regular

ENVIRONMENT_VARIABLE: Final = "CAUSAL_EXAMS_CACHE"
MOST_FILES: Final = 20_000
MOST_BYTES: Final = 1 << 30
_LARGEST: Final = 256 << 20
_BLOCK: Final = 1 << 20
_PACKAGE: Final = Path(__file__).parent.parent


def default_folder() -> Path:
    """Where gradings are kept unless the maintainer says otherwise."""
    if chosen := os.environ.get(ENVIRONMENT_VARIABLE):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "causal-exams"


@cache
def grader_sha256() -> str:
    """The code that grades: every file of the package and its schemas, Python and DuckDB."""
    digest = hashlib.sha256(f"{sys.version} {duckdb.__version__}".encode())
    for root in (_PACKAGE, schema_folder()):
        for file in sorted(root.rglob("*")):
            if file.suffix in (".py", ".sql", ".toml", ".json", ".css"):
                digest.update(f"{file.relative_to(root).as_posix()} {file_sha256(file)}\n".encode())
    return digest.hexdigest()


def context_sha256(release: Release, options: Mapping[str, Any]) -> str:
    """All that a grading depends on but the submission: release, grader, options.

    A release is what its manifests say, since no shard with another hash is read.
    """
    sides = [release.public, *([release.private] if release.private else [])]
    told = {
        "release": [file_sha256(side.path / "manifest.json") for side in sides],
        "grader": grader_sha256(),
        "options": {name: str(value) for name, value in options.items()},
    }
    return hashlib.sha256(canonical(told).encode()).hexdigest()


def submission_sha256(source: Path) -> str | None:
    """A submission's name and bytes; ``None`` for one that is not worth remembering.

    Links and devices are told from files, and are not read.
    """
    digest, size = hashlib.sha256(), 0
    for count, path in enumerate(_files(source)):
        state = path.lstat()
        size += state.st_size
        if count >= MOST_FILES or size > MOST_BYTES:
            return None
        name = os.fsencode(path.name if path == source else path.relative_to(source))
        head = f"{len(name)} {stat.S_IFMT(state.st_mode)} {state.st_size} ".encode()
        digest.update(head + name)
        if stat.S_ISREG(state.st_mode):
            try:
                with open_regular(path) as handle:
                    inner = hashlib.sha256()
                    while block := handle.read(_BLOCK):
                        inner.update(block)
                    digest.update(inner.digest())
            except Unreadable:
                return None
    return hashlib.sha256(os.fsencode(source.name) + b"\0" + digest.digest()).hexdigest()


def _files(source: Path) -> Iterator[Path]:
    yield source
    for place, folders, names in os.walk(source):
        folders.sort()
        yield from (Path(place) / name for name in sorted([*folders, *names]))


class Cache:
    """The gradings of one context in a folder; of nobody's where the folder is not ours alone."""

    def __init__(self, folder: Path, context: str) -> None:
        self._folder, self._context = folder, context
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            state = folder.lstat()
        except OSError as error:
            raise UsageError(
                f"{folder}: no place for gradings ({error.strerror}); give another --cache, or "
                "--no-cache"
            ) from None
        others = stat.S_IMODE(state.st_mode) & 0o022
        if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid() or others:
            raise UsageError(
                f"{folder}: gradings are believed, so they are kept in a folder that you own and "
                "nobody else can write; give another --cache, or --no-cache"
            )

    def find(self, submission: str) -> bytes | None:
        """An earlier grading of a submission; ``None`` where there is none, or a damaged one."""
        try:
            with open_regular(self._file(submission)) as handle:
                head, packed = handle.read(65), handle.read(_LARGEST)
        except (Unreadable, OSError):
            return None
        if head.decode("ascii", errors="replace") != hashlib.sha256(packed).hexdigest() + "\n":
            return None
        try:
            return zlib.decompress(packed)
        except zlib.error:
            return None

    def keep(self, submission: str, graded: bytes) -> None:
        """Remember a grading; a full disk is no reason to fail."""
        packed = zlib.compress(graded, 6)
        file = self._file(submission)
        temporary = file.with_suffix(f".{os.getpid()}")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as handle:
                handle.write(hashlib.sha256(packed).hexdigest().encode() + b"\n" + packed)
            temporary.replace(file)
        except OSError:
            temporary.unlink(missing_ok=True)

    def _file(self, submission: str) -> Path:
        name = hashlib.sha256(f"{self._context} {submission}".encode()).hexdigest()
        return inside(self._folder, name, ".graded")
