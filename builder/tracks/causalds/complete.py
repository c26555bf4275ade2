"""Tables with one entry for each variant of the track.

They are checked as they are made: what a new variant still lacks is said in one sentence, not by a
``KeyError`` of whoever looks it up first.
"""

from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

from grader.tracks.causalds.shapes import CAUSALDS

_T = TypeVar("_T")

KEYS: Final = tuple(variant.key for variant in CAUSALDS)


def one_each(found: Mapping[str, _T], wanted: Iterable[str], what: str, file: str) -> dict[str, _T]:
    """``found`` in the order of ``wanted``.

    Raises ``LookupError`` where they do not name the same, with the ``file`` in which ``what`` is
    missing or left over.
    """
    names = dict.fromkeys(wanted)
    for name in names:
        if name not in found:
            raise LookupError(
                f"{name} has no {what}: write it in {file} (docs/adding-a-variant.md)"
            )
    for name in found:
        if name not in names:
            raise LookupError(f"{file} has what is not asked: {name}")
    return {name: found[name] for name in names}
