"""The tracks that the builder knows."""

from typing import Final

from builder.splits.track import Track
from builder.tracks.causalab.track import TRACK as CAUSALAB
from builder.tracks.causalds.track import TRACK as CAUSALDS
from builder.tracks.ccr.track import TRACK as CCR
from builder.tracks.replayscm.track import TRACK as REPLAYSCM

TRACKS: Final[dict[str, Track]] = {
    track.name: track for track in (CAUSALAB, CAUSALDS, CCR, REPLAYSCM)
}
"""Name to track. A worker process finds a track here by its name."""
