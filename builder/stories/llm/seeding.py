"""Known causal pairs as a start for naming (paper 3.3).

Seeds name the outcome and one of its neighbours in the host motif. They come from CauseNet where a
file is given, else from the knowledge graph, and are dealt while a split is planned.

CauseNet-Precision holds causal relations found in text (Heindorf et al. 2020). Each line is a JSON
object ``{"causal_relation": {"cause": {"concept": …}, "effect": {"concept": …}}, "sources": […]}``.
The number of sources, or the number in their place, is the *support* of a relation.
"""

import bz2
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import IO, Final

import numpy as np

from builder.graphs.graph import LatentDAG
from builder.splits.seeds import pick
from builder.stories.knowledge import domains
from builder.stories.llm.settings import Settings
from builder.stories.types import Kind, Seed
from builder.stories.verify import TECHNICAL
from grader.errors import UsageError

_LONGEST_LINE: Final = 50_000_000
"""Bytes; provenance makes some lines long."""

CausalPair = tuple[str, str]


@lru_cache(maxsize=1)
def read_pairs(path: Path) -> Mapping[CausalPair, int]:
    """Return the (cause, effect) pairs of a CauseNet file (plain or bzip2) that can serve as names,
    sorted, with support. Concepts of more than three words, with digits or signs, with terms of
    statistics, and pairs where one concept stands inside the other are left out. Raises
    ``UsageError`` naming file and line."""
    try:
        with path.open("rb") as raw:
            packed = raw.read(3) == b"BZh"
        with bz2.open(path, "rb") if packed else path.open("rb") as stream:
            found = Counter[CausalPair]()
            for pair, support in _pairs(stream, path):
                found[pair] += support
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"{path}: cannot be read ({reason}); give the CauseNet-Precision JSONL file, plain or "
            "as .bz2, in llm.causenet"
        ) from None
    if not found:
        raise UsageError(f"{path}: holds no causal relation that could name two variables")
    return MappingProxyType(dict(sorted(found.items())))


def _pairs(stream: "IO[bytes] | bz2.BZ2File", path: Path) -> Iterator[tuple[CausalPair, int]]:
    """Yield each usable pair of a CauseNet file with its support; a pair may come several times."""
    for number, line in enumerate(iter(lambda: stream.readline(_LONGEST_LINE), b""), 1):
        if not line.strip():
            continue
        try:
            told = json.loads(line)
            relation = told["causal_relation"]
            ends = [relation[end]["concept"] for end in ("cause", "effect")]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise UsageError(
                f'{path}: line {number} is no CauseNet relation; each needs {{"causal_relation": '
                '{"cause": {"concept": …}, "effect": {"concept": …}}}'
            ) from None
        if (pair := _usable(*ends)) is not None:
            sources = told.get("sources")
            count = sources if type(sources) is int else 0
            yield pair, len(sources) if isinstance(sources, list) else max(0, count)


def _usable(cause: object, effect: object) -> CausalPair | None:
    """Return cause and effect as names (first letter a capital), or None where either cannot be."""
    names = []
    for concept in (cause, effect):
        text = " ".join(concept.replace("_", " ").split()) if isinstance(concept, str) else ""
        plain = re.fullmatch("[a-z]+(?:[ -][a-z]+){0,2}", text) and not TECHNICAL.search(text)
        if not plain or not 3 <= len(text) <= 34:
            return None
        names.append(text[0].upper() + text[1:])
    low = [name.lower() for name in names]
    return None if low[0] in low[1] or low[1] in low[0] else (names[0], names[1])


class Dealer:
    """Deals a split's scenes causal pairs of CauseNet or, without it, the knowledge graph."""

    def __init__(self, settings: Settings, rng: np.random.Generator) -> None:
        self._rng = rng
        self._count = 3 * settings.budgets.seeds
        path = settings.causenet if self._count else None
        self._known = tuple(read_pairs(Path(path)).items()) if path else ()
        self._order: list[int] = []

    def deal(self, graph: LatentDAG, kinds: Mapping[str, Kind], outcome: str) -> tuple[Seed, ...]:
        """Return three times R (``budgets.seeds``) seeds, for further attempts, on random edges of
        the host into or out of the outcome, observed ones if any. Empty without such an edge."""
        edges = [
            edge
            for edge in graph.edges
            if outcome in edge and not any(node.startswith("AUX") for node in edge)
        ]
        clear = [edge for edge in edges if not set(edge) & graph.latent] or edges
        if not clear:
            return ()
        seeds = []
        for _ in range(self._count):
            edge, hint, support = pick(self._rng, clear), "", 0
            if self._known:
                names, support = self._known[self._next_number(len(self._known))]
            else:
                names, hint = self._from_graph(edge, graph, kinds)
            seeds.append(Seed(tuple(zip(edge, names, strict=True)), hint, support))
        return tuple(seeds)

    def _next_number(self, size: int) -> int:
        """Return a random number from 0 to ``size`` - 1, none again before all have been dealt."""
        if not self._order:
            self._order = self._rng.permutation(size).tolist()[::-1]
        return self._order.pop()

    def _from_graph(
        self, edge: tuple[str, str], graph: LatentDAG, kinds: Mapping[str, Kind]
    ) -> tuple[tuple[str, str], str]:
        """Return names for an edge, of a domain, whose concepts fit its nodes if possible."""
        while True:
            domain = domains()[self._next_number(len(domains()))]
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
