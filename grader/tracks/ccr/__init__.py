"""The ccr track: compositional reasoning over cut trees; see ``docs/ccr.md``."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from grader.model import Checked, Content, Score, Task, TrackSummary, Truth
from grader.track import Report, Track
from grader.tracks.ccr.numbers import score_deduction, score_quantities
from grader.tracks.ccr.simulation import score_pair
from grader.variants.ccr import CCR

if TYPE_CHECKING:
    from grader.draw.page import Section
    from grader.draw.table import Table

SCORERS: Final[Mapping[str, Callable[[Task, Truth, Any], Content]]] = {
    "simulation.pair": score_pair,
    "direct.boolean": score_quantities,
    "direct.linear": score_quantities,
    "direct.trap": score_quantities,
    "deductive.boolean": score_deduction,
    "deductive.linear": score_deduction,
}


def _summarise(
    scores: Sequence[Score], truths: Mapping[str, Truth], checked: Mapping[str, Checked]
) -> TrackSummary:
    from grader.tracks.ccr.summary import summarise

    return summarise(scores, truths, checked)


def _tables(report: Report) -> "Sequence[Table]":
    from grader.tracks.ccr.tables import in_terminal

    return in_terminal(report)


def _sections(reports: Sequence[Report]) -> "Sequence[Section]":
    from grader.tracks.ccr.page import sections

    return sections(reports)


TRACK: Final = Track(
    name="ccr",
    variants=CCR,
    summarise=_summarise,
    tables=_tables,
    sections=_sections,
)
