"""The tracks that the builder knows."""

from typing import Final

from builder.splits.track import Track
from builder.tracks.causalab.track import TRACK as CAUSALAB
from builder.tracks.causalds.track import TRACK as CAUSALDS
from builder.tracks.ccr.track import TRACK as CCR
from builder.tracks.replayscm.track import TRACK as REPLAYSCM

TRACKS: Final[dict[str, Track]] = {
    track.name: track for track in (CAUSALDS, CCR, REPLAYSCM, CAUSALAB)
}
"""Name to track, in the order in which reports list them."""
