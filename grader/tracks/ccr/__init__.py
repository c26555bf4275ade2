"""The ccr track: compositional reasoning over cut trees; see ``docs/ccr.md``."""

from typing import Final

from grader.shape import Task
from grader.track import Track
from grader.tracks.ccr.look import look
from grader.tracks.ccr.page import sections
from grader.tracks.ccr.summary import summarise
from grader.tracks.ccr.tables import of_report
from grader.tracks.ccr.variants import CCR


def regime(task: Task) -> str:
    """``pair`` for a pair asked about by simulation: by itself it has another floor than as a part
    of a whole context, whose floor is called ``context``."""
    return "pair" if task.family == "simulation" else ""


TRACK: Final = Track(
    name="ccr",
    variants=CCR,
    regime=regime,
    summarise=summarise,
    rereads=True,
    own_points=True,
    look=look,
    tables=of_report,
    sections=sections,
)
