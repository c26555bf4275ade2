"""Records of stories: scenery, variables as a story names them, a story with its evidence."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

Kind = Literal["continuous", "binary"]


@dataclass(frozen=True, slots=True)
class Scenery:
    """Words for the place of a story: what a record is, who keeps it where, how the place is.

    ``settings`` are openings, ``colour`` single sentences; neither tells a fact. ``{town}`` in them
    stands for an invented place.
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
    """The place of one story: its scenery, with an opening and a sentence of colour from it."""

    scenery: Scenery
    opening: str
    colour: str


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable of a scene as the story tells it.

    ``unit`` is set for continuous variables ("grams per litre"), ``states`` for binary ones: the
    predicates that hold at 0 and at 1 ("is shut", "is open"). ``article`` says whether sentences
    put "the" before its name, ``plural`` whether it takes a plural verb.
    """

    name: str
    kind: Kind
    unit: str | None = None
    states: tuple[str, str] | None = None
    article: bool = True
    plural: bool = False

    @property
    def mention(self) -> str:
        """Its name as it stands within a sentence: "the Corsin valve", or "Vent opening"."""
        return f"the {self.name}" if self.article else self.name

    @property
    def pronoun(self) -> str:
        """ "it" or "they"."""
        return "they" if self.plural else "it"

    @property
    def values(self) -> tuple[str, ...]:
        """The words for its values: both states, or the unit if it has one."""
        return self.states or ((self.unit,) if self.unit else ())

    def to_json(self) -> dict[str, object]:
        """Return plain JSON members, for the world row."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Attestation:
    """The sentence that tells one fact: that a variable exists, or that one affects another.

    ``what`` is ``("node", name)``, ``("unmeasured", name)`` or ``("edge", cause, effect)``, by
    story names. A sentence may attest several facts.
    """

    what: tuple[str, ...]
    sentence: str

    def to_json(self) -> dict[str, object]:
        """Return plain JSON members, for the world row."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Telling:
    """A story (paragraphs separated by blank lines), its noun for a record, and its evidence."""

    story: str
    record: str
    attestations: tuple[Attestation, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts that a story must tell, no more and no less.

    ``variables`` maps the ids of a scene's graph to story variables; ``edges`` and ``unmeasured``
    use those ids, which must never appear in the text. ``mechanism_clauses`` gives the mechanism of
    an edge, by the names of cause and effect, where there is one to tell.
    """

    variables: Mapping[str, Variable]
    edges: tuple[tuple[str, str], ...]
    unmeasured: frozenset[str]
    mechanism_clauses: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def named_edges(self) -> frozenset[tuple[str, str]]:
        """Return the edges by story names."""
        return frozenset((self.variables[a].name, self.variables[b].name) for a, b in self.edges)


@dataclass(frozen=True, slots=True)
class Seed:
    """Names for two nodes, by node, cause first, and a field that they come from (or nothing);
    ``support`` is how often CauseNet found the pair, 0 where that is not known."""

    names: tuple[tuple[str, str], ...]
    hint: str = ""
    support: int = 0
