"""A transcript as text: one canonical JSON object a line, each sealed to the one before it.

``digest`` is the SHA-256 of the previous line's digest and the line's own content; a host that
keeps a key adds ``mac``, the HMAC-SHA256 of the digest. Format: ``docs/causalab.md``.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from typing import Any, Final

from grader.io.jsonio import BadJson, canonical_json, parse_strict

Line = dict[str, Any]
"""One line as a value: ``index``, ``event``, the event's members, ``digest`` and maybe ``mac``."""

MAX_LINE_BYTES: Final = 1 << 16
MAX_LINES: Final = 20_000


class TranscriptError(ValueError):
    """Raised for an unusable transcript. ``line`` counts from 1; 0 is the whole of it."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.line = line


def seal(content: Mapping[str, Any], previous: str, key: bytes | None) -> Line:
    """Return ``content`` as a line, its digest over ``previous`` (or ""), signed with ``key``."""
    digest = hashlib.sha256((previous + canonical_json(content)).encode("utf-8")).hexdigest()
    line = {**content, "digest": digest}
    if key is not None:
        line["mac"] = hmac.new(key, digest.encode("ascii"), hashlib.sha256).hexdigest()
    return line


def content_of(line: Mapping[str, Any]) -> Line:
    """Return a line without ``digest`` and ``mac``."""
    return {name: value for name, value in line.items() if name not in ("digest", "mac")}


def write_line(line: Mapping[str, Any]) -> str:
    """Return a line as it stands in a file, with its line feed."""
    return canonical_json(line) + "\n"


def read_lines(text: bytes) -> list[Line]:
    """Return the lines, their chain unchecked; ``TranscriptError`` for one not canonical JSON."""
    if not text:
        raise TranscriptError(0, "the transcript is empty")
    if text.count(b"\n") > MAX_LINES:  # a list of them may take eight times the memory
        raise TranscriptError(0, f"over {MAX_LINES} lines; no session is that long")
    rows = text.removesuffix(b"\n").split(b"\n")
    lines = []
    for number, row in enumerate(rows, start=1):
        if len(row) > MAX_LINE_BYTES:
            raise TranscriptError(number, f"over {MAX_LINE_BYTES >> 10} KiB")
        try:
            line = parse_strict(row)
        except BadJson as error:
            raise TranscriptError(number, error.message) from None
        if not isinstance(line, dict):
            raise TranscriptError(number, "not an object")
        if canonical_json(line).encode("utf-8") != row:
            raise TranscriptError(number, "not as the laboratory writes it; it was edited")
        lines.append(line)
    return lines


def check_chain(lines: Sequence[Mapping[str, Any]], key: bytes | None = None) -> None:
    """Raise :class:`TranscriptError` at the first wrong index, digest or (with ``key``) mac."""
    previous = ""
    for place, line in enumerate(lines):
        number = place + 1
        if line.get("index") != place:
            raise TranscriptError(
                number, f"its index is not {place}: a line was added, dropped or moved"
            )
        sealed = seal(content_of(line), previous, key)
        if line.get("digest") != sealed["digest"]:
            raise TranscriptError(
                number, "its digest does not fit: this line or the one before it was changed"
            )
        mac = line.get("mac")
        if key is not None and not (
            isinstance(mac, str) and hmac.compare_digest(mac.encode(), sealed["mac"].encode())
        ):
            raise TranscriptError(number, "not signed with the host's key")
        previous = sealed["digest"]
