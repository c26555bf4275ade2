"""ReplaySCM: Boolean programs induced from intervention worlds, graded by replay."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from grader.track import Report, Track
from grader.tracks.replayscm.certificates import problem_of
from grader.tracks.replayscm.report import summarise
from grader.tracks.replayscm.scoring import facts
from grader.tracks.replayscm.tables import of_report
from grader.tracks.replayscm.variants import REPLAYSCM

if TYPE_CHECKING:
    from grader.draw.page import Section


def _sections(reports: Sequence[Report]) -> "Sequence[Section]":
    from grader.tracks.replayscm.page import sections

    return sections(reports)


TRACK: Final = Track(
    name="replayscm",
    variants=REPLAYSCM,
    facts=facts,
    summarise=summarise,
    certify=problem_of,
    tables=of_report,
    sections=_sections,
)
