"""The ccr track: compositional reasoning over cut trees; see ``docs/ccr.md``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from grader.track import Report, Track
from grader.tracks.ccr.redact import redact
from grader.tracks.ccr.summary import summarise
from grader.tracks.ccr.tables import of_report
from grader.tracks.ccr.variants import CCR

if TYPE_CHECKING:
    from grader.draw.page import Section


def _sections(reports: Sequence[Report]) -> "Sequence[Section]":
    from grader.tracks.ccr.page import sections

    return sections(reports)


TRACK: Final = Track(
    name="ccr",
    variants=CCR,
    summarise=summarise,
    own_points=True,
    redact=redact,
    tables=of_report,
    sections=_sections,
)
