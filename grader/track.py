"""What a track is to the grader: one record, by which alone the rest of the grader knows it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.model import Checked, Score, TrackSummary, Truth
from grader.shape import Task, Variant

if TYPE_CHECKING:
    from grader.draw.page import Section
    from grader.draw.table import Table

Summarise = Callable[[Sequence[Score], Mapping[str, Truth], Mapping[str, Checked]], TrackSummary]
Report = Mapping[str, Any]
BoardColumn = tuple[str, list[str]]
"""A heading on a leaderboard, and a cell for each submission."""


def _no_facts(_: Truth) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One exam of the house; what a track does not need is left out.

    ``variants``
        its ways of asking, in the order in which they are listed.
    ``facts``
        what ``extra_json`` of a score row says of a task whether or not it was answered.
    ``verify``
        what of an answer's validity only the truth can tell; it comes before scoring.
    ``sign``
        ``(checked, source, key)``: an answer after its signatures were compared with the host's
        key, and the names of the submissions whose work it records.
    ``summarise``
        a headline other than the mean of the tasks' points, and figures beside it.
    ``certify``
        proves again what a truth claims (``verify``); a sentence says what is wrong with it.
    ``draw``
        one verified answer as a page (``explain --html``).
    ``tables``
        further tables of one report in the terminal. A redacted report lacks members of a track's
        part: what is shown of it is for the track to say, here and in ``sections``.
    ``sections``
        further sections of a page about one or more submissions.
    ``board_columns``
        further columns of a leaderboard; by default those of the families, where there is room.
    ``compared``
        further tables of a comparison, given the track's part of it.
    """

    name: str
    variants: tuple[Variant, ...]
    facts: Callable[[Truth], Mapping[str, Any]] = _no_facts
    verify: Callable[[Task, Truth, Checked], Checked] | None = None
    sign: Callable[[Checked, str, bytes], tuple[Checked, frozenset[str]]] | None = None
    summarise: Summarise | None = None
    certify: Callable[[Task, Truth], str | None] | None = None
    draw: Callable[[Task, Truth, Checked], str] | None = None
    tables: "Callable[[Report], Sequence[Table]] | None" = None
    sections: "Callable[[Sequence[Report]], Sequence[Section]] | None" = None
    board_columns: Callable[[Sequence[Report]], list[BoardColumn]] | None = None
    compared: "Callable[[Mapping[str, Any]], Sequence[Table]] | None" = None
