"""The form of the answers to CausaLab tasks: how they are verified and scored, and the variants.

A session, or a hypothesis alone, is scored half for its prediction, half for its mechanism.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from grader.io.jsonio import canonical_json
from grader.laboratory.episode import Episode, EpisodeError
from grader.laboratory.hypothesis import Hypothesis, parse_hypothesis, write_hypothesis
from grader.laboratory.names import spellings_of
from grader.laboratory.replay import replay
from grader.laboratory.session import Laboratory
from grader.laboratory.transcript import TranscriptError
from grader.scoring.model import CheckedAnswer, Mark, Truth
from grader.scoring.shape import Shape, Task, Variant
from grader.tracks.causalab.metrics import hypothesis_metrics, prediction_metrics
from grader.tracks.causalab.submission import LabAnswer, check, sign

SETTINGS: Final = ("reference", "wide")


def score_hypothesis(
    episode: Episode, hypothesis: Mapping[str, Any] | Hypothesis, prediction: float | None = None
) -> dict[str, Any]:
    """Return every metric of one hypothesis, and of a ``prediction`` of the reactor's target.

    ``hypothesis`` is a parsed one, or JSON in the hypothesis language. Keys are those of the score
    row's figures, such as ``edge_f1``, ``shd``, ``coefficient_f1``, ``root_f1``, ``accurate``.
    Raises :class:`~grader.laboratory.equation.BadHypothesis`.
    """
    if not isinstance(hypothesis, Hypothesis):
        hypothesis = parse_hypothesis(hypothesis, episode.public, episode.spellings)
    return hypothesis_metrics(episode, hypothesis) | prediction_metrics(episode, prediction)


def episode_of(task: Task, truth: Truth) -> Episode:
    """Return the episode that a task and its truth make up."""
    return Episode.load(task.task_id, task.inputs, truth.target)


def check_truth(task: Task, truth: Truth) -> None:
    """Raise ``ValueError`` where readings or value of a task differ from its hidden mechanism."""
    try:
        episode = episode_of(task, truth)
    except EpisodeError as error:
        raise ValueError(f"column target_json: {error}") from None
    if truth.value != episode.frequency:
        raise ValueError("column value: it is not the frequency")


def facts(truth: Truth) -> dict[str, Any]:
    """Return figures of a task: nodes, edges, and ``setting``, its place in ``SETTINGS``."""
    return {
        "setting": SETTINGS.index(truth.target["setting"]),
        "nodes": len(truth.target["equations"]),
        "true_edges": sum(len(terms) for terms in truth.target["equations"].values()),
    }


def verify_checked(task: Task, truth: Truth, checked: CheckedAnswer) -> CheckedAnswer:
    """Return the answer with its replayed ``laboratory``; a short form makes one without settings.

    A transcript that does not replay gives an invalid answer. One not scored returns as it is.
    """
    if checked.status != "scored":
        return checked
    answer, episode = checked.answer, episode_of(task, truth)
    try:
        if answer.lines:
            laboratory = replay(episode, answer.lines)
        else:
            laboratory = Laboratory(episode)
            laboratory.prediction = answer.prediction
            laboratory.hypotheses = [(0, answer.hypothesis)] if answer.hypothesis else []
            laboratory.parse_failures = int(bool(answer.refusal))
    except TranscriptError as error:
        return CheckedAnswer("invalid", reason="replay", message=f"{task.answer_file}: {error}")
    return replace(checked, answer=replace(answer, laboratory=laboratory))


def laboratory_score(task: Task, truth: Truth, submission: LabAnswer) -> Mark:
    """Mark a session: ½ task accuracy + ½ all-edge F1, with all its figures in ``extra``."""
    # Fits and equivalence classes are loaded only where a session is there to be judged.
    from grader.tracks.causalab.diagnostics import session_figures

    session = submission.laboratory
    assert session is not None, "an answer is verified before it is scored"
    figures = score_hypothesis(session.episode, session.final_hypothesis, session.prediction)
    figures |= session_figures(session)
    figures |= {"transcript": int(bool(submission.lines)), "signed": int(submission.signed)}
    value = (figures["accurate"] + figures["edge_f1"]) / 2
    return Mark("accuracy_edge_f1", value, 1 - value, extra=figures, message=_why(figures))


def _why(figures: Mapping[str, Any]) -> str:
    """Return in words what a session lacks, empty if nothing."""
    parts = []
    if not figures["predicted"]:
        parts.append("no prediction was made")
    elif not figures["accurate"]:
        parts.append(f"the prediction is off by {figures['error']:.4g}")
    if not figures["hypothesised"]:
        parts.append(f"no hypothesis was {'read' if figures['parse_failures'] else 'given'}")
    elif not figures["graph_exact"]:
        parts.append(f"edges missing, extra or reversed: {figures['shd']}")
    if figures["premature"]:
        parts.append("stopped early, while the hypothesis or the graph was still open")
    return "; ".join(parts)


def true_hypothesis(episode: Episode) -> dict[str, Any]:
    """Return the true graph and target equation in the hypothesis language."""
    terms = {t.parent: (t.linear, t.quadratic) for t in episode.model.equations[episode.target]}
    return write_hypothesis(
        episode.target, episode.family, episode.edges, episode.model.base, terms
    )


def gold_answer(task: Task, truth: Truth) -> str:
    """Return the truth stated at once: a transcript, or the short form without a budget."""
    episode = episode_of(task, truth)
    if not episode.budget:
        answer = {"hypothesis": true_hypothesis(episode), "prediction": episode.frequency}
        return canonical_json(answer) + "\n"
    laboratory = Laboratory(episode, "gold")
    laboratory.predict(episode.frequency, true_hypothesis(episode))
    return laboratory.transcript_text()


LABORATORY: Final = Shape(
    "laboratory_jsonl", "session", "prediction", "f1", "accuracy_edge_f1",
    check, laboratory_score, gold_answer, input_mode="prompt",
    verify=verify_checked, sign=sign, facts=facts,
    check_inputs=spellings_of, check_truth=check_truth,
)  # fmt: skip


_RULE: Final = (
    "½ task accuracy (the prediction within the stated tolerance of the reactor's frequency) "
    "+ ½ F1 of the directed edges."
)
CAUSALAB: Final = tuple(
    Variant("causalab", "laboratory", name, rung=2, shape=LABORATORY, rule=_RULE)
    for name in ("linear", "quadratic")
)
