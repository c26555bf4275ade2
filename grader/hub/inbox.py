"""The dataset of submissions: what waits in pull requests, what was taken into it, and what
submitters hear.

A pull request is a stranger's, who may change it at any time: it is never merged. One new file in
the folder of the account that opened it is looked at, and that very file is stored; the account is
the team. What stands on the main branch was put there by the maintainer.
"""

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grader.errors import UsageError
from grader.hub.client import cache_folder, explain_hub_errors
from grader.hub.results import FOLDER as RESULTS
from grader.hub.submit import DIGITS, FOLDER, submission_id, title
from grader.io.paths import path_inside
from grader.pages.words import interval_text, points, printable

if TYPE_CHECKING:
    from huggingface_hub import Discussion, HfApi, RepoFile

MOST_BYTES: Final = 1 << 30
_PATH: Final = re.compile(
    rf"{FOLDER}/(?P<team>[A-Za-z0-9][A-Za-z0-9_.-]{{0,59}})/(?P<id>[0-9a-f]{{{DIGITS}}})\.parquet"
)
_WAITING: Final = ("open", "draft")
_MARK: Final = "<!-- causal-exams {} -->"
_MARKUP: Final = re.compile(r"([\\`*_{}\[\]<>#|!@])")
_NOTICES: Final = 5


@dataclass(frozen=True, slots=True)
class HandedIn:
    """One submission, and the day it came (ISO); ``refused`` says why it is not even opened.

    ``pull`` is the number of its pull request, ``None`` where there is none; ``stored`` is whether
    its file is on the main branch.
    """

    id: str
    team: str
    day: str
    path: str
    pull: int | None = None
    stored: bool = False
    refused: str = ""

    @property
    def revision(self) -> str:
        """Where its file is."""
        return "main" if self.stored else f"refs/pr/{self.pull}"


def handed_in(api: "HfApi", repo: str) -> list[HandedIn]:
    """Everything in the dataset, oldest first; raises ``UsageError``."""
    with explain_hub_errors(repo):
        main = _listed(api, repo, "main")
        pulls = api.get_repo_discussions(repo, discussion_type="pull_request", repo_type="dataset")
        asked = [_of_pull(api, repo, pull, main) for pull in pulls if pull.status in _WAITING]
        waiting = {one.path for one in asked}
        found = [
            _on_main(match, entry)
            for path, entry in main.items()
            if (match := _PATH.fullmatch(path)) is not None and path not in waiting
        ]
    return sorted([*found, *asked], key=lambda one: (one.day, one.pull or 0, one.id))


def _on_main(match: re.Match[str], entry: "RepoFile") -> HandedIn:
    day = entry.last_commit.date.date().isoformat() if entry.last_commit is not None else ""
    return HandedIn(match["id"], match["team"], day, match[0], stored=True)


def _of_pull(
    api: "HfApi", repo: str, pull: "Discussion", main: "Mapping[str, RepoFile]"
) -> HandedIn:
    """The submission of a pull request: the one new file in the folder of its account.

    Whatever else it changes is not looked at, since nothing but that file is ever taken from it.
    """
    there = _listed(api, repo, f"refs/pr/{pull.num}")
    own = [match for path in there if (match := _PATH.fullmatch(path)) is not None]
    own = [match for match in own if match["team"] == pull.author]
    # After a run that stored the file and was killed it is new no more; then the title names it.
    new = [match for match in own if match[0] not in main] or [
        match for match in own if pull.title == title(match["id"])
    ]
    day, refused = pull.created_at.date().isoformat(), ""
    if len(new) != 1:
        refused = f"it has {len(new)} new files {FOLDER}/{pull.author}/<id>.parquet; hand in one"
    elif there[new[0][0]].size > MOST_BYTES:
        refused = f"over {MOST_BYTES >> 20} MiB"
    if refused:
        return HandedIn(f"{pull.num:0{DIGITS}d}", pull.author, day, "", pull.num, refused=refused)
    stored = new[0][0] in main
    return HandedIn(new[0]["id"], pull.author, day, new[0][0], pull.num, stored)


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
    target = path_inside(path_inside(folder, one.id), one.team, ".parquet")
    target.parent.mkdir(parents=True, exist_ok=True)
    for anew in (False, True):  # what was damaged on its way is whole the next time
        with explain_hub_errors(f"{repo}, {one.path}"):
            found = api.hf_hub_download(
                repo, one.path, repo_type="dataset", revision=one.revision,
                cache_dir=cache_folder(), force_download=anew,
            )  # fmt: skip
        # A file of its own: the client's cache holds links, which no submission may be.
        shutil.copyfile(found, target)
        if submission_id(target) == one.id:
            return target
    raise UsageError(f"{one.path}: is not called by its SHA-256; hand it in with `submit`")


def store(api: "HfApi", repo: str, one: HandedIn, file: Path) -> None:
    """Put the file that was graded on the main branch, once; raises ``UsageError``."""
    from huggingface_hub import CommitOperationAdd

    if not one.stored:
        with explain_hub_errors(repo):
            api.create_commit(
                repo, [CommitOperationAdd(one.path, str(file))], repo_type="dataset",
                commit_message=title(one.id),
            )  # fmt: skip


def reply(api: "HfApi", repo: str, one: HandedIn, row: Mapping[str, Any], results: str) -> None:
    """Answer a pull request that still waits, once; raises ``UsageError``."""
    from huggingface_hub import DiscussionComment

    if one.pull is None:
        return
    kind = "dataset"
    with explain_hub_errors(f"{repo}, pull request {one.pull}"):
        details = api.get_discussion_details(repo, one.pull, repo_type=kind)
        said = [event.content for event in details.events if isinstance(event, DiscussionComment)]
        if not any(_MARK.format(one.id) in text for text in said):
            api.comment_discussion(repo, one.pull, text(row, results), repo_type=kind)
        api.change_discussion_status(repo, one.pull, "closed", repo_type=kind)


def text(row: Mapping[str, Any], results: str) -> str:
    """The comment, as Markdown; words of the submission are shown as they are, not as markup."""
    lines = [_MARK.format(row["id"])]
    report = row["report"]
    if report is None:
        lines += [f"**{row['status']}**: {_plain(row['reason'])}"]
        return "\n\n".join(lines) + "\n"
    census = report["census"]
    lines.append(f"**{_plain(row['system'])}** on {row['release']['name']}, {row['split']}/"
                 f"{row['exam']}: {census['scored']} of {census['tasks']} answers scored, "
                 f"{census['missing']} missing, {census['invalid']} invalid.")  # fmt: skip
    if report["skill"] is not None:
        span = interval_text(report["skill_interval"], 1)
        lines.append(f"Skill {points(report['skill'])} {span}, points {points(report['points'])}.")
    elif report["points"] is not None:
        span = interval_text(report["points_interval"], 1)
        lines.append(f"Points {points(report['points'])} {span}.")
    elif report.get("redacted"):
        lines.append("Its truth is private: no figure is shown of this submission.")
    lines += [f"- {_plain(notice)}" for notice in report["notices"][:_NOTICES]]
    lines.append(f"The file is kept as `{FOLDER}/{row['team']}/{row['id']}.parquet`.")
    lines.append(
        f"Everything that is shown of it: `{RESULTS}/{row['id']}.json` in "
        f"[{results}](https://huggingface.co/datasets/{results})."
    )
    return "\n\n".join(lines) + "\n"


def _plain(words: str) -> str:
    return _MARKUP.sub(r"\\\1", printable(words))[:400]
