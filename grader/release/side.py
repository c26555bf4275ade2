"""One repository of a release on disk: its manifest, and shards that agree with it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from grader.errors import UsageError
from grader.io.files import file_sha256
from grader.io.jsonio import clip
from grader.io.paths import check_plain, is_plain, path_inside


@dataclass(slots=True)
class Side:
    """One of the two repositories of a release: a folder with a manifest and shards."""

    path: Path
    manifest: dict[str, Any]
    _checked: set[str] = field(default_factory=set)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read the manifest of the repository at ``path``; raises ``UsageError``."""
        file = path / "manifest.json"
        try:
            manifest = json.loads(file.read_bytes())
            _check_manifest(manifest)
            _check_names(manifest, file)
        except FileNotFoundError:
            raise UsageError(f"{file}: not found; is this a release folder?") from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise UsageError(f"{file}: unreadable manifest; fetch the release again") from None
        return cls(path, manifest)

    def shards(self, config: str, split: str) -> list[Path]:
        """Return the files of one config and split in order, each checked against its SHA-256."""
        pattern = re.compile(
            rf"{re.escape(config)}/{re.escape(split)}-[0-9]{{5}}-of-[0-9]{{5}}\.parquet"
        )
        names = sorted(name for name in self.manifest["shards"] if pattern.fullmatch(name))
        for name in names:
            self.check(name)
        return [self.file(name) for name in names]

    def file(self, name: str) -> Path:
        """Return the file of a shard that the manifest lists."""
        config, _, file = name.partition("/")
        return path_inside(path_inside(self.path, config), file)

    def check(self, name: str) -> None:
        """Raise ``UsageError`` where a shard is absent or has another SHA-256."""
        if name in self._checked:
            return
        file = self.file(name)
        try:
            digest = file_sha256(file)
        except OSError as error:
            raise UsageError(
                f"{file}: {error.strerror or error}; the manifest lists this shard, "
                "fetch the release again"
            ) from None
        if digest != self.manifest["shards"][name]["sha256"]:
            raise UsageError(
                f"{file}: its SHA-256 differs from manifest.json; the file was changed or "
                "damaged, fetch the release again"
            )
        self._checked.add(name)


def _check_manifest(manifest: dict[str, Any]) -> None:
    """Raise any exception for a manifest that lacks what reading relies on.

    ``verify`` checks the whole schema.
    """
    texts = [manifest["release"], manifest["version"]]
    texts += [entry["sha256"] for entry in manifest["shards"].values()]
    texts += [split["truth"] for split in manifest["splits"].values()]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("not text")


def _check_names(manifest: Mapping[str, Any], file: Path) -> None:
    """Raise ``UsageError`` for a name that is not plain: names become parts of paths."""
    for name, split in manifest["splits"].items():
        check_plain(name, f"{file}: the split")
        for exam in split.get("exams", ()):
            check_plain(exam, f"{file}: the exam")
    for name in manifest["shards"]:
        parts = name.split("/")
        if len(parts) != 2 or not all(map(is_plain, parts)):
            raise UsageError(
                f"{file}: the shard {clip(name)} is not <config>/<file>; fetch the release again"
            )
