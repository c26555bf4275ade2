"""Lock files: the content hashes that a split file gave when its maintainer last looked.

Only public-truth splits are locked: their seeds are stated, so anyone can build them and compare.
On another operating system or architecture, or with other libraries, the last digits of a float may
differ; that is shown and is no error.
"""

import json
import platform
from collections.abc import Mapping
from typing import Any

from builder.release.config import ReleaseConfig
from builder.release.identity import FORMAT
from builder.release.show.progress import Reporter
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


def report_lock(
    config: ReleaseConfig, manifest: Mapping[str, Any], update: bool, reporter: Reporter
) -> None:
    """Compares a build with its lock file, or writes the lock file; differences are a warning."""
    file, built = config.lock_path, lock_document(manifest)
    if update:
        write_text(file, pretty(built))
        reporter.note(f"wrote {file}")
        return
    try:
        locked = _hashes(json.loads(file.read_bytes()))
    except FileNotFoundError:
        reporter.note(f"no {file} to compare with; --update-lock writes it")
        return
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        reporter.warn(f"{file}: is no lock file; write it anew with --update-lock")
        return
    if differing := {config for config, _ in locked ^ _hashes(built)}:
        reporter.warn(
            f"differs from {file} in {', '.join(sorted(differing))}; on the platform named there "
            "that is a change of content: see `diff`, and --update-lock if it is meant"
        )
    else:
        reporter.note(f"matches {file}")


def _hashes(lock: Mapping[str, Any]) -> set[tuple[str, str]]:
    """The content hash of every ``split/config``."""
    return {
        (f"{split}/{config}", digest)
        for split, configs in lock["splits"].items()
        for config, digest in configs.items()
    }
