"""ReplaySCM: Boolean programs induced from intervention worlds, graded by replay."""

from typing import Final

from grader.track import Track
from grader.tracks.replayscm.certificates import problem_of
from grader.tracks.replayscm.look import look
from grader.tracks.replayscm.page import sections
from grader.tracks.replayscm.report import summarise
from grader.tracks.replayscm.scoring import facts
from grader.tracks.replayscm.tables import of_report
from grader.tracks.replayscm.variants import REPLAYSCM

TRACK: Final = Track(
    name="replayscm",
    variants=REPLAYSCM,
    facts=facts,
    summarise=summarise,
    certify=problem_of,
    look=look,
    tables=of_report,
    sections=sections,
)
