"""Private transcripts: the requests made for a scene and their replies, so that none is made twice.

One JSONL file per attempt at a scene's words, under a name made from its key. A line holds the hash
of a request, the request and the reply, and never the key or the address of the endpoint. The n-th
time a run makes the same request it gets the n-th recorded reply, so a rebuild repeats the run.
"""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.errors import UsageError
from grader.io.jsonio import canonical_json


def request_hash(request: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a request's canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical_json(request).encode()).hexdigest()


class Transcript:
    """One scene's recorded calls, in a file of ``folder`` named by a hash of ``key``. Those of
    earlier runs are read first; ``UsageError`` for a damaged or unreadable file."""

    def __init__(self, folder: Path, key: bytes) -> None:
        name = hashlib.sha256(b"causal-exams transcript\0" + key).hexdigest()[:32]
        self.folder = folder
        self.path = folder / f"{name}.jsonl"
        self._replies: dict[str, list[str]] = {}
        self._used: Counter[str] = Counter()
        self._read()

    def recall(self, digest: str) -> str | None:
        """Return the n-th recorded reply to the n-th request with this hash, or None."""
        replies = self._replies.get(digest, [])
        turn = self._used[digest]
        if turn >= len(replies):
            return None
        self._used[digest] += 1
        return replies[turn]

    def add(self, digest: str, stage: str, request: Mapping[str, Any], reply: str) -> None:
        """Append a call, counted as recalled; ``UsageError`` where the file cannot be written."""
        line = {"hash": digest, "stage": stage, "request": request, "reply": reply}
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(handle, "a", encoding="utf-8") as stream:
                stream.write(json.dumps(line, ensure_ascii=True) + "\n")
        except OSError as error:
            raise UsageError(
                f"{self.path}: cannot be written ({error.strerror}); name another folder in "
                "llm.transcripts"
            ) from None
        self._replies.setdefault(digest, []).append(reply)
        self._used[digest] += 1

    def _read(self) -> None:
        """Read the calls and cut off a torn last line; ``UsageError`` for other damage."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise UsageError(
                f"{self.path}: cannot be read ({error.strerror}); give yourself access"
            ) from None
        whole, _, torn = data.rpartition(b"\n")
        if torn:  # an interrupted write: the next line must not join it
            os.truncate(self.path, len(data) - len(torn))
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                entry = json.loads(line)
                digest, reply = entry["hash"], entry["reply"]
                good = isinstance(reply, str) and request_hash(entry["request"]) == digest
            except (ValueError, LookupError, TypeError):
                good = False
            if not good:
                raise UsageError(
                    f"{self.path}: line {number} is damaged; delete the file, and the scene is "
                    "told again by the model"
                )
            self._replies.setdefault(digest, []).append(reply)
