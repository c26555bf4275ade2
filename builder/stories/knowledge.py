"""The knowledge graph: a small world of direct effects a domain; unlisted pairs have none."""

import dataclasses
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from builder.splits.settings import Fault, Ordered, Text, TomlModel, check, read_toml, some_of
from builder.stories.types import Kind, Scenery, Variable
from grader.errors import UsageError
from grader.io.jsonio import clip
from grader.io.names import did_you_mean

FOLDER: Final = Path(__file__).parent / "domains"
OWN: Final = "CAUSAL_EXAMS_DOMAINS"
"""The environment variable that names a folder of more domains; workers inherit it."""
KINDS: Final[tuple[Kind, ...]] = ("continuous", "binary")


_Texts = Annotated[tuple[Text, ...], Field(min_length=1, description="a list of texts")]
_End = Annotated[float, Field(ge=-1e12, le=1e12)]


class Concept(TomlModel):
    """A variable of a domain. ``kinds`` are those it may have in a scene.

    ``unit`` and ``range`` (of plausible values) are required for the continuous kind, ``states``
    (predicates for 0 and for 1) for the binary one. Verbs of states show whether a name is a
    plural. ``latent`` concepts may stand for an unmeasured node of a scene.
    """

    name: Text
    kinds: Annotated[tuple[Kind, ...], some_of(KINDS)]
    unit: Text | None = None
    range: Annotated[tuple[_End, _End], Ordered] | None = None
    states: tuple[Text, Text] | None = Field(
        default=None, description="two predicates, for 0 and for 1"
    )
    latent: bool = False

    @model_validator(mode="after")
    def _check_kinds(self) -> Self:
        """Raise :class:`Fault` where a kind lacks its facts: unit and range, or states."""
        for kind, key, what in (
            ("continuous", "unit", "text"),
            ("continuous", "range", "two numbers, the least and the most"),
            ("binary", "states", "two predicates, for 0 and for 1"),
        ):
            if kind in self.kinds and getattr(self, key) is None:
                raise Fault(f"missing; give {what}", key)
        return self

    @property
    def plural(self) -> bool:
        """Whether its name takes a plural verb: as its states do, else as its head noun looks."""
        found = [form for state in self.states or () if (form := plural_verb(state.split()[0]))]
        return found[0] == "plural" if found else is_plural(self.name)

    def variable(self, kind: Kind) -> Variable:
        """Return the concept as a story variable of ``kind``, with unit or states to match."""
        unit, states = (None, self.states) if kind == "binary" else (self.unit, None)
        return Variable(self.name, kind, unit, states, article=False, plural=self.plural)


@dataclass(frozen=True, slots=True)
class Domain:
    """A domain: its scenery, its concepts and the direct effects among them.

    ``field`` is its field of knowledge ("transport"). ``mechanism_clauses`` maps every direct
    effect (cause, effect), by name, to the clause that gives its mechanism. Masks have a bit for
    each of ``concepts``: ``children[i]`` are those that concept i affects, ``allowed`` those that a
    node of a kind, latent or not, may be mapped to.
    """

    scenery: Scenery
    field: str
    concepts: tuple[Concept, ...]
    mechanism_clauses: Mapping[tuple[str, str], str]
    children: tuple[int, ...] = dataclasses.field(repr=False)
    parents: tuple[int, ...] = dataclasses.field(repr=False)
    allowed: Mapping[tuple[Kind, bool], int] = dataclasses.field(repr=False)

    @property
    def key(self) -> str:
        """The name of the domain's file without its ending."""
        return self.scenery.key


_SINGULAR: Final = re.compile(
    r"is|was|has|does|stays|reaches|remains|gets|comes|keeps|runs|stands|lies|goes"
)
_PLURAL: Final = re.compile(r"are|were|have|do|stay|reach|remain|get|come|keep|run|stand|lie|go")


def is_plural(name: str) -> bool:
    """Tell whether a name's head, which ends before a preposition, looks plural."""
    head = re.split(" (?:of|per|in|at|on|to|from|for|with) ", name)[0]
    last = head.split()[-1].lower()
    if last in ("people", "children", "cattle", "bacteria", "algae", "larvae", "fungi"):
        return True
    exceptions = r"(?:ss|us|is|ics|news|lens|gas|series|species|chaos)"
    return last.endswith("s") and not re.search(f"{exceptions}$", last)


def plural_verb(verb: str) -> str | None:
    """Return "singular" or "plural" for a verb that states begin with ("is", "are"), else None."""
    if _SINGULAR.fullmatch(verb):
        return "singular"
    return "plural" if _PLURAL.fullmatch(verb) else None


def own_files() -> list[Path]:
    """Return the domain files of the folder that ``--domains`` named, sorted; empty without it."""
    own = os.environ.get(OWN)
    return [] if not own else sorted(Path(own).glob("*.toml"))


def domains() -> tuple[Domain, ...]:
    """Return our domains and those of ``--domains``, which replace ours, sorted by key."""
    found = _files()
    return tuple(_read_once(found[key]) for key in sorted(found))


def domain(key: str) -> Domain:
    """Return the domain of this key, read alone, or raise ``UsageError``."""
    path = _files().get(key)
    if path is None:
        raise UsageError(
            f"no domain {key}; give the folder of domains the release was built with: --domains DIR"
        )
    return _read_once(path)


@cache
def _our_files() -> tuple[Path, ...]:
    return tuple(FOLDER.glob("*.toml"))


def _files() -> dict[str, Path]:
    return {path.stem: path for path in (*_our_files(), *own_files())}


class _Edge(TomlModel):
    """A direct effect: the names of cause and effect, and ``how``, the clause of its mechanism."""

    cause: Text
    effect: Text
    how: Text


class _Domain(TomlModel):
    """A domain file as it is written: texts of its :class:`Scenery`, variables and edges."""

    field: Text
    title: Text
    record: tuple[Text, Text] = Field(description="a singular and a plural")
    book: Text
    people: Text
    settings: _Texts
    colour: _Texts
    variable: tuple[Concept, ...] = Field(min_length=1, description="a list of tables")
    edge: tuple[_Edge, ...] = Field(min_length=1, description="a list of tables")


def read_domain(path: Path) -> Domain:
    """Read a domain file. Raises ``UsageError`` naming the file, the field and what is wrong."""
    table = read_toml(path)
    told = check(_Domain, table)
    index = {concept.name: i for i, concept in enumerate(told.variable)}
    children, parents = [0] * len(told.variable), [0] * len(told.variable)
    clauses: dict[tuple[str, str], str] = {}
    for place, edge in enumerate(told.edge):
        for end, name in (("cause", edge.cause), ("effect", edge.effect)):
            if name not in index:
                what = f"unknown name {clip(name)}{did_you_mean(name, index)}"
                raise table.problem(f"edge[{place}].{end}", what)
        if (edge.cause, edge.effect) in clauses:
            what = f"{edge.cause} -> {edge.effect} is listed twice; list it once"
            raise table.problem(f"edge[{place}].effect", what)
        clauses[edge.cause, edge.effect] = edge.how
        children[index[edge.cause]] |= 1 << index[edge.effect]
        parents[index[edge.effect]] |= 1 << index[edge.cause]
    scenery = Scenery(path.stem, *told.record, told.book, told.people, told.settings, told.colour)
    allowed = {
        (kind, latent): sum(
            1 << i
            for i, concept in enumerate(told.variable)
            if kind in concept.kinds and (concept.latent or not latent)
        )
        for kind in KINDS
        for latent in (False, True)
    }
    masks = tuple(children), tuple(parents), allowed
    return Domain(scenery, told.field, told.variable, clauses, *masks)


_read_once: Final = cache(read_domain)
