"""Verification by replay: a transcript is evidence only if the engine would have written it.

Every line is done again in a fresh session, and what the session writes must be the line. So a
reading, a budget or an order that could not have happened is found whatever its digests say.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from grader.io.jsonio import clip
from grader.laboratory.episode import Episode
from grader.laboratory.session import MAX_ATTEMPTS, Laboratory, RefusedRequest
from grader.laboratory.transcript import Line, TranscriptError, content_of

_MAX_NOTE: Final = 400


def replay(episode: Episode, lines: Sequence[Line], key: bytes | None = None) -> Laboratory:
    """Return the session after ``lines``, whose chain was checked, or raise TranscriptError."""
    if lines[0].get("event") != "opened" or not isinstance(lines[0].get("submission"), str):
        raise TranscriptError(1, "the first line does not open a session")
    laboratory = Laboratory(episode, lines[0]["submission"], key)
    _compare(laboratory, lines[0], 1)
    for number, line in enumerate(lines[1:], start=2):
        if laboratory.phase == "closed":
            raise TranscriptError(number, "a line after the closing line")
        try:
            _replay_line(laboratory, line, number)
        except RefusedRequest as refusal:
            raise TranscriptError(number, f"impossible: {refusal}") from None
        except (KeyError, TypeError, AttributeError):
            raise TranscriptError(number, "a member is absent or of another type") from None
        _compare(laboratory, line, number)
    return laboratory


def _replay_line(laboratory: Laboratory, line: Line, number: int) -> None:
    """Apply a transcript's line; wrong ones raise what :func:`replay` translates."""
    match line.get("event"):
        case "reading":
            laboratory.intervene(line["set"]["name"], line["set"]["value"])
        case "hypothesis":
            laboratory.hypothesise(line["record"])
        case "reactor":
            laboratory.open_reactor()
        case "prediction":
            laboratory.record_prediction(line["value"])
        case "closed":
            laboratory.stop()
        case "resumed":
            laboratory.note_resumption()
        case "refused":
            laboratory.note_refusal(_note(line["request"]), _note(line["error"]))
        case "reprompt" | "parse_failure":
            attempt = line["attempt"] if line["event"] == "reprompt" else MAX_ATTEMPTS
            if type(attempt) is not int or not 1 <= attempt <= MAX_ATTEMPTS:
                raise TypeError
            laboratory.note_hypothesis_failure(_note(line["error"]), attempt)
        case _:
            raise TranscriptError(number, f"no event {clip(line.get('event'))} is known")


def _note(text: object) -> str:
    """Return ``text``; raises ``TypeError`` if it is no text or longer than ``_MAX_NOTE``."""
    if not isinstance(text, str) or len(text) > _MAX_NOTE:
        raise TypeError
    return text


def _compare(laboratory: Laboratory, line: Mapping[str, Any], number: int) -> None:
    """Raise ``TranscriptError`` unless the session's last line is ``line``, its line ``number``."""
    written = laboratory.transcript
    if len(written) != number:
        raise TranscriptError(number, "a line the laboratory would not have written")
    if written[-1]["digest"] == line["digest"]:
        return  # the digest covers the content and everything before it
    expected, given = content_of(written[-1]), content_of(line)
    for member in sorted(expected.keys() | given.keys()):
        if expected.get(member) != given.get(member):
            what = "the readings differ" if member == "reading" else f"its {member} differs"
            raise TranscriptError(number, f"{what} from what the laboratory would have written")
    raise TranscriptError(number, "a number is not written as the laboratory would have written it")
