"""The tracks that the builder knows, imported when first asked for."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final

from builder.track import Track


class LazyTracks(Mapping[str, Track]):
    """A mapping of track names to tracks that imports a track on its first look-up.

    Listing the names costs nothing, so ``--help`` and ``new-secret`` need no numerical library.
    """

    def __init__(self, references: Mapping[str, str]) -> None:
        self._references = dict(references)

    def register(self, name: str, reference: str) -> None:
        """Adds a track found at ``reference`` (``module:attribute``)."""
        self._references[name] = reference

    def unregister(self, name: str) -> None:
        """Forgets a track; raises ``KeyError`` if there is none of that name."""
        del self._references[name]

    def reference(self, name: str) -> str:
        """The ``module:attribute`` of a track: what a worker process needs to find it."""
        return self._references[name]

    def __getitem__(self, name: str) -> Track:
        return load_track(self._references[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._references)

    def __len__(self) -> int:
        return len(self._references)

    @contextmanager
    def replaced(self, name: str, reference: str) -> Iterator[None]:
        """Puts another record in a track's place while an importer builds with it."""
        own, self._references[name] = self._references[name], reference
        try:
            yield
        finally:
            self._references[name] = own


def load(reference: str) -> Any:
    """What stands at ``module:attribute``."""
    module, attribute = reference.split(":")
    return getattr(import_module(module), attribute)


def load_track(reference: str) -> Track:
    """The track at ``module:attribute``."""
    track: Track = load(reference)
    return track


TRACKS = LazyTracks(
    {
        "causalab": "builder.causalab.track:TRACK",
        "causalds": "builder.causalds.track:TRACK",
        "ccr": "builder.ccr.track:TRACK",
        "replayscm": "builder.replayscm.track:TRACK",
    }
)

TRACK_COMMANDS: Final = (
    "builder.causalds.show.commands:INSPECT",
    "builder.causalds.show.commands:NEW_VARIANT",
)
"""Commands that a track adds to the builder's; their modules import nothing heavy."""

IMPORTERS: Final = ("builder.importing.causalds.commands:IMPORT",)
"""Commands that turn what others published into a release."""

SHARED_RULES: Final = (
    "grader/laboratory",
    *(
        f"grader/tracks/{track}/{part}.py"
        for track in ("causalds", "ccr", "replayscm", "causalab")
        for part in ("variants", "shapes")
    ),
    "grader/tracks/replayscm/boolean.py",
    "grader/tracks/replayscm/experiment.py",
    "grader/tracks/replayscm/problem.py",
    "grader/tracks/replayscm/replay.py",
)
"""What of the grader's a track is built with, too: rules of which there must be one version."""

EXAMPLE: Final = "causalds/dev/17"
"""An instance as examples name it."""
