"""ReplaySCM: Boolean programs induced from intervention worlds, graded by replay."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from grader.model import TrackSummary, Truth
from grader.shape import Task
from grader.track import Report, Track
from grader.tracks.replayscm.scoring import facts
from grader.tracks.replayscm.variants import REPLAYSCM

if TYPE_CHECKING:
    from grader.draw.page import Section
    from grader.draw.table import Table
    from grader.report.table import Results


def _summarise(results: "Results") -> TrackSummary:
    from grader.tracks.replayscm.report import summarise

    return summarise(results)


def _certify(task: Task, truth: Truth) -> str | None:
    from grader.tracks.replayscm.certificates import problem_of

    return problem_of(task, truth)


def _tables(report: Report) -> "Sequence[Table]":
    from grader.tracks.replayscm.tables import of_report

    return of_report(report)


def _sections(reports: Sequence[Report]) -> "Sequence[Section]":
    from grader.tracks.replayscm.page import sections

    return sections(reports)


TRACK: Final = Track(
    name="replayscm",
    variants=REPLAYSCM,
    facts=facts,
    summarise=_summarise,
    certify=_certify,
    tables=_tables,
    sections=_sections,
)
