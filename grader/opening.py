"""Opening a release by its folder, or by its address on the Hub, which is fetched."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from grader.release.release import ReleaseFolder
from grader.tracks import TRACKS

if TYPE_CHECKING:
    from grader.hub.client import Address


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


def address_of(path: Path | None) -> "Address | None":
    """Return the address that was typed as a path (it begins ``hf:``), or None for a folder.

    ``Path`` has made one slash of the two in ``hf://``.
    """
    if path is None or path.parts[:1] != ("hf:",):
        return None
    from grader.hub.client import Address

    return Address.parse(str(path))


def local_folder(path: Path) -> Path:
    """Return ``path`` itself, or the folder to which its address is fetched; raises
    ``UsageError``."""
    address = address_of(path)
    if address is None:
        return path
    from grader.hub.client import fetch

    return fetch(address)
