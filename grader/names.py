"""How answers' labels and variable names are compared."""

import difflib
import unicodedata
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final

NULL_EQUIVALENTS: Final = frozenset({"", "none", "null", "unknown", "n/a"})
"""Strings that mean "I abstain" in an abstainable answer's field, besides JSON null."""

_LONGEST: Final = 200
"""Only the first 200 characters are compared, to bound the work."""

_SEARCHED: Final = 20_000


def normal_label(text: str) -> str:
    """A label for comparison: stripped and case-folded."""
    return text.strip().casefold()


def normal_name(text: str) -> str:
    """A variable name for comparison: Unicode NFKC, case-folded, white space collapsed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def is_null_equivalent(value: object) -> bool:
    """True for JSON null and the strings the paper accepts in its place."""
    return value is None or (isinstance(value, str) and normal_label(value) in NULL_EQUIVALENTS)


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """``"; did you mean 'x'?"`` for the nearest known name, or nothing where none is near."""
    near = difflib.get_close_matches(name[:_LONGEST], known, n=1, cutoff=cutoff)
    return f"; did you mean '{near[0]}'?" if near else ""


def nearest_id(name: str, known: Collection[str]) -> str:
    """:func:`nearest` for task ids, of which any two share letters by accident.

    Nothing for a split so large that the search would take longer than a reader's eye.
    """
    return nearest(name, known, cutoff=0.85) if len(known) <= _SEARCHED else ""


def nearest_path(path: Path) -> str:
    """:func:`nearest` among what stands where ``path`` was looked for."""
    try:
        beside = [entry.name for entry in path.absolute().parent.iterdir()]
    except OSError:
        return ""
    return nearest(path.name, beside)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` for the nearest known name, or some of them where none is near."""
    choices = sorted(known)
    if near := nearest(name, choices):
        return near
    if not choices:
        return "; there is none"
    more = f", … ({len(choices):,} in all)" if len(choices) > 12 else ""
    return f"; choose from {', '.join(choices[:12])}{more}"
