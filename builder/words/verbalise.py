"""One interface for every way of telling a scene.

A verbaliser takes what is to be told and a key, and returns names and story. ``knowledge`` needs
the names that were planned for the scene (:mod:`builder.words.naming`); ``fictional`` and
``anonymous`` make their own; ``llm`` asks a language model (:mod:`builder.words.llm`).
:func:`four_tellings` tells one scene in four ways.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from builder.causal import LatentDAG
from builder.seeds import stream
from builder.words.fictional import furnish, invent_scene
from builder.words.knowledge import domain
from builder.words.letters import letter_scene
from builder.words.naming import Naming
from builder.words.story import tell
from builder.words.types import Facts, Kind, Setting, Telling, Variable

if TYPE_CHECKING:
    from builder.words.llm.seeding import Seed
    from builder.words.llm.settings import Settings

DEFAULT: Final = "knowledge"
LLM: Final = "llm"


class Untold(Exception):
    """A scene that a verbaliser could not name and tell; ``reason`` is counted."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Request:
    """What the ``llm`` verbaliser needs: how to ask, and known causal pairs to start from."""

    settings: "Settings"
    seeds: tuple["Seed", ...] = ()


@dataclass(frozen=True, slots=True)
class Scene:
    """What is to be told: a graph, the kinds of its nodes, and what was planned for its words."""

    graph: LatentDAG
    kinds: Mapping[str, Kind]
    naming: Naming | None = None
    request: Request | None = None


@dataclass(frozen=True, slots=True)
class Narration:
    """The words of a scene: its place, its variables' names, its mechanisms and its story.

    ``hows`` maps (cause, effect), by name, to the mechanism that the story may give for it.
    """

    setting: Setting
    variables: Mapping[str, Variable]
    telling: Telling
    hows: Mapping[tuple[str, str], str]


class Verbaliser(Protocol):
    """Names and tells a scene; a pure function of its arguments (and of ``llm``'s transcripts)."""

    def __call__(self, scene: Scene, key: bytes) -> Narration:
        """The names and the story of ``scene``."""


def tell_knowledge(scene: Scene, key: bytes) -> Narration:
    """Tells a scene by the names planned for it, with the mechanisms of their domain.

    Raises ``ValueError`` when no names were planned.
    """
    if scene.naming is None:
        raise ValueError("words = knowledge needs names that were planned for the scene")
    found = domain(scene.naming.domain)
    concepts = {concept.name: concept for concept in found.concepts}
    names = dict(scene.naming.names)
    variables = {
        node: concepts[names[node]].variable(scene.kinds[node]) for node in scene.graph.nodes
    }
    hows = {(names[a], names[b]): found.hows[names[a], names[b]] for a, b in scene.graph.edges}
    setting = furnish(stream(key, "names"), found.theme)
    return _told(scene, key, setting, variables, hows)


def tell_fictional(scene: Scene, key: bytes) -> Narration:
    """Tells a scene in an invented place, by invented names."""
    return _told(scene, key, *invent_scene(stream(key, "names"), scene.kinds))


def tell_anonymous(scene: Scene, key: bytes) -> Narration:
    """Tells a scene by letters, in no place at all."""
    return _told(scene, key, *letter_scene(stream(key, "names"), scene.kinds))


def tell_llm(scene: Scene, key: bytes) -> Narration:
    """Names and tells a scene by a language model; pure given its transcripts.

    Raises :class:`Untold` when a budget is used up, and ``UsageError`` when the endpoint fails.
    """
    from builder.words.llm.tell import tell_scene

    return tell_scene(scene, key)


VERBALISERS: Final[Mapping[str, Verbaliser]] = {
    "knowledge": tell_knowledge,
    "fictional": tell_fictional,
    "anonymous": tell_anonymous,
    LLM: tell_llm,
}
"""Verbaliser by the value of the split file's key ``words``."""


def narrate(words: str, scene: Scene, key: bytes) -> Narration:
    """Names and story of a scene by the verbaliser called ``words``; raises ``KeyError``."""
    return VERBALISERS[words](scene, key)


def four_tellings(scene: Scene, second: Naming, key: bytes) -> dict[str, Narration]:
    """One formal problem in four tellings, for the verbalisation-swap ablation (paper A.12).

    ``scene`` carries its own names, ``second`` are names for the same graph and kinds in another
    domain (a :class:`~builder.words.naming.Namer` of part ``second`` finds them). The result maps
    ``knowledge``, ``knowledge_second``, ``fictional`` and ``anonymous`` to narrations. Node ids are
    the same in all four, so data, tasks and truths carry over by node. Raises ``ValueError`` when
    the two domains are the same.
    """
    if scene.naming is None or scene.naming.domain == second.domain:
        raise ValueError("the two knowledge-graph tellings need names from two domains")
    return {
        "knowledge": tell_knowledge(scene, key),
        "knowledge_second": tell_knowledge(Scene(scene.graph, scene.kinds, second), key),
        "fictional": tell_fictional(scene, key),
        "anonymous": tell_anonymous(scene, key),
    }


def _told(
    scene: Scene,
    key: bytes,
    setting: Setting,
    variables: Mapping[str, Variable],
    hows: Mapping[tuple[str, str], str] | None = None,
) -> Narration:
    facts = Facts(variables, scene.graph.edges, scene.graph.latent, hows or {})
    return Narration(setting, variables, tell(stream(key, "story"), setting, facts), hows or {})
