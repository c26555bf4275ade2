"""A transcript's bytes verified as the grader does it."""

from collections.abc import Mapping, Sequence
from typing import Any

from grader.laboratory.episode import Episode
from grader.laboratory.replay import replay
from grader.laboratory.session import Laboratory
from grader.laboratory.transcript import (
    TranscriptError,
    check_chain,
    content_of,
    read_lines,
    seal,
    write_line,
)


def verify(episode: Episode, data: bytes, key: bytes | None = None) -> Laboratory:
    """The finished session that ``data`` records; raises :class:`TranscriptError`.

    With ``key`` every line must carry the host's signature.
    """
    lines = read_lines(data)
    check_chain(lines, key)
    laboratory = replay(episode, lines)
    if laboratory.phase != "closed":
        raise TranscriptError(len(lines), "the transcript ends without its closing line")
    return laboratory


def resealed(lines: Sequence[Mapping[str, Any]], key: bytes | None = None) -> bytes:
    """The lines with indices, count and chain computed anew, as a forger without a key would."""
    done: list[dict[str, Any]] = []
    for index, line in enumerate(lines):
        content = {**content_of(line), "index": index}
        if content.get("event") == "closed":
            content["lines"] = len(lines)
        done.append(seal(content, done[-1]["digest"] if done else "", key))
    return "".join(write_line(line) for line in done).encode()
