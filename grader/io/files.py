"""Writing of files and folders, whole or not at all, and hashing of files."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from grader.errors import UsageError


def write_text(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8 under a temporary name, then rename; raises ``UsageError``.

    The folder is made where it is absent, and a file of that name is replaced.
    """
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes as hex; raises ``OSError``."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path`` that takes its name when the block succeeds.

    A device or pipe is written through. Raises ``UsageError`` when the folder cannot be written.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        with _write_through(path) as temporary:
            yield temporary
        return
    path = path.resolve() if path.is_symlink() else path  # the link stays, its target is replaced
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
        os.close(descriptor)
    except OSError as error:
        raise _unwritable(path, error) from None
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


@contextmanager
def _write_through(path: Path) -> Iterator[Path]:
    """Give a temporary path whose content is then written to the device or pipe ``path``.

    Renaming over ``/dev/null`` would destroy it.
    """
    with tempfile.TemporaryDirectory() as folder:
        temporary = Path(folder) / "output"
        yield temporary
        try:
            with path.open("wb") as target:
                target.write(temporary.read_bytes())
        except OSError as error:
            raise _unwritable(path, error) from None


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder beside ``path`` that takes its name when the block succeeds.

    Raises ``UsageError`` when ``path`` exists and is not an empty folder, or cannot be written.
    """
    try:
        if path.is_symlink() or (path.exists() and (not path.is_dir() or any(path.iterdir()))):
            raise UsageError(f"{path}: exists already; give another --out or remove it")
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name[:40]}.", dir=path.parent))
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        yield temporary
        temporary.chmod(0o777 & ~_umask())
        if path.is_dir():
            path.rmdir()
        temporary.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _unwritable(path: Path, error: OSError) -> UsageError:
    return UsageError(
        f"{path}: cannot be written ({error.strerror or error}); choose another place"
    )
