"""From the text of a reply to the text of an answer file; nothing is repaired on the way."""

import re
from typing import Final

from grader.io.jsonio import BadJson, parse_strict

_OPENING: Final = re.compile(r" {0,3}```[ \t]*([A-Za-z0-9_+-]{0,20})[ \t]*")
_CLOSING: Final = re.compile(r" {0,3}```[ \t]*")
_MEANINGS: Final = {
    "yes": True, "true": True, "correct": True, "it holds": True, "yep": True, "yeah": True,
    "no": False, "not": False, "false": False, "incorrect": False, "does not hold": False,
    "nope": False, "not true": False, "not correct": False,
}  # fmt: skip
_ALONE: Final = rf"(?<![^\W_])({'|'.join(sorted(_MEANINGS, key=len, reverse=True))})(?![^\W_])"
_WORD: Final = re.compile(_ALONE, re.IGNORECASE)
_NEXT_WORD: Final = re.compile(r" \w")
_CONCLUSION: Final = re.compile(
    rf"\b(?:answer|result|conclusion|correction|so|then|thus|hence|therefore)\b(?: is| it is)?"
    rf"[^\w.;?]{{0,20}}(?:\\\w{{1,20}}\{{){{0,3}}{_ALONE}(?! \w)",
    re.IGNORECASE,
)
"""A word that is said to conclude, before no other word: "so yes," but not "so no other"."""
_SENTENCE: Final = 200
"""Characters at the end of a reply in which its conclusion is looked for first."""


def blocks(reply: str) -> list[tuple[str, str]]:
    """Return (label in lower case or empty, content) of each fenced block that is closed, in order.

    It reads line by line, as a pattern over all would look for the end anew at every opening.
    """
    found: list[tuple[str, str]] = []
    label: str | None = None
    content: list[str] = []
    for line in reply.replace("\r\n", "\n").split("\n"):
        if label is None:
            opening = _OPENING.fullmatch(line)
            label, content = opening and opening[1].lower(), []
        elif _CLOSING.fullmatch(line):
            found.append((label, "".join(content)))
            label = None
        else:
            content.append(f"{line}\n")
    return found


def answer_in(reply: str, kind: str) -> str | None:
    """Return the text of the answer in a reply, or None; ``kind`` is ``json``, ``csv``, ``jsonl``.

    It is the last block labelled with the kind, else the last block without a label, else the whole
    reply where that is one JSON value and the kind is not ``csv``.
    """
    found = blocks(reply)
    for label in (kind, ""):
        named = [text for own, text in found if own == label]
        if named:
            return named[-1]
    if kind == "csv":
        return None
    try:
        parse_strict(reply.encode("utf-8", "surrogatepass"))
    except BadJson:
        return None
    return reply


def yes_or_no(reply: str) -> bool | None:
    """Return True where a reply says yes, False where no, None where neither (docs/limits.md).

    The last word that is said to be the answer or to conclude decides ("Therefore, yes, …"). Else
    its first word decides where that is such a word, else the last such word. A word before
    punctuation goes before one that another word follows ("no other"), and ``not`` after all.
    """
    text = reply.strip()
    if concluded := _CONCLUSION.findall(text):
        return _MEANINGS[concluded[-1].lower()]
    if (first := _WORD.match(text.lstrip("*\"'(_ "))) and first[1].lower() != "not":
        return _MEANINGS[first[1].lower()]
    for part in (text[-_SENTENCE:], text):
        found = list(_WORD.finditer(part))
        plain = [match for match in found if match[1].lower() != "not"]
        ending = [match for match in plain if not _NEXT_WORD.match(part, match.end())]
        if plain:
            return _MEANINGS[(ending or plain)[-1][1].lower()]
        if found:
            return False
    return None
