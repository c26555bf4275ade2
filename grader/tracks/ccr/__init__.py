"""The ccr track: compositional reasoning over cut trees; see ``docs/ccr.md``."""

from typing import Final

from grader.scoring.track import Track, TrackPages
from grader.tracks.ccr.shapes import CCR, check_contexts
from grader.tracks.ccr.summary import summarise


def _pages() -> TrackPages:
    from grader.tracks.ccr.tables import PAGES

    return PAGES


TRACK: Final = Track(
    name="ccr",
    variants=CCR,
    summarise=summarise,
    own_points="contexts",
    check_truths=check_contexts,
    pages=_pages,
)
