"""What a verbaliser is given and what it returns."""

from collections.abc import Mapping
from dataclasses import dataclass

from builder.causal.graph import LatentDAG
from builder.words.llm.settings import Request
from builder.words.naming import Naming
from builder.words.stored import StoredScene
from builder.words.types import Kind, Setting, Telling, Variable


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
    stored: StoredScene | None = None


@dataclass(frozen=True, slots=True)
class Narration:
    """The words of a scene: its place, its variables' names, its mechanisms and its story.

    ``mechanism_clauses`` maps (cause, effect), by name, to the mechanism that the story may give.
    """

    setting: Setting
    variables: Mapping[str, Variable]
    telling: Telling
    mechanism_clauses: Mapping[tuple[str, str], str]
