"""Handing in: a packed submission as a pull request to the dataset of submissions."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grader.hub.client import explain_hub_errors
from grader.io.files import file_sha256

if TYPE_CHECKING:
    from huggingface_hub import HfApi

FOLDER: Final = "submissions"
DIGITS: Final = 16
"""Of the SHA-256 of a file: the id of a submission, the same for the same bytes."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """A submission's id, where it is, and whether it was there before."""

    id: str
    place: str
    before: bool


def submission_id(packed: Path) -> str:
    """The id of a packed file."""
    return file_sha256(packed)[:DIGITS]


def title(identity: str) -> str:
    """What the pull request of a submission is called."""
    return f"Submission {identity}"


def hand_in(api: "HfApi", packed: Path, repo: str, *, direct: bool = False) -> Receipt:
    """Send a packed file, unless the very same is there or waiting; raises ``UsageError``.

    ``direct`` writes to the main branch, for members of the repository's organisation.
    """
    from huggingface_hub import CommitOperationAdd

    identity = submission_id(packed)
    with explain_hub_errors(repo):
        team = api.whoami()["name"]
        path = f"{FOLDER}/{team}/{identity}.parquet"
        if (place := _there(api, repo, team, path, identity)) is not None:
            return Receipt(identity, place, before=True)
        commit = api.create_commit(
            repo, [CommitOperationAdd(path, str(packed))], commit_message=title(identity),
            repo_type="dataset", create_pr=not direct,
        )  # fmt: skip
    return Receipt(identity, commit.pr_url or commit.commit_url, before=False)


def _there(api: "HfApi", repo: str, team: str, path: str, identity: str) -> str | None:
    """Where the same file is already: in the repository, or in a pull request of the same team."""
    if api.file_exists(repo, path, repo_type="dataset"):
        return f"{repo}/{path}"
    pulls = api.get_repo_discussions(
        repo, author=team, discussion_type="pull_request", repo_type="dataset"
    )
    same = (pull for pull in pulls if pull.title == title(identity))
    return next((pull.url for pull in same if pull.status in ("open", "draft")), None)
