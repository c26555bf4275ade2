"""The files that a side of a release becomes on the Hub, and their way into a repository.

Shards and manifest are sent as they were checked. Papers are written anew for the place where they
will be read. Anything else in the folder is refused. The Hub's client leaves out what is there
already. Shards become visible in one commit with the papers. A tag is never moved.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from builder.publishing.errata import ERRATA
from builder.release.manifest import MANIFEST, read_manifest
from builder.release.papers import EVAL, MADE, on_hub, papers
from builder.release.workspace import GATE_FILE
from grader.errors import UsageError
from grader.hub.client import cache_folder, explain_hub_errors, list_files

if TYPE_CHECKING:
    from huggingface_hub import HfApi

Files = Mapping[str, Path | bytes]
"""What a repository is to hold: a path in it, and the file here or its content."""
_OF_THE_HUB: Final = ".gitattributes"
_REFUSED: Final = 400


@dataclass(frozen=True, slots=True)
class Target:
    """A dataset repository (gated if ``private``), the tag of this release there, and the side of
    the release that it is to hold."""

    repo: str
    tag: str
    side: Path
    private: bool = False

    def __str__(self) -> str:
        return f"{self.repo} ({'private' if self.private else 'public'})"


def files_to_send(target: Target) -> Files:
    """Return the files to send for a target. Raises ``UsageError`` for a link or another file."""
    side, manifest = target.side, read_manifest(target.side)
    known = {*manifest["shards"], *MADE, MANIFEST, ERRATA}
    for path in sorted(side.rglob("*")):
        name = path.relative_to(side).as_posix()
        if path.is_symlink() or (path.is_file() and name not in known):
            kind = "is a link" if path.is_symlink() else "is no part of a release"
            raise UsageError(
                f"{path}: {kind}, and may hold private truth; move it away (gate, "
                "transcripts and logs belong beside the private side)"
            )
    files: dict[str, Path | bytes] = {n: side / n for n in (*manifest["shards"], MANIFEST)}
    for name, text in papers(manifest, side, on_hub(target.repo, target.tag)).items():
        files[name] = text.encode("utf-8")
    if (side / ERRATA).is_file():
        files[ERRATA] = side / ERRATA
    if target.private and (side.parent / GATE_FILE).is_file():
        files[GATE_FILE] = side.parent / GATE_FILE
    return files


def upload(api: "HfApi", target: Target, files: Files) -> str:
    """Make the target hold ``files`` under its tag, and return in words what was done.

    Raises ``UsageError`` where the tag names another release, or a private target is open to
    everyone. The same call goes on after any other error.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    repo, tag = target.repo, target.tag
    with explain_hub_errors(repo):
        api.create_repo(repo, repo_type="dataset", private=target.private, exist_ok=True)
        info = api.repo_info(repo, repo_type="dataset")
        if target.private and not info.private:
            raise UsageError(
                f"{repo}: is open to everyone, so nothing private is sent there; make it "
                "private in its settings, or name another --private-repo"
            )
        if target.private:
            api.update_repo_settings(repo, repo_type="dataset", gated="manual")
        if tag in {ref.name for ref in api.list_repo_refs(repo, repo_type="dataset").tags}:
            there = api.hf_hub_download(  # a manifest states the hash of every shard
                repo, MANIFEST, repo_type="dataset", revision=tag, cache_dir=cache_folder()
            )
            if Path(there).read_bytes() != (target.side / MANIFEST).read_bytes():
                raise UsageError(
                    f"{repo}: {tag} already names other content, and a version is never changed; "
                    "raise `version` in the split file, or give another --revision"
                )
            return f"{tag} is there whole, nothing to send"
        surplus = list_files(api, repo, "main").keys() - files.keys() - {_OF_THE_HUB}
        head = api.create_commit(
            repo,
            [
                *(CommitOperationAdd(n, file) for n, file in files.items() if n != EVAL),
                *(CommitOperationDelete(name) for name in sorted(surplus)),
            ],
            commit_message=f"Release {tag}",
            repo_type="dataset",
            parent_commit=info.sha,
        ).oid
        note = ""
        if EVAL in files:
            head, note = _register(api, repo, files[EVAL], head)
        api.create_tag(repo, tag=tag, revision=head, repo_type="dataset")
    return f"sent, tag {tag}{note}"


def _register(api: "HfApi", repo: str, paper: Path | bytes, head: str) -> tuple[str, str]:
    """Send ``eval.yaml``; return the new commit, or ``head`` and a note if it is refused."""
    from huggingface_hub import CommitOperationAdd
    from huggingface_hub.errors import HfHubHTTPError

    try:
        commit = api.create_commit(
            repo,
            [CommitOperationAdd(EVAL, paper)],
            commit_message="Registration as a benchmark",
            repo_type="dataset",
            parent_commit=head,
        )
    except HfHubHTTPError as error:
        if error.response.status_code != _REFUSED:
            raise
        said = " ".join((error.server_message or "").split())[:200]
        return head, f"; {EVAL} was refused by the Hub ({said}), everything else is there"
    return commit.oid, ""
