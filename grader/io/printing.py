"""Text for a terminal or a page: what a stranger wrote may contain nothing that acts there."""

import sys
import unicodedata


def printable(value: str) -> str:
    """Return text in which U+FFFD stands for each character that cannot be printed (controls, line
    ends, zero-width and bidirectional marks) and for each combining mark of a letter after four."""
    if value.isascii() and value.isprintable():
        return value
    characters = []
    marks = 0
    for character in value:
        marks = marks + 1 if unicodedata.category(character)[0] == "M" else 0
        is_shown = character.isprintable() and marks <= 4
        characters.append(character if is_shown else "\ufffd")
    return "".join(characters)


def plural(count: int, noun: str) -> str:
    """Return a count with its noun, such as ``1 task`` or ``1,200 tasks``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def print_lines(*lines: str, to_stderr: bool = False) -> None:
    """Print each of ``lines``, made printable, on a line of its own."""
    for line in lines:
        print(printable(line), file=sys.stderr if to_stderr else None, flush=True)
