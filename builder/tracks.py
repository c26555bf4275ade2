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
