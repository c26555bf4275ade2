"""The tracks: the only list of them (``docs/adding-a-track.md``), and all their variants."""

from typing import Final

from grader.io.schemas import add_folder
from grader.scoring.track import Track
from grader.tracks.causalab import TRACK as CAUSALAB
from grader.tracks.causalds import TRACK as CAUSALDS
from grader.tracks.ccr import TRACK as CCR
from grader.tracks.replayscm import TRACK as REPLAYSCM

TRACKS: Final[dict[str, Track]] = {
    track.name: track for track in (CAUSALDS, CCR, REPLAYSCM, CAUSALAB)
}
"""Name to track, in the order in which reports list them."""


def register(track: Track) -> None:
    """Add or replace a track and make its schemas known; ``VARIANTS`` stays as it is."""
    if track.schemas is not None:
        add_folder(track.schemas)
    TRACKS[track.name] = track


VARIANTS: Final = tuple(spec for track in TRACKS.values() for spec in track.variants)
"""Every way of asking one question: the shared vocabulary of builder, grader and tests."""
