"""What a person sees of a task beside its prompt: the hidden graph, and why its truth is true."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

Kind = Literal["", "treatment", "outcome", "latent"]
Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Graph:
    """A directed graph: the names of its nodes, edges from cause to effect, and what some are."""

    nodes: Sequence[str]
    edges: Sequence[Edge]
    kinds: Mapping[str, Kind] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Look:
    """A task with its world open.

    ``graph`` is the hidden causal graph, ``None`` where the task has none; ``told`` are sentences
    of the story with the edges they tell; ``facts`` are named facts about the world, ``proof`` says
    how the truth was worked out and how it was derived a second time.
    """

    graph: Graph | None = None
    told: Mapping[str, Sequence[Edge]] = field(default_factory=dict)
    facts: Sequence[tuple[str, str]] = ()
    proof: str = ""


@cache
def proofs(track: str) -> Mapping[str, str]:
    """Return how each kind of truth of a track is proved, given a file in its folder."""
    found: Mapping[str, str] = tomllib.loads(
        Path(track).with_name("look.toml").read_text(encoding="utf-8")
    )
    return found
