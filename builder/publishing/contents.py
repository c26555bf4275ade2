"""The files that a side of a release becomes on the Hub.

Shards and manifest are those that were checked. Papers are written anew for the place where they
will be read: whatever else lies in the folder stays where it is, whatever it is called.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from builder.publishing.errata import ERRATA
from builder.release.card import folder, on_hub
from builder.release.manifest import MANIFEST
from builder.release.papers import CARD, CROISSANT, EVAL, MADE, croissant, papers
from builder.release.workspace import GATE_FILE
from grader.errors import UsageError

Files = Mapping[str, Path | bytes]
"""What a repository is to hold: path in it to a file here, or to its content."""


def contents(
    side: Path, manifest: Mapping[str, Any], repo: str, revision: str
) -> dict[str, Path | bytes]:
    """The files of one side; raises ``UsageError`` for a folder with others in it."""
    refuse_strangers(side, manifest)
    files: dict[str, Path | bytes] = {name: side / name for name in manifest["shards"]}
    files[MANIFEST] = side / MANIFEST
    for name, text in _papers(side, manifest, repo, revision).items():
        files[name] = (_card(text) if name == CARD else text).encode("utf-8")
    if (side / ERRATA).is_file():
        files[ERRATA] = side / ERRATA
    if manifest["visibility"] == "private" and (side.parent / GATE_FILE).is_file():
        files[GATE_FILE] = side.parent / GATE_FILE
    return files


def _papers(side: Path, manifest: Mapping[str, Any], repo: str, revision: str) -> dict[str, str]:
    place = on_hub(repo, revision)
    if "imported" not in manifest["configuration"]:
        return papers(manifest, side, place)
    # Its papers have words of the importer's that no manifest holds; nothing of them is private.
    here = folder(manifest["visibility"])
    try:
        card, registered = ((side / name).read_text(encoding="utf-8") for name in (CARD, EVAL))
        told = json.loads((side / CROISSANT).read_bytes())
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}; import the release again") from None
    card = card.replace(f'"{here.dataset}"', f'"{repo}"')
    card = card.replace(f"--release {here.release} ", f"--release {place.release} ")
    return {
        CARD: card,
        EVAL: registered,
        CROISSANT: croissant(manifest, side, told["alternateName"], told["license"], place),
    }


def _card(text: str) -> str:
    """A card whose metadata went through the Hub's own classes, which know what it reads."""
    from huggingface_hub import DatasetCard

    return str(DatasetCard(text))


def refuse_strangers(side: Path, manifest: Mapping[str, Any]) -> None:
    """Raise ``UsageError`` for a file that is no part of a release, and for a link."""
    known = {*manifest["shards"], *MADE, MANIFEST, ERRATA}
    for path in sorted(side.rglob("*")):
        name = path.relative_to(side).as_posix()
        if path.is_symlink() or (path.is_file() and name not in known):
            kind = "is a link" if path.is_symlink() else "is no part of a release"
            raise UsageError(
                f"{path}: {kind}, and may hold what nobody should see; move it away (gate, "
                "transcripts and logs belong beside the private side)"
            )
