"""causalab: discovery by experiment in a laboratory, graded from transcripts that replay."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from grader.io.jsonio import canonical
from grader.laboratory import EpisodeError, Laboratory, write_hypothesis
from grader.laboratory.episode import Episode
from grader.model import Checked, Content, Score, Task, TrackSummary, Truth
from grader.track import Report, Track
from grader.tracks.causalab.scoring import (
    episode_of,
    laboratory_score,
    open_submission,
    score_hypothesis,
    verify_checked,
)
from grader.tracks.causalab.submission import (
    Submission,
    check,
    require_signature,
    submission_of,
)
from grader.variants.causalab import CAUSALAB

if TYPE_CHECKING:
    from grader.draw.page import Section
    from grader.draw.table import Table

__all__ = [
    "SCORERS",
    "TRACK",
    "Submission",
    "check",
    "episode_of",
    "episode_problem",
    "facts",
    "gold_answer",
    "open_submission",
    "require_signature",
    "score_hypothesis",
    "submission_of",
    "true_hypothesis",
    "verify_checked",
]

SCORERS: Final[Mapping[str, Callable[[Task, Truth, Any], Content]]] = {
    "laboratory.linear": laboratory_score,
    "laboratory.quadratic": laboratory_score,
}

SETTINGS: Final = ("reference", "wide")


def facts(truth: Truth) -> dict[str, Any]:
    """What every score row of the track says of its task, answered or not."""
    return {
        "setting": SETTINGS.index(truth.target["setting"]),
        "nodes": len(truth.target["equations"]),
        "true_edges": sum(len(terms) for terms in truth.target["equations"].values()),
    }


def episode_problem(task: Task, truth: Truth) -> str | None:
    """What is wrong with a task's episode, ``None`` if its parts agree with each other.

    Every reading the task shows, and the target, must be what the hidden mechanism gives.
    """
    try:
        episode = episode_of(task, truth)
    except EpisodeError as error:
        return str(error)
    return None if truth.value == episode.frequency else "its value is not the frequency"


def true_hypothesis(episode: Episode) -> dict[str, Any]:
    """The true mechanism in the hypothesis language."""
    terms = {t.parent: (t.linear, t.quadratic) for t in episode.model.equations[episode.target]}
    return write_hypothesis(
        episode.target, episode.family, episode.edges, episode.model.base, terms
    )


def gold_answer(task: Task, truth: Truth) -> str:
    """A session that states the true mechanism and target at once, without experiments."""
    episode = episode_of(task, truth)
    if not episode.budget:
        answer = {"hypothesis": true_hypothesis(episode), "prediction": episode.frequency}
        return canonical(answer) + "\n"
    laboratory = Laboratory(episode, "gold")
    laboratory.predict(episode.frequency, true_hypothesis(episode))
    return laboratory.transcript_text()


def _sign(checked: Checked, source: str, key: bytes) -> tuple[Checked, frozenset[str]]:
    signed = require_signature(checked, source, key)
    return signed, submission_of(signed)


def _summarise(
    scores: Sequence[Score], truths: Mapping[str, Truth], checked: Mapping[str, Checked]
) -> TrackSummary:
    from grader.tracks.causalab.summary import summarise

    return summarise(scores, truths, checked)


def _draw(task: Task, truth: Truth, verified: Checked) -> str:
    from grader.tracks.causalab.session_page import page

    return page(open_submission(task, truth, verified.content))


def _tables(report: Report) -> "Sequence[Table]":
    from grader.tracks.causalab.tables import in_terminal

    return in_terminal(report)


def _sections(reports: Sequence[Report]) -> "Sequence[Section]":
    from grader.tracks.causalab.page import sections

    return sections(reports)


TRACK: Final = Track(
    name="causalab",
    variants=CAUSALAB,
    facts=facts,
    verify=verify_checked,
    sign=_sign,
    summarise=_summarise,
    certify=episode_problem,
    draw=_draw,
    tables=_tables,
    sections=_sections,
)
