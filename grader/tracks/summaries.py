"""Tracks whose report holds more than the mean of their tasks' points."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from grader.model import Checked, Score, TrackSummary, Truth
from grader.tracks.causalab.summary import summarise as summarise_causalab
from grader.tracks.ccr.summary import summarise as summarise_ccr
from grader.tracks.replayscm.report import summarise as summarise_replayscm

Summarise = Callable[[Sequence[Score], Mapping[str, Truth], Mapping[str, Checked]], TrackSummary]

SUMMARIES: Final[Mapping[str, Summarise]] = {
    "ccr": summarise_ccr,
    "replayscm": summarise_replayscm,
    "causalab": summarise_causalab,
}
"""Track to the function that computes its headline, figures and drawings."""


def summaries(
    scores: Sequence[Score], truths: Mapping[str, Truth], checked: Mapping[str, Checked]
) -> dict[str, TrackSummary]:
    """The summary of every track in ``scores`` that has one."""
    found: dict[str, list[Score]] = {}
    for score in scores:
        if score.track in SUMMARIES:
            found.setdefault(score.track, []).append(score)
    return {track: SUMMARIES[track](rows, truths, checked) for track, rows in found.items()}
