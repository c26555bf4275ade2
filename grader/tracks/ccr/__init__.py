"""The ccr track: compositional reasoning over cut trees; see ``docs/ccr.md``."""

from typing import Final

from grader.track import Track, later
from grader.tracks.ccr.redact import redact
from grader.tracks.ccr.summary import summarise
from grader.tracks.ccr.tables import of_report
from grader.tracks.ccr.variants import CCR

TRACK: Final = Track(
    name="ccr",
    variants=CCR,
    summarise=summarise,
    own_points=True,
    redact=redact,
    tables=of_report,
    sections=later("grader.tracks.ccr.page", "sections"),
)
