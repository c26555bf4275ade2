"""Opening a release by its folder, or by its address on the Hub, which is fetched."""

import os
from pathlib import Path

from grader.hub.client import Address, fetch
from grader.release.release import ReleaseFolder
from grader.tracks import TRACKS


def open_release(path: Path | None = None, private: Path | None = None) -> ReleaseFolder:
    """Open a release with the tracks that are registered.

    ``path`` is its folder, its public side alone, or its address on the Hub
    (``hf://org/name@v1``); by default ``$CAUSAL_EXAMS_RELEASE``, then ``./release``. ``private``
    is the folder or address of its private side, by default the folder ``private`` beside the
    public one. Raises ``UsageError``.
    """
    path = local_folder(release_path(path) or Path("release"))
    return ReleaseFolder.open(path, None if private is None else local_folder(private), TRACKS)


def release_path(path: Path | None) -> Path | None:
    """Return what was typed for a release, or else ``$CAUSAL_EXAMS_RELEASE``, or None."""
    default = os.environ.get("CAUSAL_EXAMS_RELEASE")
    return path or (Path(default) if default else None)


def address_of(path: Path | None) -> Address | None:
    """Return the address that was typed as a path (``hf:`` begins it), or None for a folder."""
    is_address = path is not None and path.parts[:1] == ("hf:",)
    return Address.parse(str(path)) if is_address else None


def local_folder(path: Path) -> Path:
    """Return ``path``, or the folder to which its address is fetched; raises ``UsageError``."""
    address = address_of(path)
    return path if address is None else fetch(address)
