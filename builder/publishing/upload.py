"""Bringing a repository on the Hub to a wanted state: what changed travels, the rest stays.

Shards are stored one at a time and then become visible together, in one commit with the papers. A
run that was interrupted stores what is not there yet; a tag is never moved.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from builder.publishing.contents import Files
from builder.release.papers import EVAL
from grader.errors import UsageError
from grader.hub.client import explain_hub_errors
from grader.io.files import file_sha256

if TYPE_CHECKING:
    from huggingface_hub import HfApi, RepoFile

_OF_THE_HUB: Final = frozenset({".gitattributes"})
_REFUSED: Final = 400


@dataclass(frozen=True, slots=True)
class Target:
    """A dataset repository to write: a private one is gated, too."""

    repo: str
    tag: str
    private: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What has to happen: files to send and to remove; of ``files`` the rest is there already."""

    files: Files
    send: Sequence[str]
    remove: Sequence[str]
    tagged: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        return self.tagged and not self.send and not self.remove

    @property
    def bytes(self) -> int:
        """What travels at most."""
        return sum(_size(self.files[name]) for name in self.send)


def plan(api: "HfApi", target: Target, files: Files) -> Plan:
    """Compare a repository with what it is to hold; one that does not exist yet is empty.

    Raises ``UsageError`` where the tag stands for something else: a version is never changed.
    """
    with explain_hub_errors(target.repo):
        if not api.repo_exists(target.repo, repo_type="dataset"):
            return Plan(files, sorted(files), [])
        _refuse_open(api, target)
        tags = {ref.name for ref in api.list_repo_refs(target.repo, repo_type="dataset").tags}
        if target.tag in tags:
            send, remove = _differences(_listed(api, target, target.tag), files)
            if remove or set(send) - {EVAL}:
                changed = min([*remove, *(set(send) - {EVAL})])
                raise UsageError(
                    f"{target.repo}: {target.tag} stands for another state ({changed} differs), "
                    "and a version is never changed; raise `version` in the split file, or give "
                    "another --revision"
                )
            return Plan(files, [], [], tagged=True)
        return Plan(files, *_differences(_listed(api, target, "main"), files))


def carry_out(api: "HfApi", target: Target, work: Plan) -> None:
    """Send, remove and tag; raises ``UsageError``, after which the same call goes on."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    with explain_hub_errors(target.repo):
        _make(api, target)
        if work.tagged:
            return
        head = api.repo_info(target.repo, repo_type="dataset").sha
        large = [name for name in work.send if name.endswith(".parquet")]
        adds = {name: CommitOperationAdd(name, _source(work.files[name])) for name in work.send}
        for name in large:
            api.preupload_lfs_files(
                target.repo, [adds[name]], repo_type="dataset", free_memory=False
            )
        operations: list[Any] = [adds[name] for name in work.send if name != EVAL]
        operations += [CommitOperationDelete(name) for name in work.remove]
        if operations:
            head = api.create_commit(
                target.repo, operations, commit_message=f"Release {target.tag}",
                repo_type="dataset", parent_commit=head,
            ).oid  # fmt: skip
        if EVAL in work.send:
            head = _register(api, target, adds[EVAL], head, work.notes)
        api.create_tag(target.repo, tag=target.tag, revision=head, repo_type="dataset")


def _register(
    api: "HfApi", target: Target, paper: Any, head: str | None, notes: list[str]
) -> str | None:
    """The registration as a benchmark, which the Hub takes from frameworks that it lists only."""
    from huggingface_hub.errors import HfHubHTTPError

    try:
        return api.create_commit(
            target.repo, [paper], commit_message="Registration as a benchmark",
            repo_type="dataset", parent_commit=head,
        ).oid  # fmt: skip
    except HfHubHTTPError as error:
        if error.response.status_code != _REFUSED:
            raise
        said = " ".join((error.server_message or "").split())[:200]
        notes.append(f"{EVAL} was refused by the Hub ({said}); everything else is there")
        return head


def _make(api: "HfApi", target: Target) -> None:
    """The repository exists, and a private one is closed."""
    api.create_repo(target.repo, repo_type="dataset", private=target.private, exist_ok=True)
    _refuse_open(api, target)
    if target.private:
        api.update_repo_settings(target.repo, repo_type="dataset", gated="manual")


def _refuse_open(api: "HfApi", target: Target) -> None:
    """Raise ``UsageError`` where the private side would go into a repository that all can read."""
    if target.private and not api.repo_info(target.repo, repo_type="dataset").private:
        raise UsageError(
            f"{target.repo}: is open to everyone, so nothing private is sent there; make it "
            "private in its settings, or name another --private-repo"
        )


def _listed(api: "HfApi", target: Target, revision: str) -> "Mapping[str, RepoFile]":
    from huggingface_hub import RepoFile

    entries = api.list_repo_tree(
        target.repo, recursive=True, revision=revision, repo_type="dataset"
    )
    return {
        entry.path: entry
        for entry in entries
        if isinstance(entry, RepoFile) and entry.path not in _OF_THE_HUB
    }


def _differences(there: "Mapping[str, RepoFile]", files: Files) -> tuple[list[str], list[str]]:
    """What is absent or another, and what is too much."""
    send = [n for n, source in sorted(files.items()) if not _same(there.get(n), source)]
    return send, sorted(there.keys() - files.keys())


def _same(entry: "RepoFile | None", source: Path | bytes) -> bool:
    if entry is None or entry.size != _size(source):
        return False
    if entry.lfs is not None:
        digest = hashlib.sha256(source).hexdigest() if isinstance(source, bytes) else None
        return (digest or file_sha256(Path(str(source)))) == entry.lfs.sha256
    data = source if isinstance(source, bytes) else source.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest() == entry.blob_id


def _size(source: Path | bytes) -> int:
    return len(source) if isinstance(source, bytes) else source.stat().st_size


def _source(source: Path | bytes) -> str | bytes:
    return source if isinstance(source, bytes) else str(source)
