"""The causalds track, by the formulas of CausalDS §3.7 and Tables 8-10.

docs/release-format.md says what truth rows and inputs hold by kind of answer (``Shape.kind``).
"""

from pathlib import Path
from typing import Final

from grader.scoring.track import RunFigure, Track, TrackPages
from grader.tracks.causalds.figures import (
    compare,
    extend,
    leaderboard_ranks,
    repeats,
    score_by_reading,
)
from grader.tracks.causalds.matched_tasks import bundle
from grader.tracks.causalds.shapes import CAUSALDS


def _pages() -> TrackPages:
    from grader.tracks.causalds.tables import PAGES

    return PAGES


TRACK: Final = Track(
    name="causalds",
    variants=CAUSALDS,
    reading=Path(__file__).with_name("reading.md"),
    bundle=bundle,
    extend=extend,
    run_figure=RunFigure(
        name="causalds_score",
        label="CausalDSScore",
        digits=3,
        levels=("fixed", "paper"),
        of=score_by_reading,
    ),
    attempts=repeats,
    compare=compare,
    board_members=lambda reports: [
        {"composite_rank": ranks} for ranks in leaderboard_ranks(reports)
    ],
    pages=_pages,
)
