"""Who built what from what: canary, source hash, library versions, fingerprint."""

import hashlib
import os
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

from builder.release.config import ReleaseConfig
from builder.release.roots import Root
from builder.tracks import SHARED_RULES
from builder.words.knowledge import own_files
from grader.io.jsonio import canonical
from grader.tracks import TRACKS as GRADED
from grader.version import __version__

FORMAT: Final = 1
"""The number of the release format; it changes when a reader of the old one would fail."""

LIBRARIES: Final = ("numpy", "pyarrow", "scipy")

_CHECKOUT: Final = Path(__file__).parent.parent.parent
MAKING: Final = (
    "builder",
    "dataset_card",
    "grader/benchmark.py",
    "grader/io/jsonio.py",
    "grader/io/rows.py",
    "grader/io/schemas.py",
    "grader/shape.py",
    "grader/tracks/*/gold.py",
    "grader/tracks/*/shapes.py",
    "grader/tracks/*/variants.py",
    "grader/tracks/*/variants.toml",
    "schemas/answers",
    *SHARED_RULES,
)
"""Folders and files that make the bytes of a release: an edit of one builds every part anew."""

LOOKING: Final = frozenset({"check", "check.py", "cli", "gate", "hub", "reader", "show", "show.py"})
"""Folders and files, at any depth, that look at a release or its making: no byte needs them."""


def canary(name: str, release_version: str) -> str:
    """The GUID by which a training corpus can find a release; the same for every build of it."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"causal-exams canary/{name}/{release_version}"))


@cache
def source_sha256() -> str:
    """SHA-256 over the names and bytes of the source files that make the rows and the card, and of
    the story domains that were brought along."""
    ours = hash_of_files(MAKING, LOOKING)
    own = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in own_files()}
    return hashlib.sha256((ours + canonical(own)).encode("utf-8")).hexdigest() if own else ours


def hash_of_files(patterns: Iterable[str], without: Collection[str] = ()) -> str:
    """SHA-256 over the names and bytes of files of the checkout: those that fit a pattern, or lie
    in a folder that does, and neither are nor lie in one called ``without``."""
    total = hashlib.sha256()
    for file in sorted(_files(patterns, without)):
        total.update(file.relative_to(_CHECKOUT).as_posix().encode("utf-8") + b"\0")
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def _files(patterns: Iterable[str], without: Collection[str]) -> Iterator[Path]:
    def kept(names: Iterable[str]) -> list[str]:
        """Those that are neither hidden nor left out."""
        return [
            name
            for name in names
            if name not in without and not name.startswith((".", "__pycache__"))
        ]

    for path in (path for pattern in patterns for path in _CHECKOUT.glob(pattern)):
        parts = path.relative_to(_CHECKOUT).parts
        if len(kept(parts)) < len(parts):
            continue
        if path.is_file():
            yield path
        for folder, inner, names in os.walk(path):  # in workers, too: it asks for no file's state
            inner[:] = kept(inner)
            yield from (Path(folder, name) for name in kept(names))


@cache
def library_versions() -> dict[str, str]:
    """The versions of the libraries whose results are in the bytes of a release."""
    return {name: version(name) for name in LIBRARIES}


def fingerprint(config: ReleaseConfig, roots: Mapping[str, Root]) -> str:
    """The identity of a build: equal fingerprints give equal bytes on one platform.

    It covers the configuration, the rules by which floors are graded, the code, the libraries and,
    through their commitments, the private roots.
    """
    commitments = {name: root.commitment for name, root in roots.items() if root.private}
    text = canonical(
        {
            "builder": __version__,
            "commitments": commitments,
            "configuration": config.document,
            "format": FORMAT,
            "libraries": library_versions(),
            "rules": {track.name: track.rules for track in GRADED.values()},
            "source": source_sha256(),
        }
    )
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
