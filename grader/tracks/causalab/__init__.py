"""causalab: discovery by experiment in a laboratory, graded from transcripts that replay."""

from collections.abc import Mapping
from typing import Any, Final

from grader.laboratory.episode import EpisodeError
from grader.pages.graph import Explanation, Graph, Kind, proofs
from grader.scoring.model import Checked, Truth
from grader.scoring.shape import Task
from grader.scoring.track import Track
from grader.tracks.causalab.scoring import episode_of
from grader.tracks.causalab.shapes import CAUSALAB
from grader.tracks.causalab.summary import summarise
from grader.tracks.causalab.tables import SPECIFICATION, sections


def explain_task(task: Task, truth: Truth, world: Mapping[str, Any]) -> Explanation:
    """Return the mechanism as a graph with its equations, which the truth row holds whole."""
    equations = truth.target["equations"]
    edges = [(term["parent"], child) for child, terms in equations.items() for term in terms]
    nodes = list(dict.fromkeys([*(a for a, _ in edges), *equations]))
    kinds: dict[str, Kind] = {"frequency": "outcome"} if "frequency" in equations else {}
    facts = [(child, _sum(terms)) for child, terms in sorted(equations.items()) if terms]
    return Explanation(Graph(nodes, edges, kinds), {}, facts, proofs(__file__)["session"])


def _sum(terms: list[Mapping[str, Any]]) -> str:
    """Return the right-hand side of an equation; the base is a word."""
    parts = []
    for term in terms:
        if term["linear"]:
            parts.append(f"{term['linear']:g}·{term['parent']}")
        if term["quadratic"]:
            parts.append(f"{term['quadratic']:g}·{term['parent']}²")
    return "base + " + " + ".join(parts)


def episode_problem(task: Task, truth: Truth) -> str | None:
    """Return what is wrong with a task's episode, None if its parts agree with each other.

    Every reading the task shows, and the target, must be what the hidden mechanism gives.
    """
    try:
        episode = episode_of(task, truth)
    except EpisodeError as error:
        return str(error)
    return None if truth.value == episode.frequency else "its value is not the frequency"


def _draw(task: Task, truth: Truth, verified: Checked) -> str:
    from grader.tracks.causalab.session_page import session_page

    return session_page(verified.answer.laboratory)


TRACK: Final = Track(
    name="causalab",
    variants=CAUSALAB,
    summarise=summarise,
    certify=episode_problem,
    draw=_draw,
    look=explain_task,
    tables=SPECIFICATION.in_terminal,
    sections=sections,
)
