"""A release from the Hub: fetched once, checked against its manifest, then read without a network.

Files lie in the cache of the Hub's client, by hash. What comes from the Hub is a stranger's: names
are plain, sizes and hashes are those of the manifest before anything is downloaded, and after.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grader.errors import UsageError
from grader.hub.client import Address, cache_folder, connect, explain_hub_errors, list_files
from grader.release.side import MAX_MANIFEST, Side

if TYPE_CHECKING:
    from huggingface_hub import HfApi

MANIFEST: Final = "manifest.json"
PAPERS: Final = ("README.md", "eval.yaml", "croissant.json", "ERRATA.md")
_LARGEST_PAPER: Final = 16 << 20


def fetch(address: Address) -> Path:
    """Return the folder of a release's repository, in which every shard is as its manifest says.

    A revision that was fetched before is not asked for again; without a revision the newest is
    asked for. Raises ``UsageError``.
    """
    api = connect()
    if address.revision is not None and (cached := _cached_folder(api, address)) is not None:
        return cached
    with explain_hub_errors(address):
        return _download(api, address)


def _cached_folder(api: "HfApi", address: Address) -> Path | None:
    """Return the cached folder of a release, or None where a shard or the manifest is not there."""
    from huggingface_hub.errors import LocalEntryNotFoundError

    with suppress(LocalEntryNotFoundError, UsageError):
        side = Side.open(_snapshot(api, address, (MANIFEST,), local=True))
        if all(side.file(name).is_file() for name in side.manifest["shards"]):
            return side.path
    return None


def _download(api: "HfApi", address: Address) -> Path:
    """Return the folder of a release after it was downloaded, as its manifest promises it."""
    listed = list_files(api, address.repo, address.revision)
    if MANIFEST not in listed or listed[MANIFEST].size > MAX_MANIFEST:
        raise UsageError(f"{address}: no manifest.json in it; it is no release of ours")
    shards = Side.open(_snapshot(api, address, (MANIFEST,))).manifest["shards"]
    for name, promised in shards.items():
        found = listed.get(name)
        same = found is not None and found.size == promised["bytes"]
        if found is None or not same or (found.lfs and found.lfs.sha256 != promised["sha256"]):
            raise UsageError(
                f"{address}: {name} is not what its manifest.json says, so nothing was fetched; "
                "tell its maintainer"
            )
    papers = [n for n in PAPERS if n in listed and listed[n].size <= _LARGEST_PAPER]
    side = Side.open(_snapshot(api, address, (MANIFEST, *papers, *shards)))
    for name in shards:
        try:
            side.check(name)
        except UsageError:
            file = side.file(name)
            blob = Path(os.path.realpath(file))
            for damaged in (file, blob) if cache_folder().resolve() in blob.parents else (file,):
                damaged.unlink(missing_ok=True)
            raise UsageError(
                f"{address}: {name} came damaged and was removed; run the same command again"
            ) from None
    return side.path


def _snapshot(api: "HfApi", address: Address, names: Sequence[str], *, local: bool = False) -> Path:
    """Return the folder of a revision with the files ``names``; ``local``: as it is here."""
    found = api.snapshot_download(
        address.repo,
        repo_type="dataset",
        revision=address.revision,
        cache_dir=cache_folder(),
        allow_patterns=list(names),
        local_files_only=local,
    )
    return Path(found)
