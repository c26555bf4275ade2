"""The dataset of submissions: how they are handed in, what waits, and what submitters hear.

A submission is a packed file in the folder of the account that hands it in, the team, called by the
start of its SHA-256. It comes in a pull request, which is a stranger's, who may change it at any
time: it is never merged. The one new file in it is looked at, and that very file is stored on the
main branch by the maintainer.
"""

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grader.hub.client import cache_folder, explain_hub_errors, list_files
from grader.hub.results import FOLDER as RESULTS
from grader.io.files import file_sha256
from grader.io.paths import path_inside
from grader.pages.words import interval_text, markdown_text, points

if TYPE_CHECKING:
    from huggingface_hub import Discussion, HfApi, RepoFile

FOLDER: Final = "submissions"
DIGITS: Final = 16
"""Digits of the SHA-256 of a file that are its id, the same for the same bytes."""
MOST_BYTES: Final = 1 << 30
_PATH: Final = re.compile(
    rf"{FOLDER}/(?P<team>[A-Za-z0-9][A-Za-z0-9_.-]{{0,59}})/(?P<id>[0-9a-f]{{{DIGITS}}})\.parquet"
)
_WAITING: Final = ("open", "draft")
_TITLE: Final = "Submission {}"
"""The title of a pull request, and of the commit that stores its file."""
_MARK: Final = "<!-- causal-exams {} -->"
_NOTICES: Final = 5


@dataclass(frozen=True, slots=True)
class Delivery:
    """A submission as it was handed in, on a ``day`` (ISO), by the pull request of number ``pull``:
    the ``path`` of its file, or why it is ``refused`` unread."""

    id: str
    team: str
    day: str
    path: str
    pull: int
    refused: str = ""


def path_of(team: str, identity: str) -> str:
    """Return the path of a submission in its dataset."""
    return f"{FOLDER}/{team}/{identity}.parquet"


def hand_in(api: "HfApi", packed: Path, repo: str) -> tuple[str, str, bool]:
    """Send a packed file, unless the very same is there or waiting; return its id, where it is, and
    whether it was there before. Raises ``UsageError``."""
    from huggingface_hub import CommitOperationAdd

    identity = file_sha256(packed)[:DIGITS]
    title = _TITLE.format(identity)
    with explain_hub_errors(repo):
        team = api.whoami()["name"]
        path = path_of(team, identity)
        if api.file_exists(repo, path, repo_type="dataset"):
            return identity, f"{repo}/{path}", True
        pulls = api.get_repo_discussions(
            repo, author=team, discussion_type="pull_request", repo_type="dataset"
        )
        for pull in pulls:
            if pull.title == title and pull.status in _WAITING:
                return identity, pull.url, True
        commit = api.create_commit(
            repo,
            [CommitOperationAdd(path, str(packed))],
            commit_message=title,
            repo_type="dataset",
            create_pr=True,
        )
    return identity, str(commit.pr_url), False


def list_submissions(api: "HfApi", repo: str) -> list[Delivery]:
    """Return the submissions in open pull requests, oldest first. Raises ``UsageError``."""
    with explain_hub_errors(repo):
        main = list_files(api, repo, "main")
        pulls = api.get_repo_discussions(repo, discussion_type="pull_request", repo_type="dataset")
        waiting = [_in_pull(api, repo, pull, main) for pull in pulls if pull.status in _WAITING]
    return sorted(waiting, key=lambda one: (one.day, one.pull))


def _in_pull(
    api: "HfApi", repo: str, pull: "Discussion", main: "Mapping[str, RepoFile]"
) -> Delivery:
    """Return the submission of a pull request: the one new file in the folder of its account."""
    files = list_files(api, repo, f"refs/pr/{pull.num}")
    matches = filter(None, map(_PATH.fullmatch, files))
    own = [match for match in matches if match["team"] == pull.author]
    # After a run that stored the file and was killed it is new no more; then the title names it.
    new = [match for match in own if match[0] not in main] or [
        match for match in own if pull.title == _TITLE.format(match["id"])
    ]
    day, refused = pull.created_at.date().isoformat(), ""
    if len(new) != 1:
        refused = f"it has {len(new)} new files {FOLDER}/{pull.author}/<id>.parquet; hand in one"
    elif files[new[0][0]].size > MOST_BYTES:
        refused = f"over {MOST_BYTES >> 20} MiB"
    if refused:
        return Delivery(f"{pull.num:0{DIGITS}d}", pull.author, day, "", pull.num, refused=refused)
    return Delivery(new[0]["id"], pull.author, day, new[0][0], pull.num)


def download(
    api: "HfApi", repo: str, one: Delivery, folder: Path, revision: str | None = None
) -> Path | None:
    """Download the file of a submission to ``folder/<id>/<team>.parquet`` and return that path, or
    None where its bytes are not those that its id stands for.

    ``revision`` is that of its pull request by default. Raises ``UsageError``.
    """
    target = path_inside(path_inside(folder, one.id), one.team, ".parquet")
    target.parent.mkdir(parents=True, exist_ok=True)
    for anew in (False, True):  # what was damaged on its way is whole the next time
        with explain_hub_errors(f"{repo}, {one.path}"):
            found = api.hf_hub_download(
                repo,
                one.path,
                repo_type="dataset",
                revision=revision or f"refs/pr/{one.pull}",
                cache_dir=cache_folder(),
                force_download=anew,
            )
        # A file of its own: the client's cache holds links, which no submission may be.
        shutil.copyfile(found, target)
        if file_sha256(target)[:DIGITS] == one.id:
            return target
    return None


def download_graded(
    api: "HfApi", repo: str, one: Delivery, sha256: str, folder: Path, revision: str | None = None
) -> Path | None:
    """Download the file of a submission again, or return None where it is another by now: a pull
    request is its submitter's, and the id is too short to prove a file. Raises ``UsageError``."""
    file = download(api, repo, one, folder, revision)
    return file if file is not None and file_sha256(file) == sha256 else None


def store(api: "HfApi", repo: str, one: Delivery, file: Path) -> None:
    """Put the graded file on the main branch, at the delivery's path. Raises ``UsageError``."""
    from huggingface_hub import CommitOperationAdd

    with explain_hub_errors(repo):
        api.create_commit(
            repo,
            [CommitOperationAdd(one.path, str(file))],
            repo_type="dataset",
            commit_message=_TITLE.format(one.id),
        )


def reply(api: "HfApi", repo: str, pull: int, row: Mapping[str, Any], results: str) -> None:
    """Answer a pull request once, and close it. Raises ``UsageError``."""
    from huggingface_hub import DiscussionComment

    kind, mark = "dataset", _MARK.format(row["id"])
    with explain_hub_errors(f"{repo}, pull request {pull}"):
        events = api.get_discussion_details(repo, pull, repo_type=kind).events
        said = [event.content for event in events if isinstance(event, DiscussionComment)]
        if not any(mark in text for text in said):
            api.comment_discussion(repo, pull, comment(row, results), repo_type=kind)
        api.change_discussion_status(repo, pull, "closed", repo_type=kind)


def comment(row: Mapping[str, Any], results: str) -> str:
    """Return the answer to a submitter as Markdown, in which words of the submission are plain."""
    mark, report = _MARK.format(row["id"]), row["report"]
    if report is None:
        return f"{mark}\n\n**{row['status']}**: {markdown_text(row['reason'])}\n"
    census, release = report["census"], markdown_text(row["release"]["name"])
    lines = [
        mark,
        f"**{markdown_text(row['system'])}** on {release}, {row['split']}/{row['exam']}: "
        f"{census['scored']} of {census['tasks']} answers scored, "
        f"{census['missing']} missing, {census['invalid']} invalid.",
    ]
    if report["skill"] is not None:
        span = interval_text(report["skill_interval"], 1)
        lines.append(f"Skill {points(report['skill'])} {span}, points {points(report['points'])}.")
    elif report["points"] is not None:
        span = interval_text(report["points_interval"], 1)
        lines.append(f"Points {points(report['points'])} {span}.")
    elif report.get("redacted"):
        lines.append("Its truth is private: no figure is shown of this submission.")
    lines += [
        *(f"- {markdown_text(notice)}" for notice in report["notices"][:_NOTICES]),
        f"The file is kept as `{path_of(row['team'], row['id'])}`.",
        f"Everything that is shown of it: `{RESULTS}/{row['id']}.json` in "
        f"[{results}](https://huggingface.co/datasets/{results}).",
    ]
    return "\n\n".join(lines) + "\n"
