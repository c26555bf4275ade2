"""One interface for every way of telling a scene.

A verbaliser takes what is to be told and a key, and returns names and story; it is a pure function
of both (and, for ``llm``, of the transcripts). ``knowledge`` needs the names that were planned for
the scene (:mod:`builder.stories.naming`); ``fictional`` and ``anonymous`` make their own; ``llm``
asks a language model (:mod:`builder.stories.llm`), ``stored`` repeats what one told once.
"""

from collections.abc import Callable, Mapping
from typing import Final

from builder.splits.seeds import stream
from builder.stories.fictional import furnish, invent_scene, letter_scene
from builder.stories.knowledge import domain
from builder.stories.llm.tell import tell_scene
from builder.stories.narration import Narration, Subject
from builder.stories.story import tell
from builder.stories.types import Facts, Setting, Telling, Theme, Variable

DEFAULT: Final = "knowledge"
LLM: Final = "llm"
STORED: Final = "stored"
BY_MODEL: Final = frozenset({LLM, STORED})
"""Words of a language model, which fit no frame."""

Verbaliser = Callable[[Subject, bytes], Narration]


def tell_knowledge(subject: Subject, key: bytes) -> Narration:
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


def tell_stored(subject: Subject, key: bytes) -> Narration:
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
    "knowledge": tell_knowledge,
    "fictional": lambda subject, key: _told(
        subject, key, *invent_scene(stream(key, "names"), subject.kinds)
    ),
    "anonymous": lambda subject, key: _told(
        subject, key, *letter_scene(stream(key, "names"), subject.kinds)
    ),
    LLM: tell_scene,
    STORED: tell_stored,
}
"""Verbaliser by the value of the split file's key ``words``."""


def _told(
    subject: Subject,
    key: bytes,
    setting: Setting,
    variables: Mapping[str, Variable],
    clauses: Mapping[tuple[str, str], str] | None = None,
) -> Narration:
    facts = Facts(variables, subject.graph.edges, subject.graph.latent, clauses or {})
    return Narration(setting, variables, tell(stream(key, "story"), setting, facts), clauses or {})
