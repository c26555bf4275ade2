"""The laboratory of causalab: a small exact engine, sessions with it, and their verification.

Programs use :class:`Episode` and :class:`Laboratory`; the front ends in ``harness`` put a protocol
before them, and the grader replays what they wrote (:func:`verify`).
"""

from grader.laboratory.episode import Disturbance, Episode, EpisodeError, Variable, spellings_of
from grader.laboratory.equation import BadHypothesis
from grader.laboratory.hypothesis import (
    Hypothesis,
    parse_hypothesis,
    write_hypothesis,
)
from grader.laboratory.model import MODES, ROUNDING, Crystal, CyclicModel, Model, Term, rounded
from grader.laboratory.replay import replay, verify
from grader.laboratory.session import ENGINE_VERSION, Laboratory, Refused
from grader.laboratory.transcript import TranscriptError, check_chain, read_lines

__all__ = [
    "ENGINE_VERSION",
    "MODES",
    "ROUNDING",
    "BadHypothesis",
    "Crystal",
    "CyclicModel",
    "Disturbance",
    "Episode",
    "EpisodeError",
    "Hypothesis",
    "Laboratory",
    "Model",
    "Refused",
    "Term",
    "TranscriptError",
    "Variable",
    "check_chain",
    "parse_hypothesis",
    "read_lines",
    "replay",
    "rounded",
    "spellings_of",
    "verify",
    "write_hypothesis",
]
