"""Putting a folder on the Hub under test, past every check of ours."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from hub_store import Blob, Repo
from local_hub import LocalHub

Says = Callable[..., tuple[int, str, str]]
"""Runs a command: its exit code, output and errors."""


def put(hub: LocalHub, name: str, folder: Path, tag: str | None = None) -> None:
    """A folder as it stands becomes the newest commit of a dataset, and a tag of it."""
    repo = hub.store.repos.setdefault(("dataset", name), Repo("dataset", name))
    files = {}
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        data, path = file.read_bytes(), file.relative_to(folder).as_posix()
        digest = hashlib.sha256(data).hexdigest() if file.suffix == ".parquet" else None
        files[path] = Blob(data, digest)
        if digest is not None:
            hub.store.large[digest] = data
    oid = repo.commit("refs/heads/main", files, "put")
    if tag is not None:
        repo.refs[f"refs/tags/{tag}"] = oid
