"""ReplaySCM: Boolean programs induced from intervention worlds, graded by replay."""

from typing import Final

from grader.scoring.track import Track, TrackPages
from grader.tracks.replayscm.proof import problem_of
from grader.tracks.replayscm.report import summarise
from grader.tracks.replayscm.shapes import REPLAYSCM


def _pages() -> TrackPages:
    from grader.tracks.replayscm.tables import PAGES

    return PAGES


TRACK: Final = Track(
    name="replayscm",
    variants=REPLAYSCM,
    summarise=summarise,
    certify=problem_of,
    pages=_pages,
)
