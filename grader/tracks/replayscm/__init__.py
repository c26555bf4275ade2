"""ReplaySCM: Boolean programs induced from intervention worlds, graded by replay."""

from typing import Final

from grader.track import Track, later
from grader.tracks.replayscm.scoring import facts
from grader.tracks.replayscm.variants import REPLAYSCM

TRACK: Final = Track(
    name="replayscm",
    variants=REPLAYSCM,
    facts=facts,
    summarise=later("grader.tracks.replayscm.report", "summarise"),
    certify=later("grader.tracks.replayscm.certificates", "problem_of"),
    look=later("grader.tracks.replayscm.look", "look"),
    tables=later("grader.tracks.replayscm.tables", "of_report"),
    sections=later("grader.tracks.replayscm.page", "sections"),
)
