"""A laboratory in a run: the model's blocks are requests, the replies its next message.

The transcript is the answer file, so what a session has used up stays used up: an interrupted one
goes on where it stopped, and one that ends without a prediction is closed.
"""

import json
import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from grader.jsonio import BadJson, canonical, parse_strict
from grader.laboratory import Episode
from grader.release import Release
from harness.lab_episodes import Episodes
from harness.lab_lines import reply_to
from harness.lab_session import Session

Messages = list[dict[str, str]]

_BLOCK: Final = re.compile(r"^```json[ \t]*\n(.*?)^```[ \t]*$", re.M | re.S)
_RULES: Final = (
    "You are taking an exam of separate tasks; this one is a laboratory, and you are in it. Each "
    "of your replies holds one fenced ```json block with a request (or several, one a line), such "
    'as {"op": "status"}; you get the laboratory\'s replies. No shell is needed. The task ends '
    "with your one prediction."
)
_NO_BLOCK: Final = "There was no ```json block. Send a request in one."


class Laboratories:
    """The episodes behind the laboratory tasks of a run; the release is opened when one is met."""

    def __init__(self, release: Path | None, private: Path | None, split: str | None) -> None:
        self._places = release, private, split

    @cached_property
    def _episodes(self) -> Episodes:
        release, private, split = self._places
        return Episodes(Release.open(release, private), split)

    def open(self, task_id: str) -> Episode:
        """The episode of a task; raises ``UsageError`` where its hidden part is not at hand."""
        return self._episodes.open(task_id)


def finished(path: Path) -> bool:
    """Whether a transcript is there and closed."""
    try:
        last = path.read_bytes().rstrip(b"\n").rpartition(b"\n")[2]
        return bool(json.loads(last)["event"] == "closed")
    except (OSError, ValueError, LookupError, TypeError):
        return False


def experiment(
    session: Session,
    prompt: str,
    ask: Callable[[Messages], str],
    replies: int,
    count: Callable[[int], None],
) -> None:
    """Let a model work in a laboratory for at most so many replies; then the session is closed.

    ``count`` is told how many requests each reply makes. What ``ask`` raises leaves the session
    open, to be resumed.
    """
    greeting = canonical(session.greeting())
    messages = [
        {"role": "system", "content": _RULES},
        {"role": "user", "content": f"{prompt}\n\nThe laboratory says:\n{greeting}"},
    ]
    for _ in range(replies):
        if session.closed:
            break
        reply = ask(messages)
        found = [line for block in _BLOCK.findall(reply) for line in _requests(block)]
        count(len(found))
        answers = [reply_to(session, line.encode("utf-8", "surrogatepass")) for line in found]
        messages += [
            {"role": "assistant", "content": reply},
            {"role": "user", "content": "\n".join(answers) or _NO_BLOCK},
        ]
    if not session.closed:
        session.request({"op": "stop"})


def _requests(block: str) -> list[str]:
    """The requests of a block: the one object it holds, over however many lines, or its lines."""
    try:
        parse_strict(block.encode("utf-8", "surrogatepass"))
    except BadJson:
        return [line for line in block.splitlines() if line.strip()]
    return [" ".join(block.split("\n"))]


def replies_for(episode: Episode, steps: int) -> int:
    """Replies a model may take: what any task allows, and one for each experiment."""
    budget: Any = episode.public["budget"]
    return steps + int(budget)
