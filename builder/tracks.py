"""The tracks that the builder knows."""

from typing import Final

from builder.causalab.track import TRACK as CAUSALAB
from builder.causalds.track import TRACK as CAUSALDS
from builder.ccr.track import TRACK as CCR
from builder.replayscm.track import TRACK as REPLAYSCM
from builder.track import Track

TRACKS: Final[dict[str, Track]] = {
    track.name: track for track in (CAUSALAB, CAUSALDS, CCR, REPLAYSCM)
}
"""Name to track. A worker process finds a track here by its name."""
