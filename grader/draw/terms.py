"""The field's terms, explained where they stand: a heading that holds one tells what it means."""

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from grader.draw.words import safe

_FILE: Final = Path(__file__).with_suffix(".toml")
_USED: Final = re.compile(r'<abbr title="([^"]*)">(.*?)</abbr>')


@cache
def terms() -> Mapping[str, str]:
    """Every term with what it means, in plain text."""
    found: Mapping[str, str] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return found


@cache
def _terms_pattern() -> str:
    """What any of the terms matches, the longest first."""
    longest_first = sorted(terms(), key=lambda term: (-len(term), term))
    return "|".join(map(re.escape, longest_first))


def explained(text: str, write: Callable[[str], str] = safe) -> str:
    """Plain text as HTML, in which the first term tells what it means; ``write`` escapes it."""
    # Python keeps the patterns that it has compiled.
    found = re.search(rf"(?<!\w)(?:{_terms_pattern()})(?!\w)", text)
    if found is None:
        return write(text)
    start, end = found.span()
    term = found.group()
    abbreviation = f'<abbr title="{safe(terms()[term], 400)}">{write(term)}</abbr>'
    return write(text[:start]) + abbreviation + write(text[end:])


def glossary(markup: str) -> str:
    """The terms that finished markup explains, as a list to unfold; nothing without any.

    A title shows on hovering only, which a telephone cannot do.
    """
    used = {term: meaning for meaning, term in _USED.findall(markup)}
    if not used:
        return ""
    lines = "".join(
        f"<dt>{term}</dt><dd>{meaning}</dd>"
        for term, meaning in sorted(used.items(), key=lambda item: item[0].lower())
    )
    return (
        f'<details class="terms"><summary>What the terms mean</summary><dl>{lines}</dl></details>'
    )
