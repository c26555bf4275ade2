"""What a track shows of itself in the terminal and on pages, beside what every track shows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.pages.graph import Explanation
from grader.pages.page import Section
from grader.pages.systems import Part, Report
from grader.pages.table import Table
from grader.scoring.model import CheckedAnswer, Truth
from grader.scoring.shape import Task
from grader.scoring.track import Track


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackPages:
    """The functions by which a track shows its tasks and its part of reports.

    A redacted report lacks members of a track's part, and these functions must do without them.

    ``explain_task``
        returns what ``browse`` shows of a task beside its prompt, given the task, its truth and its
        world row (empty where there is none).
    ``draw_answer``
        returns one verified answer as an HTML page (``explain --html``).
    ``tables``
        returns further tables of one report for the terminal.
    ``sections``
        returns further sections of a page about one or more reports.
    ``board_columns``
        returns further columns of a leaderboard, each a heading and a cell for each report. Without
        it a board of this track alone has a column for each family.
    ``compared``
        returns further tables of a comparison, given the track's part of it.
    """

    explain_task: Callable[[Task, Truth, Mapping[str, Any]], Explanation] | None = None
    draw_answer: Callable[[Task, Truth, CheckedAnswer], str] | None = None
    tables: Callable[[Report], Sequence[Table]] = lambda _: ()
    sections: Callable[[Sequence[Report]], Sequence[Section]] = lambda _: ()
    board_columns: Callable[[Sequence[Report]], list[tuple[str, list[str]]]] | None = None
    compared: Callable[[Part], Sequence[Table]] = lambda _: ()


def pages_of(track: Track) -> TrackPages:
    """Return what a track shows; a track without pages shows nothing of its own."""
    return TrackPages() if track.pages is None else track.pages()
