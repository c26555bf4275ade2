"""Records of stories: scenery, variables as a story names them, a story with its evidence."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["continuous", "binary"]


@dataclass(frozen=True, slots=True)
class Scenery:
    """The words for one kind of place that stories are set in.

    ``key`` is the name of the domain or theme, ``record`` and ``records`` the noun for one row of
    the table. ``book`` is where records are kept, ``people`` who keeps them, with an article ("the
    glaziers"). ``settings`` are openings of two or three sentences, ``colour`` single sentences.
    Neither tells a fact; ``{town}`` in them stands for an invented place.
    """

    key: str
    record: str
    records: str
    book: str
    people: str
    settings: tuple[str, ...]
    colour: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StorySetting:
    """The place of one story: its scenery, and one opening and sentence of colour drawn from it."""

    scenery: Scenery
    opening: str
    colour: str


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable of a scene as the story tells it.

    A continuous one has a ``unit``, a binary one ``states``: the predicates that hold at 0 and at 1
    ("is shut", "is open"). ``article``: sentences put "the" before its name.
    """

    name: str
    kind: Kind
    unit: str | None = None
    states: tuple[str, str] | None = None
    article: bool = True
    plural: bool = False

    @property
    def mention(self) -> str:
        """Its name within a sentence, with "the" before it where ``article`` says so."""
        return f"the {self.name}" if self.article else self.name

    @property
    def values(self) -> tuple[str, ...]:
        """The words for its values: both states, or the unit alone. Empty without either."""
        return self.states or ((self.unit,) if self.unit else ())


@dataclass(frozen=True, slots=True)
class Attestation:
    """The sentence that tells ``("node" | "unmeasured", name)`` or ``("edge", a, b)``."""

    what: tuple[str, ...]
    sentence: str


@dataclass(frozen=True, slots=True)
class Telling:
    """A story (paragraphs by blank lines), its attestations, and a row's noun ``record``."""

    story: str
    record: str
    attestations: tuple[Attestation, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts that a story must tell, no more and no less.

    ``variables`` maps the node ids of a scene's graph to story variables. ``edges`` (cause, effect)
    and ``unmeasured`` use those ids, which must never appear in the text. ``mechanism_clauses``
    maps (cause, effect) by story name to the clause that gives the mechanism, if there is one.
    """

    variables: Mapping[str, Variable]
    edges: tuple[tuple[str, str], ...]
    unmeasured: frozenset[str]
    mechanism_clauses: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def named_edges(self) -> frozenset[tuple[str, str]]:
        """Return the edges as (cause, effect) by story name instead of node id."""
        return frozenset((self.variables[a].name, self.variables[b].name) for a, b in self.edges)


@dataclass(frozen=True, slots=True)
class Seed:
    """A causal pair to start from: (node, name) of cause and effect; its field ``hint``, blank if
    from CauseNet; its ``support``, the number of sources there, 0 if not known."""

    names: tuple[tuple[str, str], ...]
    hint: str = ""
    support: int = 0
