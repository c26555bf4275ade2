"""What a submitter hears: a comment under the pull request, which is then closed.

It says what the row of results says, no more: of a private exam the report was redacted before.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from grader.hub.client import told
from grader.hub.inbox import HandedIn
from grader.hub.results import FOLDER
from grader.hub.submit import FOLDER as SUBMISSIONS
from grader.pages.words import interval_text, points, printable

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_MARK: Final = "<!-- causal-exams {} -->"
_MARKUP: Final = re.compile(r"([\\`*_{}\[\]<>#|!@])")
_NOTICES: Final = 5


def reply(api: "HfApi", repo: str, one: HandedIn, row: Mapping[str, Any], results: str) -> None:
    """Answer a pull request that still waits, once; raises ``UsageError``."""
    from huggingface_hub import DiscussionComment

    if one.pull is None:
        return
    kind = "dataset"
    with told(f"{repo}, pull request {one.pull}"):
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
    lines.append(f"The file is kept as `{SUBMISSIONS}/{row['team']}/{row['id']}.parquet`.")
    lines.append(
        f"Everything that is shown of it: `{FOLDER}/{row['id']}.json` in "
        f"[{results}](https://huggingface.co/datasets/{results})."
    )
    return "\n\n".join(lines) + "\n"


def _plain(words: str) -> str:
    return _MARKUP.sub(r"\\\1", printable(words))[:400]
