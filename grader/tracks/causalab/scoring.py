"""Scoring a verified session, or a hypothesis alone: prediction and mechanism, half each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grader.laboratory import Episode, Hypothesis, TranscriptError, parse_hypothesis, replay
from grader.laboratory.hypothesis import EMPTY
from grader.laboratory.session import Laboratory
from grader.model import Checked, Mark, Truth
from grader.shape import Task
from grader.tracks.causalab.diagnostics import diagnose, progress
from grader.tracks.causalab.evidence import Evidence
from grader.tracks.causalab.metrics import hypothesis_metrics, prediction_metrics
from grader.tracks.causalab.submission import Submission


def score_hypothesis(
    episode: Episode, hypothesis: Mapping[str, Any] | Hypothesis, prediction: float | None = None
) -> dict[str, Any]:
    """Every metric of one hypothesis (and of a ``prediction`` of the reactor's target).

    ``hypothesis`` is a parsed one, or JSON in the hypothesis language. Keys are those of the score
    row's figures, such as ``edge_f1``, ``shd``, ``coefficient_f1``, ``root_f1``, ``accurate``.
    Raises :class:`~grader.laboratory.BadHypothesis`.
    """
    if not isinstance(hypothesis, Hypothesis):
        hypothesis = parse_hypothesis(hypothesis, episode.family, episode.target, episode.spellings)
    return hypothesis_metrics(episode, hypothesis) | dict(prediction_metrics(episode, prediction))


def episode_of(task: Task, truth: Truth) -> Episode:
    """The episode that a task and its truth make up."""
    return Episode.of(task.task_id, task.inputs, truth.target)


def verify_checked(task: Task, truth: Truth, checked: Checked) -> Checked:
    """``checked`` after replaying its transcript; a contradiction makes it invalid."""
    if checked.status != "scored" or not checked.answer.lines:
        return checked
    try:
        laboratory = replay(episode_of(task, truth), checked.answer.lines)
    except TranscriptError as error:
        return Checked("invalid", reason="replay", message=f"{task.answer_file}: {error}")
    return replace(checked, answer=replace(checked.answer, laboratory=laboratory))


def laboratory_score(task: Task, truth: Truth, submission: Submission) -> Mark:
    """A session's score: ½ task accuracy + ½ all-edge F1 over decidable pairs."""
    session = open_submission(task, truth, submission)
    figures = session_figures(session, submission)
    value = (figures["accurate"] + figures["edge_f1"]) / 2
    return Mark("accuracy_edge_f1", value, 1 - value, extra=figures, message=_why(figures))


@dataclass(frozen=True, slots=True)
class Told:
    """What an answer says: its hypotheses by step, its prediction, and the evidence behind it."""

    episode: Episode
    evidence: Evidence
    hypotheses: Sequence[tuple[int, Hypothesis]]
    prediction: float | None
    laboratory: Laboratory | None

    @property
    def final(self) -> Hypothesis:
        """The hypothesis that is scored: the last that parsed, or an empty one."""
        return self.hypotheses[-1][1] if self.hypotheses else EMPTY


def open_submission(task: Task, truth: Truth, submission: Submission) -> Told:
    """A verified transcript or a short form, in one shape."""
    laboratory = submission.laboratory
    if laboratory is None:
        episode = episode_of(task, truth)
        hypotheses = [(0, submission.hypothesis or EMPTY)]
        return Told(episode, Evidence(episode, ()), hypotheses, submission.prediction, None)
    evidence = Evidence(laboratory.episode, laboratory.readings)
    return Told(
        laboratory.episode, evidence, laboratory.hypotheses, laboratory.prediction, laboratory
    )


def session_figures(told: Told, submission: Submission) -> dict[str, Any]:
    """Every figure of one answer, as they stand in its score row."""
    committed = told.prediction is not None
    return {
        **score_hypothesis(told.episode, told.final, told.prediction),
        **diagnose(told.evidence, told.final, committed=committed),
        **progress(told.episode, told.hypotheses, told.evidence.steps),
        "predicted": int(committed),
        "hypothesised": int(bool(told.hypotheses)),
        "parse_failures": told.laboratory.parse_failures if told.laboratory else 0,
        "refusals": told.laboratory.refusals if told.laboratory else 0,
        "transcript": int(told.laboratory is not None),
        "signed": int(submission.signed),
    }


def _why(figures: Mapping[str, Any]) -> str:
    if not figures["predicted"]:
        return "the session ended without a prediction"
    parts = []
    if not figures["accurate"]:
        parts.append(f"the prediction is off by {figures['error']:.4g}")
    if not figures["hypothesised"]:
        parts.append("no hypothesis was given")
    elif not figures["graph_exact"]:
        parts.append(f"{figures['shd']} edges are missing, extra or reversed")
    if figures["premature"]:
        parts.append("stopped while experiments could still tell candidates apart")
    return "; ".join(parts)
