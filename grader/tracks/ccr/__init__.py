"""The ccr track: compositional reasoning over cut trees; see ``docs/ccr.md``."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from grader.model import Checked, Score, TrackSummary, Truth
from grader.track import Report, Track
from grader.tracks.ccr.variants import CCR

if TYPE_CHECKING:
    from grader.draw.page import Section
    from grader.draw.table import Table


def _summarise(
    scores: Sequence[Score], truths: Mapping[str, Truth], checked: Mapping[str, Checked]
) -> TrackSummary:
    from grader.tracks.ccr.summary import summarise

    return summarise(scores, truths, checked)


def _tables(report: Report) -> "Sequence[Table]":
    from grader.tracks.ccr.tables import of_report

    return of_report(report)


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
