"""The knowledge graph: one small world of plausible direct effects per domain.

A domain (``domains/<key>.toml``) lists variables and the direct effects among them; every pair that
it does not list is a declared non-edge. :mod:`builder.words.lint` checks what a schema cannot.
"""

import dataclasses
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from builder.words.types import Kind, Theme, Variable

FOLDER: Final = Path(__file__).parent / "domains"


class DomainError(ValueError):
    """A domain file that cannot be read; the message names the file and the field."""


@dataclass(frozen=True, slots=True)
class Concept:
    """A variable of a domain. ``kinds`` are those it may have in a scene.

    ``unit`` and ``range`` (plausible values in that unit) belong to the continuous reading,
    ``states`` (predicates for 0 and 1) to the binary one. ``latent``: it could well go unmeasured.
    """

    name: str
    kinds: frozenset[Kind]
    unit: str | None
    range: tuple[float, float] | None
    states: tuple[str, str] | None
    latent: bool

    @property
    def plural(self) -> bool:
        """Whether its name takes a plural verb, as its states do, or as its last word looks."""
        found = [form for state in self.states or () if (form := plural_verb(state.split()[0]))]
        return found[0] == "plural" if found else is_plural(self.name)

    def variable(self, kind: Kind) -> Variable:
        """The concept as a story variable of one of its kinds."""
        return Variable(
            self.name,
            kind,
            unit=self.unit if kind == "continuous" else None,
            states=self.states if kind == "binary" else None,
            article=False,
            plural=self.plural,
        )


@dataclass(frozen=True, slots=True)
class Domain:
    """A field with its scenery, its concepts and the direct effects among them.

    ``mechanism_clauses`` maps (cause, effect), by name, to the clause that gives the mechanism. The
    masks are over the positions in ``concepts``: bit j of ``children[i]`` is set where i affects j.
    """

    theme: Theme
    field: str
    title: str
    concepts: tuple[Concept, ...]
    mechanism_clauses: Mapping[tuple[str, str], str]
    children: tuple[int, ...] = dataclasses.field(repr=False)
    parents: tuple[int, ...] = dataclasses.field(repr=False)
    allowed: Mapping[tuple[Kind, bool], int] = dataclasses.field(repr=False)

    @property
    def key(self) -> str:
        """The file's name without its ending."""
        return self.theme.key


_PLURAL_EXCEPTIONS: Final = (
    "ss", "us", "is", "ics", "news", "lens", "gas", "series", "species", "chaos",
)  # fmt: skip
_SINGULAR: Final = re.compile(
    r"is|was|has|does|stays|reaches|remains|gets|comes|keeps|runs|stands|lies|goes"
)
_PLURAL: Final = re.compile(r"are|were|have|do|stay|reach|remain|get|come|keep|run|stand|lie|go")


def is_plural(name: str) -> bool:
    """Whether a name's last word looks plural; 'of' and 'per' end the head ("Hours of sun")."""
    head = name
    for mark in (" of ", " per ", " in ", " at ", " on ", " to ", " from ", " for ", " with "):
        head = head.split(mark)[0]
    last = head.split()[-1].lower()
    return last in ("people", "children", "cattle", "bacteria", "algae", "larvae", "fungi") or (
        last.endswith("s") and not last.endswith(_PLURAL_EXCEPTIONS)
    )


def plural_verb(verb: str) -> str | None:
    """ "singular" or "plural" for the verbs that show it, None for others ("formed")."""
    if _SINGULAR.fullmatch(verb):
        return "singular"
    return "plural" if _PLURAL.fullmatch(verb) else None


@cache
def domains() -> tuple[Domain, ...]:
    """All domains, by key. Raises :class:`DomainError`."""
    return tuple(read_domain(path) for path in sorted(FOLDER.glob("*.toml")))


@cache
def _by_key() -> Mapping[str, Domain]:
    return {domain.key: domain for domain in domains()}


def domain(key: str) -> Domain:
    """The domain of this key; raises ``KeyError``."""
    return _by_key()[key]


def read_domain(path: Path) -> Domain:
    """One domain file. Raises :class:`DomainError` naming the file and what is wrong."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DomainError(f"{path.name}: cannot be read ({error})") from None
    where = path.name
    concepts = tuple(_concept(item, where) for item in _list(table, "variable", where))
    index = {concept.name: i for i, concept in enumerate(concepts)}
    children, parents = [0] * len(concepts), [0] * len(concepts)
    clauses: dict[tuple[str, str], str] = {}
    for item in _list(table, "edge", where):
        cause, effect, how = (_text(item, key, where) for key in ("cause", "effect", "how"))
        for name in (cause, effect):
            if name not in index:
                raise DomainError(f"{where}: edge {cause} -> {effect}: no variable {name!r}")
        if (cause, effect) in clauses:
            raise DomainError(f"{where}: edge {cause} -> {effect} is listed twice")
        clauses[cause, effect] = how
        children[index[cause]] |= 1 << index[effect]
        parents[index[effect]] |= 1 << index[cause]
    record = _texts(table, "record", where)
    if len(record) != 2:
        raise DomainError(f"{where}: record must be a singular and a plural")
    theme = Theme(
        path.stem,
        record[0],
        record[1],
        _text(table, "book", where),
        _text(table, "people", where),
        tuple(_texts(table, "settings", where)),
        tuple(_texts(table, "colour", where)),
    )
    return Domain(
        theme,
        _text(table, "field", where),
        _text(table, "title", where),
        concepts,
        clauses,
        tuple(children),
        tuple(parents),
        _allowed(concepts),
    )


def _allowed(concepts: tuple[Concept, ...]) -> dict[tuple[Kind, bool], int]:
    """The concepts that a node of a kind, latent or not, may be mapped to, as masks."""
    kinds: tuple[Kind, ...] = ("continuous", "binary")
    return {
        (kind, latent): sum(
            1 << i
            for i, concept in enumerate(concepts)
            if kind in concept.kinds and (concept.latent or not latent)
        )
        for kind in kinds
        for latent in (False, True)
    }


def _concept(item: Mapping[str, Any], where: str) -> Concept:
    name = _text(item, "name", where)
    place = f"{where}: {name}"
    kinds = item.get("kinds")
    known = ("continuous", "binary")
    if not isinstance(kinds, list) or not kinds or any(kind not in known for kind in kinds):
        raise DomainError(f"{place}: kinds must list continuous, binary or both")
    span, states = item.get("range"), item.get("states")
    if "continuous" in kinds:
        _text(item, "unit", place)
        if not isinstance(span, list) or len(span) != 2 or not span[0] < span[1]:
            raise DomainError(f"{place}: range must be two numbers, the smaller first")
    if "binary" in kinds and (not isinstance(states, list) or len(states) != 2):
        raise DomainError(f"{place}: states must be two predicates, for 0 and for 1")
    return Concept(
        name,
        frozenset(kinds),
        item.get("unit"),
        None if span is None else (float(span[0]), float(span[1])),
        None if states is None else (str(states[0]), str(states[1])),
        bool(item.get("latent", False)),
    )


def _list(table: Mapping[str, Any], key: str, where: str) -> list[Mapping[str, Any]]:
    found = table.get(key)
    if not isinstance(found, list) or not found or not all(isinstance(i, dict) for i in found):
        raise DomainError(f"{where}: needs [[{key}]] tables")
    return found


def _text(table: Mapping[str, Any], key: str, where: str) -> str:
    found = table.get(key)
    if not isinstance(found, str) or not found.strip():
        raise DomainError(f"{where}: {key} must be a text")
    return found


def _texts(table: Mapping[str, Any], key: str, where: str) -> list[str]:
    found = table.get(key)
    if not isinstance(found, list) or not found or not all(isinstance(t, str) for t in found):
        raise DomainError(f"{where}: {key} must be a list of texts")
    return found
