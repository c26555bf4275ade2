"""Addresses on the Hub, its own client, and releases that are fetched by it.

An address is ``hf://org/name@revision``, wherever a folder may be named. Endpoint, token and cache
are the client's: ``HF_ENDPOINT``, ``HF_TOKEN`` (or `hf auth login`), ``HF_HUB_CACHE``. Files lie
in that cache by hash. A release is a stranger's: names are plain, sizes and hashes are those of its
manifest before anything is downloaded, and after.
"""

import logging
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from grader.errors import UsageError
from grader.io.jsonio import clip
from grader.release.side import MAX_MANIFEST, Side
from grader.version import __version__

if TYPE_CHECKING:
    from huggingface_hub import HfApi, RepoFile

MANIFEST: Final = "manifest.json"
PAPERS: Final = ("README.md", "eval.yaml", "croissant.json", "ERRATA.md")
_LARGEST_PAPER: Final = 16 << 20
_AGAIN: Final = "run the same command again; what is there already is kept"
_TOKEN: Final = "set HF_TOKEN, or `hf auth login`, to a token of an account that may"

_NAME: Final = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?"
_ADDRESS: Final = re.compile(
    rf"(?:hf:/{{1,2}}(?:datasets/)?)?(?P<repo>{_NAME}/{_NAME})(?:@(?P<revision>[A-Za-z0-9._/-]+))?"
)


@dataclass(frozen=True, slots=True)
class Address:
    """A repository on the Hub, and a branch, tag or commit in it, None for its newest state."""

    repo: str
    revision: str | None = None

    @classmethod
    def parse(cls, text: str, what: str = "address") -> Self:
        """Read ``hf://org/name@revision`` or ``org/name@revision``. Raises ``UsageError``, in which
        ``what`` names the text, such as by the option that it came by."""
        found = _ADDRESS.fullmatch(text)
        if found is None or ".." in text or "--" in found["repo"]:
            remedy = "write hf://org/name@revision, such as hf://org/exams@v1"
            raise UsageError(f"{what} {clip(text)}: not an address on the Hub; {remedy}")
        return cls(found["repo"], found["revision"])

    def __str__(self) -> str:
        return f"hf://{self.repo}" + (f"@{self.revision}" if self.revision else "")


def connect() -> "HfApi":
    """Return a client of the Hub. Raises ``UsageError`` where the package is not installed."""
    try:
        from huggingface_hub import HfApi
        from huggingface_hub.utils.tqdm import disable_progress_bars
    except ModuleNotFoundError:
        remedy = "pip install 'causal-exams[hub]'"
        raise UsageError(f"the Hub needs the package huggingface_hub: {remedy}") from None
    # What goes wrong is told once, at the end.
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # once HfApi has set its own
    if not sys.stderr.isatty():
        disable_progress_bars()
    endpoint = os.environ.get("HF_ENDPOINT") or None
    return HfApi(endpoint=endpoint, library_name="causal-exams", library_version=__version__)


def cache_folder() -> Path:
    """Return the folder in which the Hub's client keeps what it downloads, by hash."""
    from huggingface_hub import constants

    return Path(os.environ.get("HF_HUB_CACHE") or constants.HF_HUB_CACHE)


def list_files(api: "HfApi", repo: str, revision: str | None = None) -> "dict[str, RepoFile]":
    """Return the files of a dataset repository by path."""
    from huggingface_hub import RepoFile

    entries = api.list_repo_tree(repo, recursive=True, revision=revision, repo_type="dataset")
    return {entry.path: entry for entry in entries if isinstance(entry, RepoFile)}


@contextmanager
def explain_hub_errors(what: object) -> Iterator[None]:
    """Turn a fault of network, Hub or token about ``what`` into ``UsageError``, one line that says
    what to do about it."""
    try:
        yield
    except UsageError:
        raise
    except Exception as error:
        line = next(filter(None, map(_explanation, _causes(error))), None)
        if line is None:
            raise
        raise UsageError(f"{what}: {line}") from None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield what caused an error, the first cause first, and last the error itself."""
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__ or error.__context__
    return reversed(chain)


def _explanation(error: BaseException) -> str | None:
    """Return what an error of the client means, or None for an error of another kind."""
    from huggingface_hub import errors

    match error:
        case errors.LocalTokenNotFoundError():
            return f"needs an account; {_TOKEN} do this"
        case errors.GatedRepoError():
            return f"is gated; ask for access on its page, then {_TOKEN} read it"
        case errors.RevisionNotFoundError():
            return "has no such revision; its page lists branches and tags"
        case errors.RepositoryNotFoundError():
            return f"no such repository, or a private one; check the name, and {_TOKEN} read it"
        case errors.RemoteEntryNotFoundError():
            return "a file is not there; is it what you meant to name?"
        case errors.HfHubHTTPError():
            return _explanation_of_status(error.response.status_code, error.server_message)
        case errors.OfflineModeIsEnabled():
            return "is not here whole, and HF_HUB_OFFLINE forbids to fetch it; unset it once"
        case OSError() if "Consistency check failed" in str(error):
            return f"the download was cut short; {_AGAIN}"
        case errors.LocalEntryNotFoundError():
            return f"cannot be reached, and is not here whole; {_AGAIN}"
    if type(error).__module__.startswith("httpx") and not hasattr(error, "response"):
        return f"the Hub cannot be reached ({type(error).__name__}); {_AGAIN}"
    return None


def _explanation_of_status(status: int, message: str | None) -> str:
    """Return what an HTTP status means, with the Hub's own message where it says more."""
    answer = f" ({' '.join(message.split())[:200]})" if message else ""
    match status:
        case 401:
            made = f"it may be revoked or out of date: make a new one, and {_TOKEN} do this"
            return f"the token was refused; {made}"
        case 403:
            return f"not allowed{answer}; {_TOKEN} do this"
        case 409 | 412:
            return f"was changed meanwhile{answer}; {_AGAIN}"
        case 429:
            return f"the Hub was asked too often (429); wait some minutes, then {_AGAIN}"
        case _ if status >= 500:
            return f"the Hub answered {status}; {_AGAIN}"
    return f"the Hub refused it ({status}){answer}"


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
        side = Side.open(snapshot(api, address, (MANIFEST,), local=True))
        if all(side.file(name).is_file() for name in side.manifest["shards"]):
            return side.path
    return None


def _download(api: "HfApi", address: Address) -> Path:
    """Return the folder of a release after it was downloaded, as its manifest promises it."""
    listed = list_files(api, address.repo, address.revision)
    if MANIFEST not in listed or listed[MANIFEST].size > MAX_MANIFEST:
        raise UsageError(f"{address}: no manifest.json in it; it is no release of ours")
    shards = Side.open(snapshot(api, address, (MANIFEST,))).manifest["shards"]
    for name, promised in shards.items():
        found = listed.get(name)
        same = found is not None and found.size == promised["bytes"]
        if found is None or not same or (found.lfs and found.lfs.sha256 != promised["sha256"]):
            why = "is not what its manifest.json says, so nothing was fetched"
            raise UsageError(f"{address}: {name} {why}; tell its maintainer")
    papers = [n for n in PAPERS if n in listed and listed[n].size <= _LARGEST_PAPER]
    side = Side.open(snapshot(api, address, (MANIFEST, *papers, *shards)))
    for name in shards:
        try:
            side.check(name)
        except UsageError:
            file = side.file(name)
            blob = Path(os.path.realpath(file))
            for damaged in (file, blob) if cache_folder().resolve() in blob.parents else (file,):
                damaged.unlink(missing_ok=True)
            why = f"{name} came damaged and was removed"
            raise UsageError(f"{address}: {why}; run the same command again") from None
    return side.path


def snapshot(api: "HfApi", address: Address, names: Sequence[str], *, local: bool = False) -> Path:
    """Return the cached folder of a revision with the files ``names`` (patterns); ``local``: as it
    is here."""
    found = api.snapshot_download(
        address.repo,
        repo_type="dataset",
        revision=address.revision,
        cache_dir=cache_folder(),
        allow_patterns=list(names),
        local_files_only=local,
    )
    return Path(found)
