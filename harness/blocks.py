"""The fenced blocks of a model's reply."""

import re
from typing import Final

_OPENING: Final = re.compile(r" {0,3}```[ \t]*(jsonl|json|csv|bash|sh)[ \t]*", re.IGNORECASE)
_CLOSING: Final = re.compile(r" {0,3}```[ \t]*")


def blocks(reply: str) -> list[tuple[str, str]]:
    """(kind, content) of each block that is labelled with a kind we know, in lower case.

    ``sh`` counts as ``bash``; lines end in a line feed, whatever the reply has. A block that is
    never closed is none. Line by line: a pattern over the whole reply would look for the end anew
    at every opening.
    """
    found: list[tuple[str, str]] = []
    kind, content = "", list[str]()
    for line in reply.replace("\r\n", "\n").split("\n"):
        if not kind:
            opening = _OPENING.fullmatch(line)
            kind, content = opening[1].lower() if opening else "", []
        elif _CLOSING.fullmatch(line):
            found.append(("bash" if kind == "sh" else kind, "".join(content)))
            kind = ""
        else:
            content.append(f"{line}\n")
    return found
