"""One interface for every way of telling a scene by rule, and what a telling is.

A verbaliser takes what is to be told and a key, and returns names and story; it is a pure function
of both. ``knowledge`` needs the names that were planned for the scene
(:mod:`builder.stories.naming`); ``fictional`` and ``anonymous`` make their own; ``stored`` repeats
what a language model told once: its names and story do not depend on a seed, nor on any prompt;
only equations and rows are drawn anew. A language model is asked by :mod:`builder.stories.llm`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from builder.graphs.graph import LatentDAG
from builder.splits.seeds import stream
from builder.stories.fictional import furnish, invent_scene, letter_scene
from builder.stories.knowledge import domain
from builder.stories.naming import Naming
from builder.stories.story import tell
from builder.stories.types import Attestation, Facts, Kind, Seed, Setting, Telling, Theme, Variable

DEFAULT: Final = "knowledge"
LLM: Final = "llm"
STORED: Final = "stored"
BY_MODEL: Final = frozenset({LLM, STORED})
"""Words of a language model, which fit no frame."""


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
    """A subject that could not be named and told; ``reason`` is counted."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be told: a graph, the kinds of its nodes, and what was planned for its words.

    ``naming`` are names of a domain, ``seeds`` pairs that a language model may start from.
    """

    graph: LatentDAG
    kinds: Mapping[str, Kind]
    naming: Naming | None = None
    seeds: tuple[Seed, ...] = ()
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


Verbaliser = Callable[[Subject, bytes], Narration]


def _tell_knowledge(subject: Subject, key: bytes) -> Narration:
    """Tells a scene by the names planned for it, with the mechanisms of their domain.

    Raises ``ValueError`` when no names were planned.
    """
    if subject.naming is None:
        raise ValueError("words = knowledge needs names that were planned for the scene")
    found = domain(subject.naming.domain)
    concepts = {concept.name: concept for concept in found.concepts}
    names = dict(subject.naming.names)
    variables = {
        node: concepts[names[node]].variable(subject.kinds[node]) for node in subject.graph.nodes
    }
    named_edges = [(names[a], names[b]) for a, b in subject.graph.edges]
    clauses = {edge: found.mechanism_clauses[edge] for edge in named_edges}
    return _told(subject, key, furnish(stream(key, "names"), found.theme), variables, clauses)


def _tell_stored(subject: Subject, key: bytes) -> Narration:
    """Return the names and the story of a stored scene; ``key`` changes nothing.

    Raises ``ValueError`` for a subject without one.
    """
    scene = subject.stored
    if scene is None:
        raise ValueError("words = stored needs a stored scene")
    theme = Theme("stored", scene.record, scene.records, "", "", (), ())
    telling = Telling(scene.story, scene.record, scene.attestations)
    return Narration(Setting(theme, "", ""), dict(scene.variables), telling, {})


VERBALISERS: Final[Mapping[str, Verbaliser]] = {
    "knowledge": _tell_knowledge,
    "fictional": lambda subject, key: _told(
        subject, key, *invent_scene(stream(key, "names"), subject.kinds)
    ),
    "anonymous": lambda subject, key: _told(
        subject, key, *letter_scene(stream(key, "names"), subject.kinds)
    ),
    STORED: _tell_stored,
}
"""Verbaliser by the value of the split file's key ``words``."""

WORDS: Final = (*VERBALISERS, LLM)
"""All values of that key."""


def _told(
    subject: Subject,
    key: bytes,
    setting: Setting,
    variables: Mapping[str, Variable],
    clauses: Mapping[tuple[str, str], str] | None = None,
) -> Narration:
    facts = Facts(variables, subject.graph.edges, subject.graph.latent, clauses or {})
    return Narration(setting, variables, tell(stream(key, "story"), setting, facts), clauses or {})
