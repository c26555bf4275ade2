"""The form of the answers to CausaLab tasks, the right ones, and the variants."""

from typing import Any, Final

from grader.io.jsonio import canonical_json
from grader.laboratory.episode import Episode
from grader.laboratory.hypothesis import write_hypothesis
from grader.laboratory.names import spellings_of
from grader.laboratory.session import Laboratory
from grader.scoring.model import Truth
from grader.scoring.shape import Shape, Task, Variant
from grader.tracks.causalab.scoring import (
    check_truth,
    episode_of,
    facts,
    laboratory_score,
    verify_checked,
)
from grader.tracks.causalab.submission import check, sign


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
