"""A desk: requests lie as files in a folder, replies are read from files beside them.

For a language model without an endpoint, and for whoever carries its words. A request has a name
that says the scene, the turn, the stage and what is asked; the first line of a reply repeats that
name, so that a reply in the wrong file is noticed. What was answered goes into the transcript, and
both files go: what lies there is what is still to do.
"""

import re
import stat
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from builder.texts import Texts
from builder.words.llm.prompts import Message
from grader.errors import UsageError
from grader.io.files import write_text

MOST_BYTES: Final = 240_000
"""Of a reply file."""

SETTLED: Final = 1.0
"""Seconds that a reply has lain unchanged before it is read: editors write in pieces."""

_LONGEST_HEAD: Final = 500
"""Characters of a first line that are looked at."""

_TEXTS: Final = Texts(__file__)
_NAME: Final = re.compile(r"[0-9a-f]{8}-\d{2,}-[a-z-]+-[0-9a-f]{12}")
_AGAIN: Final = "then start the same build again: what was answered is kept"


class Unanswered(UsageError):
    """A request that has no reply yet: its file and what it says, and the file of the reply."""

    def __init__(self, request: Path, text: str, reply: Path) -> None:
        super().__init__(f"{reply}: is not there yet; write the reply, {_AGAIN}")
        self.request = request
        self.text = text
        self.reply = reply

    def lay_out(self) -> None:
        """Puts the request on the desk, unless it lies there; raises ``UsageError``."""
        if not self.request.is_file():
            write_text(self.request, self.text)


@dataclass(frozen=True, slots=True)
class Desk:
    """A folder where requests are answered; ``where`` is the place of the settings."""

    folder: Path
    where: str

    def open(self, private: bool) -> None:
        """Makes the folder, for its owner alone and out of git's sight.

        Raises ``UsageError`` where it cannot be made or written, lies in a public folder, or, with
        the requests of a ``private`` split, where others can read it.
        """
        if is_public(self.folder):
            raise UsageError(
                f"{self.where}.desk: {self.folder} lies in a public folder; requests tell the "
                "truth, name a private one"
            )
        try:
            if not self.folder.is_dir():
                self.folder.mkdir(parents=True, mode=0o700)
            others = stat.S_IMODE(self.folder.stat().st_mode) & 0o077
        except OSError as error:
            raise UsageError(
                f"{self.where}.desk: {self.folder} cannot be made ({error.strerror}); name another "
                "folder"
            ) from None
        if private and others:
            raise UsageError(
                f"{self.where}.desk: others can look into {self.folder}, and its requests tell the "
                f"truth of a private split; chmod 700 {self.folder}"
            )
        write_text(self.folder / ".gitignore", "*\n")

    def ask(self, name: str, messages: Sequence[Message]) -> str:
        """The reply to a request, without its first line.

        Raises :class:`Unanswered` where there is none yet, ``UsageError`` where it cannot be used.
        """
        file = self._reply(name)
        reply = _read(file, name)
        if reply is None:
            raise Unanswered(self._request(name), _laid_out(name, file.name, messages), file)
        return reply

    def clear(self, name: str) -> None:
        """Takes a request and its reply away: the reply is in the transcript."""
        for file in (self._request(name), self._reply(name)):
            file.unlink(missing_ok=True)

    def _request(self, name: str) -> Path:
        return self.folder / f"{name}.request.txt"

    def _reply(self, name: str) -> Path:
        return self.folder / f"{name}.reply.txt"


def request_name(scene: str, turn: int, stage: str, digest: str) -> str:
    """The name of a request: of which scene, its how many-th, by whom, and the hash of what it
    says, so that an older reply is never taken for one to other words."""
    return f"{scene[:8]}-{turn:02d}-{stage}-{digest[:12]}"


def is_there(reply: Path) -> bool:
    """Whether a reply has come, and has lain long enough to be whole."""
    try:
        age = time.time() - reply.stat().st_mtime
    except OSError:
        return False
    return not 0.0 <= age < SETTLED


def is_public(folder: Path) -> bool:
    """Whether a folder is called public on its way, or lies on the public side of a release."""
    real = folder.resolve()
    sides = [path for path in (real, *real.parents) if path.name == "public"]
    return "public" in folder.parts or any((path / "manifest.json").is_file() for path in sides)


def _laid_out(name: str, reply: str, messages: Sequence[Message]) -> str:
    parts = [f"=== {one['role']} ===\n\n{one['content'].strip()}\n" for one in messages]
    return "\n".join([_TEXTS("head", name=name, reply=reply) + "\n", *parts])


def _read(file: Path, name: str) -> str | None:
    """What a reply says after its first line, None where there is none yet."""
    if not is_there(file):
        return None
    first = f'beginning with the line "Reply to {name}"'

    def problem(what: str, fix: str) -> UsageError:
        return UsageError(f"{file}: {what}; {fix}, {_AGAIN}")

    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise problem("is no plain file", f"put a text file there, {first}")
        with file.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise problem(f"cannot be read ({error.strerror})", "give yourself access") from None
    if len(data) > MOST_BYTES:
        raise problem(f"is larger than {MOST_BYTES} bytes", "keep the JSON object alone")
    try:
        text = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise problem(f"byte {error.start} is not UTF-8", "save it as UTF-8") from None
    head, _, rest = text.partition("\n")
    found = _NAME.search(head[:_LONGEST_HEAD])
    if not text or (found is not None and not rest.strip()):
        raise problem("is empty", f"write the reply, {first}")
    if found is None:
        raise problem("does not say what it replies to", f"write the reply, {first}")
    if found[0] != name:
        raise problem(
            f"is the reply to {found[0]}",
            f"put it into that one's file and write this one, {first}",
        )
    return rest.strip()
