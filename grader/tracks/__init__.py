"""The tracks: the only list of them, and all their variants.

A track that is registered is read, graded and shown like the others (``docs/adding-a-track.md``).
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Final, overload

from grader.io.schemas import add_folder
from grader.shape import Variant
from grader.track import Track

_REGISTERED: Final[dict[str, Track | None]] = dict.fromkeys(
    ("causalds", "ccr", "replayscm", "causalab")
)
"""Those without a record are packages here, whose ``TRACK`` is imported when it is asked for."""


class _Tracks(Mapping[str, Track]):
    """The tracks that are registered now."""

    def __len__(self) -> int:
        return len(_REGISTERED)

    def __iter__(self) -> Iterator[str]:
        return iter(_REGISTERED)

    def __getitem__(self, name: str) -> Track:
        found = _REGISTERED[name]
        if found is None:
            found = _REGISTERED[name] = import_module(f"{__name__}.{name}").TRACK
        return found

    def __contains__(self, name: object) -> bool:
        return name in _REGISTERED


TRACKS: Final[Mapping[str, Track]] = _Tracks()
"""Name to track, in the order in which reports list them; it follows what is registered.

An exam waits for the tracks that it asks alone.
"""


def register(track: Track) -> None:
    """Add a track, or put it in the place of the one of its name."""
    if track.schemas is not None:
        add_folder(track.schemas)
    _REGISTERED[track.name] = track


def unregister(name: str) -> None:
    """Forget a track; raises ``KeyError`` if there is none of that name."""
    del _REGISTERED[name]


class _Variants(Sequence[Variant]):
    """The variants of the tracks that are registered now."""

    def _all(self) -> tuple[Variant, ...]:
        return tuple(spec for track in TRACKS.values() for spec in track.variants)

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[Variant]:
        return iter(self._all())

    @overload
    def __getitem__(self, place: int) -> Variant: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Variant, ...]: ...
    def __getitem__(self, place: int | slice) -> Variant | tuple[Variant, ...]:
        return self._all()[place]


VARIANTS: Final[Sequence[Variant]] = _Variants()
"""Every way of asking one question: the shared vocabulary of builder, grader and tests."""


def variant(track: str, key: str) -> Variant:
    """The variant of ``track`` called ``family.variant``; raises ``KeyError`` if there is none."""
    for spec in TRACKS[track].variants:
        if spec.key == key:
            return spec
    raise KeyError(key)
