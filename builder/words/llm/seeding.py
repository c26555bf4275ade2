"""Known causal pairs as a start for naming (paper 3.3), and whether one fits (Algorithm 2).

Seeds name the outcome and one of its neighbours in the host motif. They come from CauseNet where a
file is given, else from the knowledge graph, and are dealt while a split is planned: a worker needs
no file, and no pair is dealt again before all have been.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from builder.causal.graph import LatentDAG
from builder.seeds import pick
from builder.words.knowledge import domains
from builder.words.llm.causenet import read_pairs
from builder.words.llm.client import Client, Malformed, flag_of
from builder.words.llm.prompts import PRE_AUDITOR, conversation
from builder.words.llm.settings import Seed, Settings
from builder.words.llm.stages import Sketch
from builder.words.types import Kind

_DEALT: int = 3
"""Times R: what is dealt to a scene, so that its second attempt starts elsewhere."""


class Dealer:
    """Deals pairs of a cause and an effect to the scenes of a split.

    ``where`` is the place of the settings in the split file.
    Raises ``UsageError`` when the CauseNet file cannot be used.
    """

    def __init__(self, settings: Settings, where: str, rng: np.random.Generator) -> None:
        self._rng = rng
        self._count = _DEALT * settings.budgets.seeds
        path = settings.causenet if self._count else None
        self._known = tuple(read_pairs(Path(path), where).items()) if path else ()
        self._order: Iterator[int] = iter(())

    def deal(self, graph: LatentDAG, kinds: Mapping[str, Kind], outcome: str) -> tuple[Seed, ...]:
        """The seeds of a scene; none where its outcome has no neighbour or R is 0."""
        edges = [
            edge
            for edge in graph.edges
            if outcome in edge and not any(node.startswith("AUX") for node in edge)
        ]
        clear = [edge for edge in edges if not set(edge) & graph.latent] or edges
        if not clear:
            return ()
        return tuple(self._seed(clear, graph, kinds) for _ in range(self._count))

    def _seed(
        self, edges: list[tuple[str, str]], graph: LatentDAG, kinds: Mapping[str, Kind]
    ) -> Seed:
        edge = pick(self._rng, edges)
        if self._known:
            names, support = self._known[self._next(len(self._known))]
            return Seed(tuple(zip(edge, names, strict=True)), "", support)
        names, hint = self._from_graph(edge, graph, kinds)
        return Seed(tuple(zip(edge, names, strict=True)), hint)

    def _next(self, size: int) -> int:
        number = next(self._order, None)
        if number is None:
            self._order = iter(self._rng.permutation(size).tolist())
            number = next(self._order)
        return number

    def _from_graph(
        self, edge: tuple[str, str], graph: LatentDAG, kinds: Mapping[str, Kind]
    ) -> tuple[tuple[str, str], str]:
        """A pair of a domain whose kinds fit, and that could go unmeasured where it must."""
        while True:
            domain = domains()[self._next(len(domains()))]
            concepts = {concept.name: concept for concept in domain.concepts}
            fitting = [
                pair
                for pair in sorted(domain.mechanism_clauses)
                if all(
                    kinds[node] in concepts[name].kinds
                    and (node not in graph.latent or concepts[name].latent)
                    for node, name in zip(edge, pair, strict=True)
                )
            ]
            if fitting:
                return pick(self._rng, fitting), domain.field


def pre_audit(client: Client, stage: Sketch, fixed: Mapping[str, str]) -> bool:
    """Algorithm 2: whether a skilled mapper could make something of the fixed names."""

    def read(found: Mapping[str, Any]) -> bool:
        if found.get("confidence") not in ("high", "low"):
            raise Malformed('"confidence" must be "high" or "low"')
        return flag_of(found, "feasible")

    apart = [f"{a}, {b}" for a, b in stage.non_edges if a in fixed and b in fixed]
    content = {
        **stage.to_json(),
        "named": dict(fixed),
        "open": [node for node in stage.graph.nodes if node not in fixed],
        "named_without_direct_effect": apart,
    }
    return client.ask_json("pre-audit", conversation(PRE_AUDITOR, content), read)
