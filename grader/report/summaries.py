"""What tracks say of themselves beside the mean of their tasks' points."""

from collections.abc import Mapping, Sequence

from grader.model import Checked, Score, TrackSummary, Truth
from grader.tracks import TRACKS


def summaries(
    scores: Sequence[Score], truths: Mapping[str, Truth], checked: Mapping[str, Checked]
) -> dict[str, TrackSummary]:
    """The summary of every track in ``scores`` that has one."""
    found: dict[str, list[Score]] = {}
    for score in scores:
        found.setdefault(score.track, []).append(score)
    return {
        name: summarise(rows, truths, checked)
        for name, rows in found.items()
        if (summarise := TRACKS[name].summarise) is not None
    }
