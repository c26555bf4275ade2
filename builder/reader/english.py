"""The reader's English: the word lists and patterns of ``english.toml``, compiled once."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

Direction = Literal[-1, 0, 1]
"""+1: left causes right; -1: right causes left; 0: no direct effect is stated."""

_ENGLISH: Final[Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_name("english.toml").read_text("utf-8")
)

WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    name: tuple(word.replace("_", " ") for word in text.split())
    for name, text in _ENGLISH["words"].items()
}


def _compiled(text: str) -> re.Pattern[str]:
    pattern = "".join(line.strip() for line in text.splitlines())
    return re.compile(
        re.sub(r"\{([a-z_]+)\}", lambda name: f"(?:{'|'.join(WORDS[name[1]])})", pattern)
    )


PATTERNS: Final[Mapping[str, re.Pattern[str]]] = {
    name: _compiled(text) for name, text in _ENGLISH["patterns"].items()
}

DIRECTIONS: Final[tuple[tuple[str, Direction], ...]] = tuple(
    (pattern, direction) for pattern, direction in _ENGLISH["relation"]["directions"]
)
"""Which way a phrase between two names points, by the first pattern that it fits."""


def find(pattern: str, text: str) -> re.Match[str] | None:
    """The first place of ``text`` that fits the pattern of this name."""
    return PATTERNS[pattern].search(text)
