"""The true mechanism of an episode, in the hypothesis language and as a session."""

from typing import Any

from grader.io.jsonio import canonical
from grader.laboratory.episode import Episode
from grader.laboratory.hypothesis import write_hypothesis
from grader.laboratory.session import Laboratory
from grader.model import Truth
from grader.shape import Task
from grader.tracks.causalab.scoring import episode_of


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
