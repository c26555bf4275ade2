"""The fenced blocks of a model's reply."""

import re
from typing import Final

_BLOCK: Final = re.compile(
    r"^ {0,3}```[ \t]*(?P<kind>jsonl|json|csv|bash|sh)[ \t]*\n(?P<text>.*?)^ {0,3}```[ \t]*$",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)


def blocks(reply: str) -> list[tuple[str, str]]:
    """(kind, content) of each block that is labelled with a kind we know, in lower case.

    ``sh`` counts as ``bash``; lines end in a line feed, whatever the reply has.
    """
    found = _BLOCK.finditer(reply.replace("\r\n", "\n"))
    kinds = {"sh": "bash"}
    labels = ((match["kind"].lower(), match["text"]) for match in found)
    return [(kinds.get(label, label), text) for label, text in labels]
