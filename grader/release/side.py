"""One repository of a release on disk: its manifest, and shards that agree with it."""

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Any, Final, Self

import duckdb

from grader.errors import UsageError
from grader.io import parquet
from grader.io.files import Unreadable, open_regular
from grader.io.jsonio import clip
from grader.io.paths import check_plain, is_plain, path_inside
from grader.release.rows import COLUMN_TYPES, TEXT

MAX_MANIFEST: Final = 16 << 20
MAX_TASKS: Final = 1_000_000


@dataclass(slots=True)
class Side:
    """One of the two repositories of a release: a folder with a manifest and shards."""

    path: Path
    manifest: dict[str, Any]
    _checked: set[str] = field(default_factory=set)
    _measured: set[tuple[Path, str]] = field(default_factory=set)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read the manifest of the repository at ``path``; raises ``UsageError``."""
        file = path / "manifest.json"
        try:
            with open_inside(path, file) as handle:
                data = handle.read(MAX_MANIFEST + 1)
            if len(data) > MAX_MANIFEST:
                raise UsageError(f"{file}: over {MAX_MANIFEST >> 20} MiB; no manifest is so large")
            manifest = json.loads(data)
            _check_manifest(manifest, file)
        except FileNotFoundError:
            raise UsageError(f"{file}: not found; is this a release folder?") from None
        except Unreadable as error:
            raise UsageError(f"{file}: {error}") from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise UsageError(f"{file}: unreadable manifest; fetch the release again") from None
        return cls(path, manifest)

    def shards(self, config: str, split: str) -> list[Path]:
        """Return the files of one config and split in order, each checked (:meth:`check`). Raises
        ``UsageError`` for a damaged one, and for more rows than are read."""
        place = re.escape(f"{config}/{split}")
        pattern = re.compile(rf"{place}-[0-9]{{5}}-of-[0-9]{{5}}\.parquet")
        listed, track = self.manifest["shards"], config.removesuffix("_exams")
        names = sorted(name for name in listed if pattern.fullmatch(name))
        rows = sum(listed[name]["rows"] for name in names)
        most = MAX_TASKS * (4 if config == "commitments" else 1)  # to four private rows of a task
        if track != config:  # a task each, in each exam
            own = (entry for name, entry in listed.items() if name.startswith(f"{track}/{split}-"))
            tasks = sum(entry["rows"] for entry in own)
            exams = self.manifest["splits"].get(split, {}).get("exams", ())
            most = min(MAX_TASKS, tasks * max(1, len(exams)))
        if rows > most:
            where = f"{self.path}: {rows:,} rows of {config} in split {split}, where at most"
            raise UsageError(f"{where} {most:,} are read; tell the release's maintainer")
        for name in names:
            self.check(name)
        return [self.file(name) for name in names]

    def file(self, name: str) -> Path:
        """Return the path of a shard ``config/file``; raises ``UsageError`` for no plain name."""
        config, _, file = name.partition("/")
        return path_inside(path_inside(self.path, config), file)

    def check(self, name: str) -> None:
        """Raise ``UsageError`` where a shard is absent, is no regular file, or has another size,
        SHA-256 or number of rows than the manifest says. Nothing is read before its size fits."""
        if name in self._checked:
            return
        file, entry = self.file(name), self.manifest["shards"][name]
        try:
            with open_inside(self.path, file) as handle:
                size = os.fstat(handle.fileno()).st_size
                if size != entry["bytes"]:
                    raise Unreadable(f"its {size:,} bytes (and SHA-256) differ from manifest.json")
                if hashlib.file_digest(handle, "sha256").hexdigest() != entry["sha256"]:
                    raise Unreadable("its SHA-256 differs from manifest.json")
                parquet.check_footer_length(handle)
        except (OSError, Unreadable) as error:
            why = getattr(error, "strerror", None) or error
            remedy = "the manifest lists this shard, fetch the release again"
            raise UsageError(f"{file}: {why}; {remedy}") from None
        with parquet.connect() as connection:
            parquet.check_size(connection, file, entry["rows"])
        self._checked.add(name)

    def present_columns(
        self, connection: duckdb.DuckDBPyConnection, files: Sequence[Path], columns: Sequence[str]
    ) -> list[str]:
        """Return those of ``columns`` that each of the files has; raises ``UsageError`` where one
        has another type or too long a text."""
        for file in files:
            list(parquet.read(connection, [file], ("*",), "LIMIT 0"))
            described = connection.description or ()
            types = {column[0]: str(column[1]).replace('"', "") for column in described}
            columns = [name for name in columns if name in types]
            for name in columns:
                if types[name] not in COLUMN_TYPES.get(name, TEXT):
                    wanted = " or ".join(COLUMN_TYPES.get(name, TEXT))
                    why = f"column {name} has the type {clip(types[name])}, not {wanted}"
                    raise UsageError(f"{file}: {why}; fetch the release again")
            texts = {(file, name) for name in columns if types[name] == "VARCHAR"} - self._measured
            parquet.check_texts(
                connection, file, [name for name in columns if (file, name) in texts]
            )
            self._measured |= texts
        return list(columns)


def open_inside(folder: Path, file: Path) -> BufferedReader:
    """Open a regular file of a repository at ``folder``, through no link but those of the cache of
    the Hub's client, which lead from ``snapshots/<commit>`` to its own ``blobs``. Raises
    :class:`Unreadable`, and ``FileNotFoundError`` without one."""
    root, target = Path(os.path.realpath(folder)), Path(os.path.realpath(file))
    if not os.path.lexists(file):
        raise FileNotFoundError(2, "No such file or directory", str(file))
    in_cache = root.parent.name == "snapshots" and target.parent == root.parents[1] / "blobs"
    if not in_cache and target != root / file.relative_to(folder):
        raise Unreadable("is a symbolic link, or in a linked folder; put the file itself there")
    return open_regular(target)


def _check_manifest(manifest: Mapping[str, Any], file: Path) -> None:
    """Raise ``UsageError`` for a name that is not plain, since names become parts of paths and
    pages, and any exception for what else reading relies on; ``verify`` checks the whole schema."""
    for key in ("release", "version"):
        check_plain(manifest[key], f"{file}: the {key}")
    for name, split in manifest["splits"].items():
        check_plain(name, f"{file}: the split")
        for exam in split.get("exams", ()):
            check_plain(exam, f"{file}: the exam")
    for name in manifest["shards"]:
        parts = name.split("/")
        if len(parts) != 2 or not all(map(is_plain, parts)):
            why = f"the shard {clip(name)} is not <config>/<file>"
            raise UsageError(f"{file}: {why}; fetch the release again")
    shards, splits = manifest["shards"].values(), manifest["splits"].values()
    texts = [*(entry["sha256"] for entry in shards), *(split["truth"] for split in splits)]
    counts = [entry[key] for entry in shards for key in ("rows", "bytes")]
    tables = [manifest.get("deprecated", {}), *manifest.get("deprecated", {}).values()]
    tables += [split.get("exams", {}) for split in splits]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("not text")
    if not all(type(count) is int and count >= 0 for count in counts):
        raise TypeError("no count")
    if not all(isinstance(table, dict) for table in tables):
        raise TypeError("no table")
