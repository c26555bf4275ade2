"""causalab: discovery by experiment in a laboratory, graded from transcripts that replay."""

from typing import Final

from grader.laboratory.episode import EpisodeError
from grader.scoring.model import Truth
from grader.scoring.shape import Task
from grader.scoring.track import Track, TrackPages
from grader.tracks.causalab.scoring import episode_of
from grader.tracks.causalab.shapes import CAUSALAB
from grader.tracks.causalab.summary import summarise


def episode_problem(task: Task, truth: Truth) -> str | None:
    """Return where a task's readings or target differ from its hidden mechanism, else None."""
    try:
        episode = episode_of(task, truth)
    except EpisodeError as error:
        return str(error)
    return None if truth.value == episode.frequency else "its value is not the frequency"


def _pages() -> TrackPages:
    """Import and return what the track shows."""
    from grader.tracks.causalab.tables import PAGES

    return PAGES


TRACK: Final = Track(
    name="causalab",
    variants=CAUSALAB,
    summarise=summarise,
    certify=episode_problem,
    pages=_pages,
)
