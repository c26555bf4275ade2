"""Waiting at a desk: the requests of many scenes lie there at once, and are answered in any order.

A telling that meets an unanswered request stops and is begun again when the reply has come; what
was answered before comes out of its transcript.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from builder.words.llm.desk import Desk, Unanswered, is_there
from grader.errors import UsageError

_TICK: Final = 0.5
"""Seconds between two looks at the desk."""

Tell = Callable[[], object]
"""Tells a scene, whatever comes of it; raises ``Unanswered``."""


def tell_all(
    tellings: Sequence[Tell],
    desk: Desk,
    private: bool,
    seconds: float,
    told: Callable[[], None],
    say: Callable[[str], None],
) -> None:
    """Runs every telling to its end; ``told`` is called after each. The desk is made when there is
    something to lay on it; ``private``: what lies there tells the truth of a private split.

    ``say`` gets a line whenever replies were read and others are waited for. Raises ``UsageError``
    for a reply that cannot be used, and when nothing has come for ``seconds``.
    """
    if desk.folder.exists():
        desk.open(private)
    waiting: dict[int, Path] = {}
    begun = list(range(len(tellings)))
    since = time.monotonic()
    while True:
        for number in begun:
            waiting.pop(number, None)
            try:
                tellings[number]()
            except Unanswered as unanswered:
                if not desk.folder.exists():
                    desk.open(private)
                unanswered.lay_out()
                waiting[number] = unanswered.reply
            else:
                told()
        if not waiting:
            return
        if begun:
            since = time.monotonic()
            say(_situation(waiting, len(tellings), desk))
        if time.monotonic() - since > seconds:
            first = min(waiting.values())
            raise UsageError(
                f"{desk.where}.desk: no reply in {seconds:g} seconds; {len(waiting)} are waited "
                f"for, such as {first}; write them, then start the same build again: what was "
                "answered is kept"
            )
        time.sleep(_TICK)
        begun = [number for number, reply in waiting.items() if is_there(reply)]


def _situation(waiting: Mapping[int, Path], scenes: int, desk: Desk) -> str:
    requests = "1 request waits" if len(waiting) == 1 else f"{len(waiting)} requests wait"
    return (
        f"{requests} for a reply in {desk.folder}, {scenes - len(waiting)} of {scenes} scenes are "
        f"told; the next reply goes into {min(waiting.values()).name} (Ctrl-C stops, the same "
        "command goes on)"
    )
