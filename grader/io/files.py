"""Writing of files and folders, whole or not at all, and the one careful way to open a stranger's
file."""

import errno
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Final

from grader.errors import UsageError


def write_text(path: Path, text: str, mode: int = 0o666) -> None:
    """Write ``text`` as UTF-8 by :func:`replacing`, into a folder that is made where it is absent.
    Raises ``UsageError``."""
    with replacing(path, mode) as temporary:
        temporary.write_text(text, encoding="utf-8")


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes as hex; raises ``OSError``."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


class Unreadable(Exception):
    """A file cannot be opened, or is not what it must be; the message does not name the file."""


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading, never through a link; raises :class:`Unreadable`."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Unreadable("is a symbolic link; put the file itself there") from None
        raise Unreadable(f"cannot be read ({error.strerror}); check its permissions") from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        kind = "a directory" if stat.S_ISDIR(mode) else "not a regular file"
        raise Unreadable(f"is {kind}; put a file there")
    return os.fdopen(descriptor, "rb")


def refuse_links(folder: Path) -> None:
    """Raise ``UsageError`` for a symbolic link in a folder, at any depth: writing follows it."""
    for place, folders, files in os.walk(folder):
        for path in (Path(place) / name for name in (*folders, *files)):
            if path.is_symlink():
                raise UsageError(f"{path}: is a symbolic link; remove it, or name another folder")


LOCK: Final = ".lock"
"""The file by which a folder is locked; it stays when the lock is gone."""


@contextmanager
def lock_folder(folder: Path, option: str, mode: int = 0o777) -> Iterator[None]:
    """Hold the lock of a folder, which is made where it is absent, during the block. Raises
    ``UsageError`` (which begins with ``option``) where it cannot be written, another run is at work
    in it, or a symbolic link is."""
    try:
        folder.mkdir(mode, parents=True, exist_ok=True)
        refuse_links(folder)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        why = f"cannot write {folder} ({error.strerror}); name a folder you may write to"
        raise UsageError(f"{option}: {why}") from None
    with os.fdopen(lock, "wb"):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            why = f"another run is at work in {folder}; wait for it, or name another folder"
            raise UsageError(f"{option}: {why}") from None
        yield


@contextmanager
def replacing(path: Path, mode: int = 0o666) -> Iterator[Path]:
    """Give a temporary path beside ``path`` that takes its name when the block succeeds.

    The file has the permissions ``mode`` less those of the process's umask. A device or pipe is
    written through. Raises ``UsageError`` when the folder cannot be written.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        # Renaming over /dev/null would destroy it.
        with tempfile.TemporaryDirectory() as folder:
            temporary = Path(folder) / "output"
            yield temporary
            try:
                path.write_bytes(temporary.read_bytes())
            except OSError as error:
                raise _unwritable(path, error) from None
        return
    # Of a link the target is replaced, and the link stays.
    with _temporary(path.resolve() if path.is_symlink() else path, mode) as temporary:
        yield temporary


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder beside ``path`` that takes its name when the block succeeds. Raises
    ``UsageError`` when ``path`` exists and is not an empty folder, or cannot be written."""
    try:
        if path.is_symlink() or (path.exists() and (not path.is_dir() or any(path.iterdir()))):
            raise UsageError(f"{path}: exists already; give another --out or remove it")
    except OSError as error:
        raise _unwritable(path, error) from None
    with _temporary(path, 0o777, folder=True) as temporary:
        yield temporary


@contextmanager
def _temporary(path: Path, mode: int, *, folder: bool = False) -> Iterator[Path]:
    """Give a temporary file or folder that takes the name ``path`` when the block succeeds."""
    digest = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:8]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary, lock = _take(path.parent / f".{path.name[:40]}.{digest}.part", folder)
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(mode & ~mask)
        if folder and path.is_dir():
            path.rmdir()
        temporary.replace(path)
    except BaseException as error:
        with suppress(OSError):
            _remove(temporary)
        if isinstance(error, OSError):
            raise _unwritable(path, error) from None
        raise
    finally:
        os.close(lock)


def _take(place: Path, folder: bool) -> tuple[Path, int]:
    """Return an empty temporary file or folder, and a descriptor that holds a lock on it.

    It is ``place`` itself, emptied of what a killed run left there. It has a random name where
    something else is at ``place``, or another run at work on it, or there are no locks.
    """
    kind = os.O_DIRECTORY if folder else os.O_RDWR | os.O_CREAT
    with suppress(OSError):
        if folder:
            place.mkdir(mode=0o700, exist_ok=True)
        lock = os.open(place, kind | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = os.fstat(lock)
            if os.path.samestat(held, os.lstat(place)):  # else its maker has just finished
                if folder:
                    for entry in place.iterdir():
                        _remove(entry)
                    return place, lock
                if stat.S_ISREG(held.st_mode) and held.st_nlink == 1:
                    os.ftruncate(lock, 0)
                    return place, lock
        os.close(lock)
    if folder:
        made = tempfile.mkdtemp(prefix=f"{place.name}.", dir=place.parent)
        return Path(made), os.open(made, os.O_DIRECTORY)
    lock, made = tempfile.mkstemp(prefix=f"{place.name}.", dir=place.parent)
    return Path(made), lock


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> UsageError:
    why = f"cannot be written ({error.strerror or error})"
    return UsageError(f"{path}: {why}; choose another place")
