"""One answer opened: what it says step by step, and the evidence behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grader.laboratory.episode import Episode
from grader.laboratory.hypothesis import EMPTY, Hypothesis
from grader.laboratory.session import Laboratory
from grader.tracks.causalab.diagnostics import diagnose, progress
from grader.tracks.causalab.evidence import Evidence
from grader.tracks.causalab.submission import LabAnswer


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


def open_submission(episode: Episode, submission: LabAnswer) -> Told:
    """A verified transcript or a short form, in one shape."""
    laboratory = submission.laboratory
    if laboratory is None:
        hypotheses = [(0, submission.hypothesis)] if submission.hypothesis else []
        return Told(episode, Evidence(episode, ()), hypotheses, submission.prediction, None)
    evidence = Evidence(laboratory.episode, laboratory.readings)
    return Told(
        laboratory.episode, evidence, laboratory.hypotheses, laboratory.prediction, laboratory
    )


def session_figures(told: Told, submission: LabAnswer) -> dict[str, Any]:
    """What the score row says of an answer beyond its last hypothesis and its prediction."""
    committed = told.prediction is not None
    return {
        **diagnose(told.evidence, told.final, committed=committed),
        **progress(told.episode, told.hypotheses, told.evidence.steps),
        "predicted": int(committed),
        "hypothesised": int(bool(told.hypotheses)),
        "parse_failures": told.laboratory.parse_failures
        if told.laboratory
        else int(bool(submission.refusal)),
        "refusals": told.laboratory.refusals if told.laboratory else 0,
        "transcript": int(told.laboratory is not None),
        "signed": int(submission.signed),
    }
