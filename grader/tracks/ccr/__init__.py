"""The ccr track: compositional reasoning over cut trees; see ``docs/ccr.md``."""

from typing import Final

from grader.track import Track
from grader.tracks.ccr.look import look
from grader.tracks.ccr.page import sections
from grader.tracks.ccr.summary import summarise
from grader.tracks.ccr.tables import of_report
from grader.tracks.ccr.variants import CCR

TRACK: Final = Track(
    name="ccr",
    variants=CCR,
    summarise=summarise,
    rereads=True,
    own_points=True,
    look=look,
    tables=of_report,
    sections=sections,
)
