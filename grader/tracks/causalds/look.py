"""A causalds task with its world open: graph, sentences that tell its edges, proof."""

from collections.abc import Mapping
from typing import Any, Final

from grader.look import Edge, Graph, Kind, Look, proofs
from grader.model import Truth
from grader.shape import Task

_NUMERIC: Final = frozenset({"number", "interval"})


def look(task: Task, truth: Truth, world: Mapping[str, Any]) -> Look:
    """What the world row tells of a task; nothing of a graph where the row is not there."""
    texts = proofs(__file__)
    kind = "abstain" if truth.should_abstain else task.shape.kind
    source = str(world.get("value_source") or "")
    proof = texts.get(kind, texts["graph"])
    if kind in _NUMERIC:
        proof = f"{texts.get(source, '')} {proof}".strip()
    if "world" not in world:
        return Look(proof=proof)
    names = {node: variable["name"] for node, variable in world["variables"].items()}
    kinds: dict[str, Kind] = {names[node]: "latent" for node in world["world"]["latent"]}
    kinds |= {names[world["treatment"]]: "treatment", names[world["outcome"]]: "outcome"}
    edges = [(names[a], names[b]) for a, b in world["world"]["edges"]]
    told: dict[str, list[Edge]] = {}
    for attested in world.get("attestations", ()):
        what = attested["what"]
        if what[0] == "edge" and (what[1], what[2]) in edges:
            told.setdefault(attested["sentence"], []).append((what[1], what[2]))
    plan = world["plan"]
    facts = [
        ("domain", str(plan.get("domain") or plan.get("words") or "")),
        ("mechanisms", f"{plan.get('continuous')}, {plan.get('binary')}"),
        ("never measured", ", ".join(names[node] for node in world["world"]["latent"]) or "none"),
    ]
    return Look(Graph(list(names.values()), edges, kinds), told, facts, proof)
