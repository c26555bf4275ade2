"""One agent's session with one episode, kept in a file.

Write every line of the transcript to disk before its reply is given: a kill loses nothing that an
agent has seen and gives back no budget. Opened again, the file goes on where it ended.
"""

import fcntl
import os
import re
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal

from grader.answers.submission import team_of
from grader.errors import UsageError
from grader.io.jsonio import clip
from grader.io.names import did_you_mean
from grader.io.paths import is_plain, path_inside
from grader.laboratory.episode import Episode
from grader.laboratory.session import Laboratory, RefusedRequest, replay
from grader.laboratory.transcript import TranscriptError, check_chain, read_lines

Reply = dict[str, Any]

OPERATIONS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "intervene": (("name", "value"), ()),
    "hypothesis": (("record",), ()),
    "reactor": ((), ()),
    "predict": (("value",), ("hypothesis",)),
    "status": ((), ()),
    "stop": ((), ()),
}
"""Map operations to their needed and optional members."""

MEMBER_TYPES: Final[Mapping[str, Literal["string", "number", "object"]]] = {
    "name": "string",
    "value": "number",
    "record": "object",
    "hypothesis": "object",
}
"""Map members to the JSON types that tools announce; the laboratory checks them."""

TOOLS: Final[Mapping[str, str]] = {
    "observe": "status",
    "intervene": "intervene",
    "hypothesise": "hypothesis",
    "open_reactor": "reactor",
    "predict": "predict",
}
"""Map the tools of MCP and Inspect to their operations."""

MAX_SUBMISSION: Final = 64
MAX_FILE: Final = 16 << 20


def session_path(folder: Path, submission: str, episode: Episode) -> Path:
    """Return ``folder/<submission>/<task id>.jsonl``; raises ``UsageError`` for another name than
    a plain file name, or one and ``@n``."""
    team = team_of(submission)
    number = submission[len(team) :]
    plain = is_plain(team) and re.fullmatch(r"(?:@[1-9][0-9]{0,5})?", number)
    if len(submission) > MAX_SUBMISSION or not plain:
        raise UsageError(
            f"--submission {clip(submission)}: give TEAM or TEAM@N, N from 1; use letters, digits, "
            f"'.', '_' and '-', at most {MAX_SUBMISSION}"
        )
    return path_inside(path_inside(folder, team, number), episode.task_id, ".jsonl")


class Session:
    """A session with one episode's laboratory, its transcript in the file ``path``.

    A transcript that stands there is continued. Without a ``path`` nothing is written. With ``key``
    every line is signed. Raises ``UsageError`` when the file cannot be used or belongs to another
    session.
    """

    def __init__(
        self, episode: Episode, path: Path | None = None, submission: str = "",
        key: bytes | None = None,
    ) -> None:  # fmt: skip
        self._written = 0
        self._broken = ""
        self.laboratory = Laboratory(episode, submission, key)
        self._file = None if path is None else _open(path)
        if path is None:
            return
        try:
            self._resume(path, key)
            self._flush()
        except BaseException:
            self.close()
            raise

    def _resume(self, path: Path, key: bytes | None) -> None:
        """Go on with the session that the file holds, if any, and note it as resumed.

        A last line that was not written to its end is cut off. Raises ``UsageError``.
        """
        assert self._file is not None
        data = os.read(self._file, MAX_FILE + 1)
        while len(data) <= MAX_FILE and (more := os.read(self._file, MAX_FILE)):
            data += more
        whole, new = data[: data.rfind(b"\n") + 1], self.laboratory
        os.lseek(self._file, len(whole), os.SEEK_SET)
        if not whole and not new.transcript_text().encode("utf-8").startswith(data):
            raise UsageError(f"{path}: not a transcript; move the file away to start anew")
        if whole:
            try:
                lines = read_lines(whole)
                check_chain(lines, key)
                self.laboratory = replay(new.episode, lines, key)
            except TranscriptError as error:
                raise UsageError(f"{path}: {error}; move the file away to start anew") from None
            if (owner := self.laboratory.submission) != new.submission:
                raise UsageError(
                    f"{path}: a session of {clip(owner)}, not of {clip(new.submission)}; "
                    "name another file"
                )
            self._written = len(lines)
            if not self.is_over:
                self.laboratory.note_resumption()
        os.ftruncate(self._file, len(whole))

    @property
    def is_over(self) -> bool:
        """Whether the session is over."""
        return self.laboratory.phase == "closed"

    def greeting(self) -> Reply:
        """Return what an agent gets first: the public episode and the session's status."""
        # A member that is null would hint at what is not told.
        public = self.laboratory.episode.public
        shown = {name: value for name, value in public.items() if value is not None}
        return {"ok": True, "episode": shown, **self._status()}

    def request(self, document: object) -> Reply:
        """Answer a request ``{"op": …}``; if ``ok`` is false, ``error`` says what is allowed."""
        try:
            reply = self._answer(document)
        except RefusedRequest as refusal:
            reply = self._refusal(str(refusal), refusal.code)
        self._flush()
        return reply

    def use(self, tool: str, members: Mapping[str, Any]) -> Reply:
        """Answer a call of one of :data:`TOOLS`; ``observe`` gets the greeting.

        An absent needed member counts as null, and a null optional one as absent.
        """
        if tool == "observe":
            return self.greeting()
        needed, optional = OPERATIONS[TOOLS[tool]]
        request = {name: members.get(name) for name in needed}
        request |= {name: members[name] for name in optional if members.get(name) is not None}
        return self.request({"op": TOOLS[tool], **request})

    def refuse(self, code: str, message: str, request: str) -> Reply:
        """Refuse what is not even a request, such as a line that is no JSON; return the reply.

        The transcript notes ``message`` and ``request``, a short text for what the agent sent.
        """
        self.laboratory.note_refusal(request, message)
        self._flush()
        return self._refusal(message, code)

    def close(self) -> None:
        """Close the file; a session that is not over can be resumed from it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _answer(self, document: object) -> Reply:
        """Return the reply to a request; raises :class:`RefusedRequest` if it is not allowed."""
        laboratory = self.laboratory
        if problem := _problem(document):
            return self.refuse("request", problem, clip(document, 200))
        match document:
            case {"op": "intervene", "name": name, "value": value}:
                reading = laboratory.intervene(name, value)
                return {"ok": True, "reading": reading, "remaining": laboratory.remaining}
            case {"op": "hypothesis", "record": record}:
                laboratory.hypothesise(record)
                return {"ok": True}
            case {"op": "reactor"}:
                return {"ok": True, "reactor": laboratory.open_reactor()}
            case {"op": "predict", "value": value, **rest}:
                laboratory.predict(value, rest.get("hypothesis"))
                return {"ok": True, "closed": True}
            case {"op": "stop"}:
                laboratory.stop()
                return {"ok": True, "closed": True}
        return {"ok": True, **self._status()}

    def _refusal(self, message: str, code: str) -> Reply:
        remaining = self.laboratory.remaining
        return {"ok": False, "error": message, "code": code, "remaining": remaining}

    def _status(self) -> Reply:
        """Return the phase, the budget left and the readings so far."""
        laboratory = self.laboratory
        return {
            "phase": laboratory.phase,
            "remaining": laboratory.remaining,
            "history": [
                {"set": {"name": name, "value": value}, "reading": reading}
                for name, value, reading in laboratory.readings
            ],
        }

    def _flush(self) -> None:
        """Write new lines to disk; raises ``UsageError`` when that fails, and in every later call.

        A request whose lines cannot be written gets no reply.
        """
        if self._broken:
            raise UsageError(self._broken)
        if self._file is None:
            return
        data = self.laboratory.transcript_text(self._written).encode("utf-8")
        if not data:
            return
        try:
            while data:
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except OSError as error:
            self._broken = f"transcript: cannot be written ({error.strerror}); run again to resume"
            raise UsageError(self._broken) from None
        self._written = len(self.laboratory.transcript)


def _open(path: Path) -> int:
    """Open or create the transcript's file, locked; raises ``UsageError`` if that cannot be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        file = os.open(path, flags, 0o600)
    except OSError as error:
        raise UsageError(f"{path}: cannot be opened ({error.strerror})") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.lseek(file, 0, os.SEEK_SET)
    except OSError:
        os.close(file)
        raise UsageError(f"{path}: in use by another session, or not a regular file") from None
    return file


def _problem(document: object) -> str | None:
    """Return what is wrong with a request, None if nothing."""
    if not isinstance(document, dict) or not isinstance(document.get("op"), str):
        return f'send one object {{"op": …}}; op is one of {", ".join(OPERATIONS)}'
    operation = document["op"]
    if operation not in OPERATIONS:
        return f"there is no op {clip(operation)}{did_you_mean(operation[:80], OPERATIONS)}"
    needed, optional = OPERATIONS[operation]
    members = ["op", *needed, *optional]
    absent = (f"needs {member}" for member in needed if member not in document)
    strange = (f"has no member {clip(member)}" for member in document if member not in members)
    wrong = next(chain(absent, strange), None)
    return f"{operation} {wrong}; its members are {', '.join(members)}" if wrong else None
