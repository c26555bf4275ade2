"""The ways of telling a scene without a language model at hand, behind one interface.

A verbaliser takes a scene to tell and a key, and returns names and story; it is a pure function of
both. ``knowledge`` needs the names that were planned for the scene
(:mod:`builder.stories.naming`); ``fictional`` and ``anonymous`` make their own; ``stored`` repeats
what a language model told once: its names and story do not depend on a seed, nor on any prompt;
only equations and rows are drawn anew. A language model is asked by :mod:`builder.stories.llm`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from builder.graphs.graph import LatentDAG
from builder.splits.seeds import stream
from builder.stories.fictional import furnish, invent_scene, letter_scene
from builder.stories.knowledge import domain
from builder.stories.naming import Naming
from builder.stories.story import tell
from builder.stories.types import Attestation, Facts, Kind, Seed, StorySetting, Telling, Variable

DEFAULT: Final = "knowledge"
LLM: Final = "llm"
STORED: Final = "stored"
BY_MODEL: Final = frozenset({LLM, STORED})
"""Words of a language model, which fit no frame."""


@dataclass(frozen=True, slots=True)
class StoredTelling:
    """Names (node id, variable) and story told once by a model; ``record``: a row's noun."""

    record: str
    variables: tuple[tuple[str, Variable], ...]
    story: str
    attestations: tuple[Attestation, ...]


class NarrationFailed(Exception):
    """Raised where a scene was not told; ``reason``, a few words, is counted."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class SceneToTell:
    """A graph, kinds by node id, and what its verbaliser reads: ``naming`` (knowledge), ``seeds``
    (a language model) or ``stored`` (stored)."""

    graph: LatentDAG
    kinds: Mapping[str, Kind]
    naming: Naming | None = None
    seeds: tuple[Seed, ...] = ()
    stored: StoredTelling | None = None


@dataclass(frozen=True, slots=True)
class Narration:
    """A scene's variables by node id, story, and mechanisms by (cause, effect), if any."""

    variables: Mapping[str, Variable]
    telling: Telling
    mechanism_clauses: Mapping[tuple[str, str], str] = field(default_factory=dict)


Verbaliser = Callable[[SceneToTell, bytes], Narration]


def _tell_knowledge(scene: SceneToTell, key: bytes) -> Narration:
    """Tell a scene by its planned names, or raise ``ValueError`` without any."""
    if scene.naming is None:
        raise ValueError("words = knowledge needs names that were planned for the scene")
    field_domain = domain(scene.naming.domain)
    concepts = {concept.name: concept for concept in field_domain.concepts}
    names = dict(scene.naming.names)
    variables = {
        node: concepts[names[node]].variable(scene.kinds[node]) for node in scene.graph.nodes
    }
    named_edges = [(names[a], names[b]) for a, b in scene.graph.edges]
    clauses = {edge: field_domain.mechanism_clauses[edge] for edge in named_edges}
    return _narrate(
        scene, key, furnish(stream(key, "names"), field_domain.scenery), variables, clauses
    )


def _tell_stored(scene: SceneToTell, key: bytes) -> Narration:
    """Return a scene's stored telling whatever the ``key``, or raise ``ValueError``."""
    stored = scene.stored
    if stored is None:
        raise ValueError("words = stored needs a stored scene")
    telling = Telling(stored.story, stored.record, stored.attestations)
    return Narration(dict(stored.variables), telling)


VERBALISERS: Final[Mapping[str, Verbaliser]] = {
    "knowledge": _tell_knowledge,
    "fictional": lambda scene, key: _narrate(
        scene, key, *invent_scene(stream(key, "names"), scene.kinds)
    ),
    "anonymous": lambda scene, key: _narrate(
        scene, key, *letter_scene(stream(key, "names"), scene.kinds)
    ),
    STORED: _tell_stored,
}
"""Verbaliser by the value of the split file's key ``words``."""

WORDS: Final = (*VERBALISERS, LLM)
"""All values of that key."""


def _narrate(
    scene: SceneToTell,
    key: bytes,
    setting: StorySetting,
    variables: Mapping[str, Variable],
    clauses: Mapping[tuple[str, str], str] | None = None,
) -> Narration:
    """Tell a scene with named variables; ``clauses`` are mechanisms by (cause, effect)."""
    facts = Facts(variables, scene.graph.edges, scene.graph.latent, clauses or {})
    telling = tell(stream(key, "story"), setting, facts)
    return Narration(variables, telling, facts.mechanism_clauses)
