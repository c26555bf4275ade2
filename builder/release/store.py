"""Staged parts behind an address, for workers that share no folder: S3, GCS or anything else that
fsspec knows.

A part is whole there once its record is there, which is written last. Nobody reads another build's
parts: they lie under its fingerprint.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.release.parts import RECORD
from grader.errors import UsageError


@dataclass(frozen=True, slots=True)
class Store:
    """The parts of one build under ``address``, an fsspec URL such as ``s3://bucket/folder``."""

    address: str
    fingerprint: str

    @property
    def folder(self) -> str:
        """The address of this build's parts."""
        return f"{self.address.rstrip('/')}/{self.fingerprint}"

    def put(self, name: str, folder: Path) -> None:
        """Copies a staged part to ``name``; raises ``UsageError``."""
        with self._reached() as system:
            system.makedirs(f"{self.folder}/{name}", exist_ok=True)
            for file in sorted(folder.iterdir(), key=lambda file: file.name == RECORD):
                system.pipe_file(f"{self.folder}/{name}/{file.name}", file.read_bytes())

    def fetch(self, name: str, folder: Path) -> bool:
        """Copies the part ``name`` to a folder, which appears when it is whole; whether there is
        one. Raises ``UsageError``."""
        unfinished = folder.with_name(f"{folder.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        with self._reached() as system:
            if not system.exists(f"{self.folder}/{name}/{RECORD}"):
                return False
            unfinished.mkdir(parents=True, mode=0o700)
            for file in system.ls(f"{self.folder}/{name}", detail=False):
                local = unfinished / file.rstrip("/").rpartition("/")[2]
                local.write_bytes(system.cat_file(file))
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.rename(folder)
        return True

    def clear(self) -> None:
        """Removes everything of this build; raises ``UsageError``."""
        with self._reached() as system:
            if system.exists(self.folder):
                system.rm(self.folder, recursive=True)

    @contextmanager
    def _reached(self) -> Iterator[Any]:
        """The file system behind the address; whatever goes wrong with it is the user's to mend."""
        where = f"--staging {self.address}"
        try:
            import fsspec

            yield fsspec.core.url_to_fs(self.address)[0]
        except ImportError as error:
            raise UsageError(
                f"{where}: {error.name or error} is not installed here; pip install "
                "'causal-exams[ray]', and what fsspec needs for this address"
            ) from None
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{where}: cannot be used ({error}); check address and access"
            ) from None
