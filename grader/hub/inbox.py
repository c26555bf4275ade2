"""The dataset of submissions: what waits in pull requests, and what was taken into it.

A pull request is a stranger's. It may add one file, in the folder of the account that opened it;
the account is the team. What stands on the main branch was put there by the maintainer.
"""

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grader.errors import UsageError
from grader.hub.client import cache_folder, told
from grader.hub.submit import DIGITS, FOLDER, submission_id
from grader.io.paths import inside

if TYPE_CHECKING:
    from huggingface_hub import Discussion, HfApi, RepoFile

MOST_BYTES: Final = 1 << 30
_PATH: Final = re.compile(
    rf"{FOLDER}/(?P<team>[A-Za-z0-9][A-Za-z0-9_.-]{{0,59}})/(?P<id>[0-9a-f]{{{DIGITS}}})\.parquet"
)
_WAITING: Final = ("open", "draft")


@dataclass(frozen=True, slots=True)
class HandedIn:
    """One submission, and the day it came (ISO); ``refused`` says why it is not even opened.

    ``pull`` is the number of its pull request, ``None`` where it is on the main branch.
    """

    id: str
    team: str
    day: str
    path: str
    pull: int | None = None
    draft: bool = False
    refused: str = ""

    @property
    def revision(self) -> str:
        """Where its file is."""
        return "main" if self.pull is None else f"refs/pr/{self.pull}"


def handed_in(api: "HfApi", repo: str) -> list[HandedIn]:
    """Everything in the dataset, oldest first; raises ``UsageError``."""
    with told(repo):
        main = _listed(api, repo, "main")
        found = [_on_main(path, entry) for path, entry in main.items() if _PATH.fullmatch(path)]
        pulls = api.get_repo_discussions(repo, discussion_type="pull_request", repo_type="dataset")
        found += [_of_pull(api, repo, pull, main) for pull in pulls if pull.status in _WAITING]
    return sorted(found, key=lambda one: (one.day, one.pull or 0, one.id))


def _on_main(path: str, entry: "RepoFile") -> HandedIn:
    match = _PATH.fullmatch(path)
    assert match is not None
    day = entry.last_commit.date.date().isoformat() if entry.last_commit is not None else ""
    return HandedIn(match["id"], match["team"], day, path)


def _of_pull(
    api: "HfApi", repo: str, pull: "Discussion", main: "Mapping[str, RepoFile]"
) -> HandedIn:
    """The submission of a pull request: the one file that it adds."""
    day, draft = pull.created_at.date().isoformat(), pull.status == "draft"
    number = f"{pull.num:0{DIGITS}d}"
    there = _listed(api, repo, f"refs/pr/{pull.num}")
    added = {path: entry for path, entry in there.items() if not _same(main.get(path), entry)}
    path, entry = next(iter(added.items()), ("", None))
    match = _PATH.fullmatch(path)
    refused = ""
    if len(added) != 1 or entry is None:
        refused = f"a pull request adds one file; this one adds {len(added)}"
    elif match is None or match["team"] != pull.author or path in main:
        refused = f"a submission of {pull.author} is a new file {FOLDER}/{pull.author}/<id>.parquet"
    elif entry.size > MOST_BYTES:
        refused = f"over {MOST_BYTES >> 20} MiB"
    identity = match["id"] if match is not None and not refused else number
    return HandedIn(identity, pull.author, day, path, pull.num, draft, refused)


def _same(first: "RepoFile | None", second: "RepoFile") -> bool:
    return first is not None and first.blob_id == second.blob_id


def _listed(api: "HfApi", repo: str, revision: str) -> "Mapping[str, RepoFile]":
    from huggingface_hub import RepoFile

    entries = api.list_repo_tree(
        repo, recursive=True, expand=True, revision=revision, repo_type="dataset"
    )
    return {entry.path: entry for entry in entries if isinstance(entry, RepoFile)}


def download(api: "HfApi", repo: str, one: HandedIn, folder: Path) -> Path:
    """The file of a submission as ``folder/<id>/<team>.parquet``; raises ``UsageError``.

    One whose bytes are not those that its id stands for is refused.
    """
    target = inside(inside(folder, one.id), one.team, ".parquet")
    with told(f"{repo}, {one.path}"):
        found = api.hf_hub_download(
            repo, one.path, repo_type="dataset", revision=one.revision, cache_dir=cache_folder()
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    # A file of its own: the client's cache holds links, which no submission may be.
    shutil.copyfile(found, target)
    if submission_id(target) != one.id:
        raise UsageError(f"{one.path}: is not called by its SHA-256; hand it in with `submit`")
    return target
