"""The identity of a release: canary, hash of the source, versions of libraries, fingerprint."""

import hashlib
import uuid
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

from builder.splits.config import ReleaseConfig
from builder.splits.roots import Root
from builder.stories.knowledge import own_files
from grader.io.jsonio import canonical_json
from grader.version import __version__

FORMAT: Final = 1
"""The number of the release format; it changes when a reader of the old one would fail."""

LIBRARIES: Final = ("numpy", "pyarrow", "scipy")

_CHECKOUT: Final = Path(__file__).parent.parent.parent
CODE: Final = ("builder", "dataset_card", "grader", "schemas")
"""Folders of the code behind a release: an edit of a file in one builds every part anew."""


def canary(name: str, release_version: str) -> str:
    """Return the GUID by which a training corpus can be searched for a release."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"causal-exams canary/{name}/{release_version}"))


@cache
def source_sha256() -> str:
    """Return the SHA-256 over names and bytes of the code, and of story domains from outside it."""
    total = hashlib.sha256()
    for file in code_files():
        total.update(file.relative_to(_CHECKOUT).as_posix().encode("utf-8") + b"\0")
        total.update(hashlib.sha256(file.read_bytes()).digest())
    own = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in own_files()}
    if own:
        total.update(canonical_json(own).encode("utf-8"))
    return total.hexdigest()


def code_files() -> list[Path]:
    """Return the files in the folders ``CODE``, sorted, without hidden and compiled ones."""
    files = (file for folder in CODE for file in (_CHECKOUT / folder).rglob("*") if file.is_file())
    return sorted(
        file
        for file in files
        if not any(p.startswith((".", "__pycache__")) for p in file.relative_to(_CHECKOUT).parts)
    )


@cache
def library_versions() -> dict[str, str]:
    """Return the versions of the libraries whose results are in the bytes of a release."""
    return {name: version(name) for name in LIBRARIES}


def fingerprint(config: ReleaseConfig, roots: Mapping[str, Root]) -> str:
    """Return a SHA-256 that identifies a build: equal fingerprints give equal bytes on one
    platform.

    It covers the configuration, the rules by which floors are graded, the code, the libraries and,
    through their commitments, the private roots.
    """
    commitments = {name: root.commitment for name, root in roots.items() if root.private}
    text = canonical_json(
        {
            "builder": __version__,
            "commitments": commitments,
            "configuration": config.document,
            "format": FORMAT,
            "libraries": library_versions(),
            "rules": {name: track.grader.rules for name, track in config.tracks.items()},
            "source": source_sha256(),
        }
    )
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
