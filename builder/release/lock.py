"""Lock files: the content hashes that a split file gave when its maintainer last looked.

Only public-truth splits are locked: their seeds are stated, so anyone can build them and compare.
On another CPU the last digits of a float may differ; that is shown and is no error.
"""

import json
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from builder.release.identity import FORMAT
from grader.errors import UsageError
from grader.io.files import write_text
from grader.io.jsonio import pretty


def lock_document(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The lock of a public manifest: split to config to content hash, public-truth splits only."""
    splits: dict[str, dict[str, str]] = {}
    for name, split in manifest["splits"].items():
        if split["truth"] == "public":
            splits[name] = {
                config: tables[name]["content_sha256"]
                for config, tables in manifest["configs"].items()
                if name in tables
            }
    return {
        "format": FORMAT,
        "release": manifest["release"],
        "version": manifest["version"],
        "platform": f"{platform.system()} {platform.machine()}",
        "libraries": manifest["libraries"],
        "splits": splits,
    }


def write_lock(file: Path, manifest: Mapping[str, Any]) -> None:
    """Writes the lock file of a public manifest in one step; raises ``UsageError``."""
    write_text(file, pretty(lock_document(manifest)))


def compare_with_lock(file: Path, manifest: Mapping[str, Any]) -> list[str]:
    """What differs between a lock file and a manifest, as ``split/config``, sorted.

    Raises ``FileNotFoundError`` without a lock file and ``UsageError`` when it is none.
    """
    try:
        splits = json.loads(file.read_bytes())["splits"]
        locked = {(a, b): digest for a, table in splits.items() for b, digest in table.items()}
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"{file}: is no lock file; write it anew with --update-lock") from None
    splits = lock_document(manifest)["splits"]
    built = {(a, b): digest for a, table in splits.items() for b, digest in table.items()}
    differing = {key for key in locked.keys() | built.keys() if locked.get(key) != built.get(key)}
    return [f"{split}/{config}" for split, config in sorted(differing)]
