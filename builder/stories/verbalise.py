"""The ways of telling a scene without a language model at hand, behind one interface.

A verbaliser takes a scene to tell and a key, and returns names and story; it is a pure function of
both. ``knowledge`` needs the names that were planned for the scene (:mod:`builder.stories.naming`).
``fictional`` makes its own, an invented word and an ordinary noun of the setting ("Velmar
density"), so many that two scenes hardly share a set of names, and blind to the part a variable
plays in the graph. ``anonymous`` uses letters. ``stored`` repeats what a language model told once,
whatever the seed. A language model is asked by :mod:`builder.stories.llm`.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from builder.graphs.graph import LatentDAG
from builder.splits.seeds import pick, random_order, stream
from builder.stories.knowledge import domain
from builder.stories.naming import Naming
from builder.stories.story import tell
from builder.stories.types import Facts, Kind, Scenery, Seed, StorySetting, Telling, Variable

DEFAULT: Final = "knowledge"
LLM: Final = "llm"
STORED: Final = "stored"
BY_MODEL: Final = frozenset({LLM, STORED})
"""Words of a language model, which fit no frame."""


class NarrationFailed(Exception):
    """Raised where a scene was not told; its text, a few words, is counted."""


@dataclass(frozen=True, slots=True)
class Narration:
    """A scene's variables by node id, story, and mechanisms by (cause, effect), if any."""

    variables: Mapping[str, Variable]
    telling: Telling
    mechanism_clauses: Mapping[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SceneToTell:
    """A graph, kinds by node id, and what its verbaliser reads: ``naming`` (knowledge), ``seeds``
    (a language model) or ``stored`` (stored)."""

    graph: LatentDAG
    kinds: Mapping[str, Kind]
    naming: Naming | None = None
    seeds: tuple[Seed, ...] = ()
    stored: Narration | None = None


Verbaliser = Callable[[SceneToTell, bytes], Narration]


def _tell_knowledge(scene: SceneToTell, key: bytes) -> Narration:
    """Tell a scene by its planned names, or raise ``ValueError`` without any."""
    if scene.naming is None:
        raise ValueError("words = knowledge needs names that were planned for the scene")
    known, names = domain(scene.naming.domain), dict(scene.naming.names)
    concepts = {concept.name: concept for concept in known.concepts}
    variables = {
        node: concepts[names[node]].variable(scene.kinds[node]) for node in scene.graph.nodes
    }
    named_edges = [(names[a], names[b]) for a, b in scene.graph.edges]
    clauses = {edge: known.mechanism_clauses[edge] for edge in named_edges}
    setting = furnish(stream(key, "names"), known.scenery)
    return _narrate(scene, key, setting, variables, clauses)


def _tell_stored(scene: SceneToTell, key: bytes) -> Narration:
    assert scene.stored is not None, "words = stored needs a stored scene"
    return scene.stored


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
    facts = Facts(variables, scene.graph.edges, scene.graph.latent, clauses or {})
    telling = tell(stream(key, "story"), setting, facts)
    return Narration(variables, telling, facts.mechanism_clauses)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A kind of invented place: (noun, unit) or (noun, predicates at 0 and 1) by kind."""

    scenery: Scenery
    continuous: Sequence[Sequence[str]]
    binary: Sequence[Sequence[str]]


@cache
def themes() -> tuple[Vocabulary, ...]:
    """Return all kinds of places, in file order (``themes.toml`` explains the fields)."""
    return tuple(
        Vocabulary(read_scenery(key, table), table["continuous"], table["binary"])
        for key, table in _read("themes.toml").items()
    )


def read_scenery(key: str, table: Mapping[str, Any]) -> Scenery:
    """Return the scenery named ``key`` from its table of ``themes.toml`` or ``letters.toml``."""
    record, records = table["record"]
    texts = tuple(table["settings"]), tuple(table["colour"])
    return Scenery(key, record, records, table["book"], table["people"], *texts)


def invent_scene(
    rng: np.random.Generator, kinds: Mapping[str, Kind]
) -> tuple[StorySetting, dict[str, Variable]]:
    """Return a setting and a variable by node id, no name in another. Raises ``ValueError`` where
    the theme drawn has too few nouns of a kind."""
    vocabulary = pick(rng, themes())
    town = pick(rng, invented_words("town_tails"))
    nouns: dict[Kind, list[Sequence[str]]] = {
        "continuous": random_order(rng, vocabulary.continuous),
        "binary": random_order(rng, vocabulary.binary),
    }
    for kind, offered in nouns.items():
        count = sum(value == kind for value in kinds.values())
        if count > len(offered):
            raise ValueError(
                f"{count} {kind} variables, but theme {vocabulary.scenery.key} has {len(offered)}"
            )
    taken: list[str] = [town]
    variables: dict[str, Variable] = {}
    for node, kind in kinds.items():
        noun, *rest = nouns[kind].pop()
        name = ""
        while not name or _clashes(name, taken):
            name = f"{pick(rng, invented_words('tails'))} {noun}"
        taken.append(name)
        variables[node] = (
            Variable(name, "continuous", unit=rest[0])
            if kind == "continuous"
            else Variable(name, "binary", states=(rest[0], rest[1]))
        )
    return furnish(rng, vocabulary.scenery, town), variables


def furnish(rng: np.random.Generator, scenery: Scenery, town: str | None = None) -> StorySetting:
    """Return opening and colour drawn from ``scenery``, set in ``town``, else a drawn one."""
    place = pick(rng, invented_words("town_tails")) if town is None else town
    opening, colour = (
        pick(rng, texts).replace("{town}", place) for texts in (scenery.settings, scenery.colour)
    )
    return StorySetting(scenery, opening, colour)


def _clashes(name: str, taken: Sequence[str]) -> bool:
    """Tell whether ``name`` holds, is part of, or begins (three letters) like a taken one."""
    low = name.lower()
    return any(
        low in other.lower() or other.lower() in low or low[:3] == other[:3].lower()
        for other in taken
    )


@cache
def invented_words(tails: Literal["tails", "town_tails"]) -> tuple[str, ...]:
    """Return invented words of names ("tails") or towns, sorted: head + tail, 5 to 10 letters."""
    lists = {key: text.split() for key, text in _read("syllables.toml").items()}
    joined = {
        head + tail
        for head in lists["heads"]
        for tail in lists[tails]
        if head[-1].lower() != tail[0] and 5 <= len(head + tail) <= 10
    }
    return tuple(sorted(word for word in joined if word.lower() not in lists["known"]))


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


_SINGLE: Final = "DGHJLQTV"
LETTERS: Final = (*_SINGLE, *(2 * letter for letter in _SINGLE))
"""Names: letters that are no English word, look like no digit, are no role of a motif and stand
for nothing else in a prompt (r, s, X, P, a member k); doubled ones where single ones run out."""

_LETTERS: Final = _read("letters.toml")
LETTER_SCENERY: Final = read_scenery("letters", _LETTERS["theme"])


def letter_scene(
    rng: np.random.Generator, kinds: Mapping[str, Kind]
) -> tuple[StorySetting, dict[str, Variable]]:
    """Return a setting of nothing and variables called by random letters, with units. Raises
    ``ValueError`` for more nodes than letters."""
    if len(kinds) > len(LETTERS):
        raise ValueError(f"{len(kinds)} variables, but there are {len(LETTERS)} letters")
    names = random_order(rng, LETTERS[: max(len(kinds), len(_SINGLE))])
    variables = {}
    for node, name in zip(kinds, names, strict=False):
        unit = pick(rng, _LETTERS["units"])
        states = ("is off", "is on") if kinds[node] == "binary" else None
        variables[node] = Variable(
            name, kinds[node], unit=None if states else unit, states=states, article=False
        )
    return furnish(rng, LETTER_SCENERY), variables
