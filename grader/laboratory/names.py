"""The node that a name means: case, spacing, units and display names do not matter."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

_UNIT: Final = re.compile(r"[(\[][^()\[\]]*[)\]]")
_FILLING: Final = re.compile(r"[\s_\-]+")
_TARGET_ALIASES: Final = ("freq", "frequency", "resonancefreq", "resonancefrequency")
MAX_NAME: Final = 80


def plain(name: str) -> str:
    """Return ``name`` for comparison: NFKC, case-folded, no bracketed unit, no spaces, _ or -."""
    text = unicodedata.normalize("NFKC", name[: 2 * MAX_NAME]).casefold()
    return _FILLING.sub("", _UNIT.sub("", text))


class AmbiguousNames(ValueError):
    """Raised for two nodes that one spelling could mean."""


def spellings_of(public: Mapping[str, Any]) -> Mapping[str, str]:
    """Return each node's name by plain spelling, display name and (target) usual short forms.

    A property called so keeps its short form. Raises :class:`AmbiguousNames`.
    """
    target = public["target"]
    found: dict[str, str] = {}
    for entry in [*public["variables"], target]:
        name = entry["name"]
        for spelling in {plain(name), plain(entry["display"])} - {""}:
            if found.setdefault(spelling, name) != name:
                raise AmbiguousNames(f"{name} and {found[spelling]} are spelled alike")
    for alias in _TARGET_ALIASES:
        found.setdefault(alias, target["name"])
    return found
