"""Making a repository on the Hub hold given files: what changed is sent, the rest stays.

Shards are stored first and then become visible together, in one commit with the papers. A run after
an interrupted one stores what is not there yet. A tag is never moved.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from builder.publishing.contents import Files
from builder.release.papers import EVAL
from grader.errors import UsageError
from grader.hub.client import explain_hub_errors, list_files
from grader.io.files import file_sha256

if TYPE_CHECKING:
    from huggingface_hub import HfApi, RepoFile

_OF_THE_HUB: Final = frozenset({".gitattributes"})
_REFUSED: Final = 400


@dataclass(frozen=True, slots=True)
class Target:
    """A dataset repository (gated if ``private``) and the tag of this release there."""

    repo: str
    tag: str
    private: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes that bring ``files`` to a repository: names to send and to remove. ``tagged``:
    the tag names these files already. ``notes`` are filled while changes are made."""

    files: Files
    send: Sequence[str]
    remove: Sequence[str]
    tagged: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left to do."""
        return self.tagged and not self.send and not self.remove

    @property
    def bytes(self) -> int:
        """The size of the files to send, in bytes."""
        return sum(_size(self.files[name]) for name in self.send)


def compare(api: "HfApi", target: Target, files: Files) -> Changes:
    """Return the changes that bring ``files`` to a repository, and make none. Raises ``UsageError``
    where the tag names other content, or a private target is open to everyone."""
    with explain_hub_errors(target.repo):
        if not api.repo_exists(target.repo, repo_type="dataset"):
            return Changes(files, sorted(files), [])
        _refuse_open(api, target)
        tags = {ref.name for ref in api.list_repo_refs(target.repo, repo_type="dataset").tags}
        if target.tag in tags:
            send, remove = _differences(_files_there(api, target, target.tag), files)
            if remove or set(send) - {EVAL}:
                changed = min([*remove, *(set(send) - {EVAL})])
                raise UsageError(
                    f"{target.repo}: {target.tag} already names other content ({changed} differs), "
                    "and a version is never changed; raise `version` in the split file, or give "
                    "another --revision"
                )
            return Changes(files, [], [], tagged=True)
        return Changes(files, *_differences(_files_there(api, target, "main"), files))


def make_changes(api: "HfApi", target: Target, changes: Changes) -> None:
    """Create the repository, send, remove, tag; messages go to ``changes.notes``. The same call
    resumes after ``UsageError``."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    with explain_hub_errors(target.repo):
        _make_repository(api, target)
        if changes.tagged:
            return
        head = api.repo_info(target.repo, repo_type="dataset").sha
        adds = {name: CommitOperationAdd(name, changes.files[name]) for name in changes.send}
        operations: list[Any] = [adds[name] for name in changes.send if name != EVAL]
        operations += [CommitOperationDelete(name) for name in changes.remove]
        if operations:
            head = _commit(api, target, operations, f"Release {target.tag}", head)
        if EVAL in changes.send:
            head = _register(api, target, adds[EVAL], head, changes.notes)
        api.create_tag(target.repo, tag=target.tag, revision=head, repo_type="dataset")


def _commit(
    api: "HfApi", target: Target, operations: list[Any], message: str, head: str | None
) -> str:
    """Commit operations on ``main`` on top of ``head``; return the new commit's hash."""
    return api.create_commit(
        target.repo,
        operations,
        commit_message=message,
        repo_type="dataset",
        parent_commit=head,
    ).oid


def _register(
    api: "HfApi", target: Target, paper: Any, head: str | None, notes: list[str]
) -> str | None:
    """Send ``eval.yaml``; return the new commit, or ``head`` and a note if it is refused."""
    from huggingface_hub.errors import HfHubHTTPError

    try:
        return _commit(api, target, [paper], "Registration as a benchmark", head)
    except HfHubHTTPError as error:
        if error.response.status_code != _REFUSED:
            raise
        said = " ".join((error.server_message or "").split())[:200]
        notes.append(f"{EVAL} was refused by the Hub ({said}); everything else is there")
        return head


def _make_repository(api: "HfApi", target: Target) -> None:
    """Create an absent repository; gate a private one, or raise ``UsageError`` if it is open."""
    api.create_repo(target.repo, repo_type="dataset", private=target.private, exist_ok=True)
    _refuse_open(api, target)
    if target.private:
        api.update_repo_settings(target.repo, repo_type="dataset", gated="manual")


def _refuse_open(api: "HfApi", target: Target) -> None:
    """Raise ``UsageError`` if the private side would go where everyone can read."""
    if target.private and not api.repo_info(target.repo, repo_type="dataset").private:
        raise UsageError(
            f"{target.repo}: is open to everyone, so nothing private is sent there; make it "
            "private in its settings, or name another --private-repo"
        )


def _files_there(api: "HfApi", target: Target, revision: str) -> "Mapping[str, RepoFile]":
    """Return a repository's files at a revision by path, without the Hub's own."""
    listed = list_files(api, target.repo, revision)
    return {path: entry for path, entry in listed.items() if path not in _OF_THE_HUB}


def _differences(there: "Mapping[str, RepoFile]", files: Files) -> tuple[list[str], list[str]]:
    """Return names of files absent or different on the Hub, and of those there in excess."""
    send = [n for n, source in sorted(files.items()) if not _is_same(there.get(n), source)]
    return send, sorted(there.keys() - files.keys())


def _is_same(entry: "RepoFile | None", source: Path | bytes) -> bool:
    """Tell whether a file on the Hub (None: absent) has size and hash of ``source``."""
    if entry is None or entry.size != _size(source):
        return False
    if entry.lfs is not None:
        digest = hashlib.sha256(source).hexdigest() if isinstance(source, bytes) else None
        return (digest or file_sha256(Path(str(source)))) == entry.lfs.sha256
    data = source if isinstance(source, bytes) else source.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest() == entry.blob_id


def _size(source: Path | bytes) -> int:
    """Return the size in bytes of a file here or of its content."""
    return len(source) if isinstance(source, bytes) else source.stat().st_size
