"""Who built what from what: canary, source hash, library versions, fingerprint."""

import hashlib
import uuid
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

from builder.release.config import ReleaseConfig
from builder.release.roots import Root
from grader import __version__
from grader.io.jsonio import canonical

FORMAT: Final = 1
"""The number of the release format; it changes when a reader of the old one would fail."""

LIBRARIES: Final = ("numpy", "pyarrow", "scipy")

_CHECKOUT: Final = Path(__file__).parent.parent.parent
_SOURCES: Final = (
    "builder", "dataset_card", "grader/spec.py", "grader/shape.py", "grader/io/jsonio.py",
    "grader/laboratory", "grader/tracks", "grader/variants",
)  # fmt: skip
# These look at a release or at its making; no byte of a shard depends on them.
_ONLOOKERS: Final = frozenset({"gate", "leak", "cli", "check", "show", "proof"})
_ONLOOKING_FILES: Final = ("diff", "progress", "planning")


def canary(name: str, release_version: str) -> str:
    """The GUID by which a training corpus can find a release; the same for every build of it."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"causal-exams canary/{name}/{release_version}"))


@cache
def source_sha256() -> str:
    """SHA-256 over the names and bytes of the source files that make the rows and the card."""
    total = hashlib.sha256()
    for file in sorted(_source_files()):
        total.update(file.relative_to(_CHECKOUT).as_posix().encode("utf-8") + b"\0")
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def _source_files() -> Iterator[Path]:
    for name in _SOURCES:
        path = _CHECKOUT / name
        for file in [path] if path.is_file() else path.rglob("*"):
            hidden = any(part.startswith((".", "__pycache__")) for part in file.parts)
            onlooker = not _ONLOOKERS.isdisjoint(file.parts) or (
                file.parent.name == "release" and file.name.startswith(_ONLOOKING_FILES)
            )
            if file.is_file() and not hidden and not onlooker:
                yield file


@cache
def library_versions() -> dict[str, str]:
    """The versions of the libraries whose results are in the bytes of a release."""
    return {name: version(name) for name in LIBRARIES}


def fingerprint(config: ReleaseConfig, roots: Mapping[str, Root]) -> str:
    """The identity of a build: equal fingerprints give equal bytes on one platform.

    It covers the configuration, the code, the libraries and, through their commitments, the
    private roots.
    """
    commitments = {name: root.commitment for name, root in roots.items() if root.private}
    text = canonical(
        {
            "builder": __version__,
            "commitments": commitments,
            "configuration": config.document,
            "format": FORMAT,
            "libraries": library_versions(),
            "source": source_sha256(),
        }
    )
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
