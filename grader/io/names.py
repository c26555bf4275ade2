"""Comparison of labels and variable names in answers, and suggestions for unknown names."""

import difflib
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from itertools import permutations
from pathlib import Path
from typing import Final

NULL_EQUIVALENTS: Final = frozenset({"", "none", "null", "unknown", "n/a"})
"""Strings that mean "I abstain" in an abstainable answer's field, besides JSON null."""


def normal_label(text: str) -> str:
    """Return a label for comparison: stripped and case-folded."""
    return text.strip().casefold()


_PLAIN: Final = str.maketrans(
    {**dict.fromkeys("‘’", "'"), **dict.fromkeys("“”", '"'), **dict.fromkeys("‐‑‒–—―−", "-")}
)
_BRACKETS: Final = re.compile(r"[()\[\]{}]")
_MOST: Final = 400
"""Characters of a name that are read, as many as an answer's schema allows: the canonical order
of a run of combining marks takes quadratic time."""
_DESCRIPTORS: Final = frozenset(
    {"0", "1", "binary", "code", "coded", "competency", "continuous", "descriptor", "index",
     "indicator", "measure", "measurement", "rating", "score", "standardised", "standardized",
     "unit", "units", "value", "variable"}
)  # fmt: skip


def normal_name(text: str) -> str:
    """Return a variable name without what distinguishes no two names, as the reference has it.

    In this order: Unicode NFKC; straight quotes around it; curly quotes and dashes as plain ones;
    white space; remarks in brackets at the end, ``(years)``; punctuation at the ends; case.
    """
    text = unicodedata.normalize("NFKC", text[:_MOST]).strip().strip("\"'").translate(_PLAIN)
    text = " ".join(text.split())
    brackets, end = [match.start() for match in _BRACKETS.finditer(text)], len(text)
    while len(brackets) > 1 and brackets[-1] == end - 1:
        closing, opening = brackets.pop(), brackets.pop()
        if text[opening] not in "([{" or text[closing] not in ")]}":
            break
        end = opening - (text[opening - 1 : opening] == " ")
    return text[:end].strip(" .,:;").casefold()


def known_name(text: str, known: Collection[str]) -> str:
    """Return which of ``known`` (names in normal form) ``text`` spells, or else its normal form.

    A known name may be followed by words that only describe it (``score``, ``0/1``), and its last
    word may be in the other number by a final s.
    """
    name = normal_name(text)
    if name in known:
        return name
    for candidate in sorted(known, key=len, reverse=True):
        if candidate and name.startswith(f"{candidate} "):
            words = re.findall("[a-z0-9]+", name[len(candidate) :])
            if words and _DESCRIPTORS.issuperset(words):
                return candidate
    last, other = name.rpartition(" ")[2], f"{name}s" if name else name
    if last.endswith("s"):
        other = name if len(last) < 3 or last.endswith(("is", "ss", "us")) else name[:-1]
    return other if other in known else name


def confusable(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the ordered pairs of names of which the first could be read as the second."""
    return [
        (one, other)
        for one, other in permutations(names, 2)
        if known_name(one, {normal := normal_name(other)}) == normal
    ]


def is_null_equivalent(value: object) -> bool:
    """Whether a value is JSON null or one of the strings the paper accepts in its place."""
    return value is None or (isinstance(value, str) and normal_label(value) in NULL_EQUIVALENTS)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known name, or an empty text."""
    near = difflib.get_close_matches(name[:200], known, n=1)  # in bounded work
    return f"; did you mean '{near[0]}'?" if near else ""


def nearest_path(path: Path) -> str:
    """Return :func:`nearest` for a file's name among those in its folder."""
    with suppress(OSError):
        return nearest(path.name, [entry.name for entry in path.absolute().parent.iterdir()])
    return ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known name, or else a list of up to 12
    (``"; there is none"`` without any)."""
    choices = sorted(known)
    more = f", … ({len(choices):,} in all)" if len(choices) > 12 else ""
    listed = f"; choose from {', '.join(choices[:12])}{more}" if choices else "; there is none"
    return nearest(name, choices) or listed
