"""The form of the answers to CausaLab tasks: how they are checked and scored, and the variants.

An answer is a transcript, or the short form of one. A session, or a hypothesis alone, is scored
half for its prediction, half for its mechanism.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from grader.answers.check import read_answer
from grader.errors import Invalid
from grader.io.jsonio import BadJson, canonical_json, clip, parse_strict
from grader.io.schemas import first_problem
from grader.laboratory.episode import Episode, EpisodeError, spellings_of
from grader.laboratory.hypothesis import (
    BadHypothesis,
    Hypothesis,
    parse_hypothesis,
    write_hypothesis,
)
from grader.laboratory.session import Laboratory, replay
from grader.laboratory.transcript import Line, TranscriptError, check_chain, read_lines
from grader.scoring.model import CheckedAnswer, Mark, RawAnswer, Truth
from grader.scoring.shape import Shape, Task, Variant
from grader.tracks.causalab import metrics


@dataclass(frozen=True, slots=True)
class LabAnswer:
    """An answer: the ``lines`` of a transcript with its chain checked, or a short form.

    ``prediction``, ``hypothesis`` and ``refusal``, why its hypothesis was not read, are of a short
    form alone. ``signed`` is whether the host's key was checked. ``laboratory`` is the session,
    None until the answer is verified.
    """

    lines: Sequence[Line]
    prediction: float | None = None
    hypothesis: Hypothesis | None = None
    refusal: str = ""
    signed: bool = False
    laboratory: Laboratory | None = None


SHORT_FORM: Final = 'one JSON object {"prediction": …, "hypothesis": {…}}'


def check(task: Task, raw: RawAnswer) -> CheckedAnswer:
    """Check a transcript or a short form in all but the replay, which needs the truth."""
    return read_answer(raw, lambda data: _check_document(task, raw.source, data))


def sign(checked: CheckedAnswer, source: str, key: bytes) -> tuple[CheckedAnswer, frozenset[str]]:
    """Return the answer, invalid where a transcript's signatures are not by the host's ``key``, and
    the name of the submission whose session it records. Others come back as they are, without a
    name: there is no session to sign where nothing can be set."""
    if checked.status != "scored" or not checked.answer.lines:
        return checked, frozenset()
    lines = checked.answer.lines
    try:
        check_chain(lines, key)
    except TranscriptError as error:
        reason = f"{source}: {error}"
        return CheckedAnswer("invalid", reason="signature", message=reason), frozenset()
    signed = replace(checked, answer=replace(checked.answer, signed=True))
    return signed, frozenset({str(lines[0].get("submission"))})


def _check_document(task: Task, source: str, data: bytes) -> CheckedAnswer:
    """Return the checked answer: a transcript, its chain checked without key, or a short form,
    whose hypothesis may be refused, as the message says."""
    try:
        document = _short_form(data)
        answer = LabAnswer(read_lines(data)) if document is None else _check_short(task, document)
        if lines := answer.lines:
            check_chain(lines)
            if lines[0].get("task_id") != task.task_id:
                named = clip(lines[0].get("task_id"))
                raise TranscriptError(1, f"a session of {named}, another task")
            if lines[-1].get("event") != "closed":
                raise TranscriptError(len(lines), "the transcript ends without its closing line")
    except TranscriptError as error:
        raise Invalid("transcript", str(error)) from None
    refusal = f"{source}: the hypothesis is not read: {answer.refusal}" if answer.refusal else ""
    return CheckedAnswer("scored", answer, message=refusal)


def _short_form(data: bytes) -> Mapping[str, Any] | None:
    """Return the answer as one object, None if a transcript; raises ``BadJson`` for others."""
    try:
        document = parse_strict(data)
    except BadJson as error:
        if error.reason == "not_json" and data.strip().count(b"\n"):
            return None
        raise
    if not isinstance(document, dict):
        raise BadJson("not_object", f"{clip(document)} is neither a transcript nor {SHORT_FORM}")
    return None if "event" in document else document


def _check_short(task: Task, document: Mapping[str, Any]) -> LabAnswer:
    """Return a short form, either half alone too. A hypothesis beside a prediction may be refused.

    Raises ``TranscriptError`` if the task has a budget, and ``Invalid``.
    """
    if task.inputs["budget"]:
        raise TranscriptError(
            0, "an answer without a transcript; only a task without interventions takes one"
        )
    # A session reads hypotheses by the language alone, so the schema is asked of the rest.
    problem = first_problem(f"answers/{task.shape.name}", {**document, "hypothesis": None})
    if problem is not None:
        raise Invalid("schema", problem)
    prediction, stated = document.get("prediction"), document.get("hypothesis")
    if prediction is None and stated is None:
        raise Invalid("schema", f"neither a prediction nor a hypothesis; write {SHORT_FORM}")
    number = None if prediction is None else float(prediction)
    if stated is None:
        return LabAnswer((), number)
    try:
        hypothesis = parse_hypothesis(stated, task.inputs)
    except BadHypothesis as error:
        if number is None:
            raise Invalid("hypothesis", str(error)) from None
        return LabAnswer((), number, refusal=str(error))
    return LabAnswer((), number, hypothesis)


SETTINGS: Final = ("reference", "wide")


def score_hypothesis(
    episode: Episode, hypothesis: Mapping[str, Any] | Hypothesis, prediction: float | None = None
) -> dict[str, Any]:
    """Return every metric of one hypothesis, parsed or JSON in the hypothesis language, and of a
    ``prediction`` of the reactor's target, by the names of the score row's figures. Raises
    :class:`~grader.laboratory.hypothesis.BadHypothesis`."""
    if not isinstance(hypothesis, Hypothesis):
        hypothesis = parse_hypothesis(hypothesis, episode.public)
    figures = metrics.hypothesis_metrics(episode, hypothesis)
    return figures | metrics.prediction_metrics(episode, prediction)


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
    """Return the answer with its replayed ``laboratory`` (a short form makes one without settings),
    or an invalid one where a transcript does not replay."""
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
    session = submission.laboratory
    assert session is not None, "an answer is verified before it is scored"
    committed, hypothesis = session.prediction is not None, session.final_hypothesis
    figures = score_hypothesis(session.episode, hypothesis, session.prediction)
    evidence = metrics.Evidence(session.episode, session.readings)
    figures |= metrics.diagnose(evidence, hypothesis, committed=committed)
    figures |= {
        "predicted": int(committed),
        "hypothesised": int(bool(session.hypotheses)),
        "parse_failures": session.parse_failures,
        "refusals": session.refusals,
        "transcript": int(bool(submission.lines)),
        "signed": int(submission.signed),
    }
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
        open_ends = []
        if figures["hypothesised"] and not figures["consistent"]:
            open_ends.append("a reading contradicts the hypothesis")
        if (figures["class_size"] or 1) > 1:
            open_ends.append("other graphs remain equivalent to the true one")
        though = f", though {' and '.join(open_ends)}" if open_ends else ""
        parts.append(f"predicted with experiments left{though}")
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
