"""The ccr track: compositional reasoning over cut trees; see ``docs/ccr.md``."""

from typing import Final

from grader.shape import Task
from grader.track import Track, later
from grader.tracks.ccr.variants import CCR


def regime(task: Task) -> str:
    """``pair`` for a pair asked about by simulation: by itself it has another floor than as a part
    of a whole context, whose floor is called ``context``."""
    return "pair" if task.family == "simulation" else ""


TRACK: Final = Track(
    name="ccr",
    variants=CCR,
    regime=regime,
    summarise=later("grader.tracks.ccr.summary", "summarise"),
    rereads=True,
    own_points=True,
    look=later("grader.tracks.ccr.look", "look"),
    tables=later("grader.tracks.ccr.tables", "of_report"),
    sections=later("grader.tracks.ccr.page", "sections"),
)
