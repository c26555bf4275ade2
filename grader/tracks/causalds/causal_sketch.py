"""The graph that the story tells, unmeasured variables included (CausalDS Table 9)."""

from typing import Any

from grader.model import Content, Task, Truth
from grader.tracks.causalds.sets import directed_edges, undirected_edges


def edges_only(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """F1 of the directed edges."""
    return directed_edges(truth, ((edge["from"], edge["to"]) for edge in answer["edges"]))


def skeleton_edges(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """F1 of the edges without their direction."""
    return undirected_edges(truth, ((pair["a"], pair["b"]) for pair in answer["skeleton_edges"]))
