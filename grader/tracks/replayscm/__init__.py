"""ReplaySCM: Boolean programs induced from intervention worlds, graded by replay."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from grader.io.jsonio import pretty
from grader.model import Checked, Content, Score, Task, TrackSummary, Truth
from grader.track import Report, Track
from grader.tracks.replayscm.scoring import alternative, facts, induction
from grader.tracks.replayscm.submission import check
from grader.variants.replayscm import REPLAYSCM

if TYPE_CHECKING:
    from grader.draw.page import Section
    from grader.draw.table import Table

__all__ = ["SCORERS", "TRACK", "check", "facts", "gold_answer"]

SCORERS: Final[Mapping[str, Callable[[Task, Truth, Any], Content]]] = {
    "induction.ordered": induction,
    "induction.block": induction,
    "induction.hidden": induction,
    "induction.hidden_roots": induction,
    "alternative.alternative_ordered": alternative,
    "alternative.alternative_hidden": alternative,
}


def gold_answer(task: Task, truth: Truth) -> str:
    """The hidden program, or for an alternative the one the audit found."""
    target = truth.target
    if task.family == "alternative":
        return pretty(target["alternative"])
    answer: dict[str, Any] = {"mechanisms": target["gold"]}
    if task.spec.shape == "roots_mechanisms":
        answer["roots"] = target["roots"]
    return pretty(answer)


def _summarise(
    scores: Sequence[Score], truths: Mapping[str, Truth], checked: Mapping[str, Checked]
) -> TrackSummary:
    from grader.tracks.replayscm.report import summarise

    return summarise(scores, truths, checked)


def _certify(task: Task, truth: Truth) -> str | None:
    from grader.tracks.replayscm.certificates import problem_of

    return problem_of(task, truth)


def _tables(report: Report) -> "Sequence[Table]":
    from grader.tracks.replayscm.tables import in_terminal

    return in_terminal(report)


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
