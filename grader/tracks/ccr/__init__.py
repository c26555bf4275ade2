"""The ccr track: compositional reasoning over cut trees; see ``docs/ccr.md``."""

from collections.abc import Mapping
from typing import Any, Final

from grader.pages.graph import Explanation, Graph, Kind, proofs
from grader.scoring.model import Truth
from grader.scoring.shape import Task
from grader.scoring.track import Track
from grader.tracks.ccr.shapes import CCR
from grader.tracks.ccr.summary import summarise
from grader.tracks.ccr.tables import SPECIFICATION, sections


def explain_task(task: Task, truth: Truth, world: Mapping[str, Any]) -> Explanation:
    """Return graph and facts of a task's world; the cut tree is named where there is one."""
    texts = proofs(__file__)
    proof = texts.get(task.shape.kind, texts["quantities"])
    context = world.get("context", {})
    if "parents" not in context:
        return Explanation(proof=proof)
    names = context["names"]
    edges = [(names[p], names[k]) for k, parents in enumerate(context["parents"]) for p in parents]
    tree = world.get("tree") or []
    kinds: dict[str, Kind] = {tree[0]: "treatment", tree[-1]: "outcome"} if tree else {}
    if {"cause", "effect"} <= truth.target.keys():
        kinds = {truth.target["cause"]: "treatment", truth.target["effect"]: "outcome"}
    facts = [("theme", str(world.get("theme", ""))), ("cut tree", " → ".join(tree))]
    return Explanation(Graph(names, edges, kinds), {}, [fact for fact in facts if fact[1]], proof)


TRACK: Final = Track(
    name="ccr",
    variants=CCR,
    summarise=summarise,
    own_points=True,
    look=explain_task,
    tables=SPECIFICATION.in_terminal,
    sections=sections,
)
