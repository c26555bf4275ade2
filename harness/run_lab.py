"""A laboratory in a run: the model's blocks are requests, the replies its next message.

The transcript is the answer file, so what a session has used up stays used up: an interrupted one
goes on where it stopped, and one that ends without a prediction is closed.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from grader.io.jsonio import BadJson, canonical, parse_strict
from grader.laboratory.episode import Episode
from grader.submission.submission import Unreadable, json_object, open_regular
from harness.blocks import blocks
from harness.lab_lines import reply_to
from harness.lab_session import Session

Messages = list[dict[str, str]]

MOST_REQUESTS: Final = 50
"""Requests read of one reply: a flood of them would fill the model's own context."""
_TAIL: Final = 1 << 16
_RULES: Final = (
    "You are taking an exam of separate tasks; this one is a laboratory, and you are in it. Each "
    "of your replies holds one fenced ```json block with a request (or several, one a line), such "
    'as {"op": "status"}; you get the laboratory\'s replies. No shell is needed. The task ends '
    "with your one prediction."
)
_NO_BLOCK: Final = "There was no ```json block. Send a request in one."


def finished(path: Path) -> bool:
    """Whether a transcript is there and closed."""
    try:
        with open_regular(path) as file:
            file.seek(-min(_TAIL, file.seek(0, os.SEEK_END)), os.SEEK_END)
            last = file.read(_TAIL).rstrip(b"\n").rpartition(b"\n")[2]
        return json_object(last).get("event") == "closed"
    except (OSError, Unreadable, BadJson):
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
        labelled = [text for kind, text in blocks(reply) if kind in ("json", "jsonl")]
        found = [request for text in labelled for request in _requests(text, session)]
        kept = found[:MOST_REQUESTS]
        count(len(kept))
        answers = [reply_to(session, line.encode("utf-8", "surrogatepass")) for line in kept]
        if len(found) > len(kept):
            answers.append(f"{len(found) - len(kept)} more requests were not read: too many")
        messages += [
            {"role": "assistant", "content": reply},
            {"role": "user", "content": "\n".join(answers) or _NO_BLOCK},
        ]
    if not session.closed:
        session.request({"op": "stop"})


def _requests(block: str, session: Session) -> list[str]:
    """The requests of a block: the one object it holds, over however many lines, or its lines.

    Where nothing can be set the prompt offers ``{"prediction": …}`` as the whole answer; here it
    is the prediction.
    """
    try:
        document = parse_strict(block.encode("utf-8", "surrogatepass"))
    except BadJson:
        return [line for line in block.split("\n") if line.strip()]
    short = isinstance(document, dict) and "prediction" in document and "op" not in document
    if short and not session.laboratory.episode.budget:
        request = {"op": "predict", "value": document["prediction"]}
        if document.get("hypothesis") is not None:
            request["hypothesis"] = document["hypothesis"]
        return [canonical(request)]
    return [" ".join(block.split("\n"))]


def replies_for(episode: Episode, steps: int) -> int:
    """Replies a model may take: what any task allows, and one for each experiment."""
    return steps + episode.budget
