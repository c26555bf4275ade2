"""The ccr track: compositional reasoning over cut trees; see ``docs/ccr.md``."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from grader.model import TrackSummary
from grader.track import Report, Track
from grader.tracks.ccr.variants import CCR

if TYPE_CHECKING:
    from grader.draw.page import Section
    from grader.draw.table import Table
    from grader.report.table import Results


def _summarise(results: "Results") -> TrackSummary:
    from grader.tracks.ccr.summary import summarise

    return summarise(results)


def _redact(part: Report, shown: Report) -> Mapping[str, Any]:
    from grader.tracks.ccr.redact import redact

    return redact(part, shown)


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
    own_points=True,
    redact=_redact,
    tables=_tables,
    sections=_sections,
)
