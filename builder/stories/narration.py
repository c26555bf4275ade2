"""What a verbaliser is given, which may be a stored telling, and what it returns.

A scene that a language model told once is kept as data (``splits/model-stories.json``): its names
and story do not depend on a seed, nor on any prompt; only its equations and rows are drawn anew.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from builder.graphs.graph import LatentDAG
from builder.stories.llm.settings import Request
from builder.stories.naming import Naming
from builder.stories.types import Attestation, Kind, Setting, Telling, Variable


@dataclass(frozen=True, slots=True)
class StoredTelling:
    """The names and the story of a scene that was told once.

    ``record`` and ``records`` are what a row of its table is called; ``variables`` pairs every node
    with what the story calls it.
    """

    record: str
    records: str
    variables: tuple[tuple[str, Variable], ...]
    story: str
    attestations: tuple[Attestation, ...]


class NarrationFailed(Exception):
    """A subject that a verbaliser could not name and tell; ``reason`` is counted."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be told: a graph, the kinds of its nodes, and what was planned for its words."""

    graph: LatentDAG
    kinds: Mapping[str, Kind]
    naming: Naming | None = None
    request: Request | None = None
    stored: StoredTelling | None = None


@dataclass(frozen=True, slots=True)
class Narration:
    """The words of a scene: its place, its variables' names, its mechanisms and its story.

    ``mechanism_clauses`` maps (cause, effect), by name, to the mechanism that the story may give.
    """

    setting: Setting
    variables: Mapping[str, Variable]
    telling: Telling
    mechanism_clauses: Mapping[tuple[str, str], str]
