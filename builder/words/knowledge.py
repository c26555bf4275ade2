"""The knowledge graph: one small world of plausible direct effects per domain.

A domain (``domains/<key>.toml``) lists variables and the direct effects among them; every pair that
it does not list is a declared non-edge. :mod:`builder.words.lint` checks what a schema cannot.
"""

import dataclasses
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from builder.settings import TomlTable, read_toml
from builder.words.types import Kind, Theme, Variable
from grader.errors import UsageError

FOLDER: Final = Path(__file__).parent / "domains"
OWN: Final = "CAUSAL_EXAMS_DOMAINS"
"""The environment variable that names a folder of one's own domains; workers inherit it."""
_FARTHEST: Final = 1e12
KINDS: Final[tuple[Kind, ...]] = ("continuous", "binary")


@dataclass(frozen=True, slots=True)
class Concept:
    """A variable of a domain. ``kinds`` are those it may have in a scene.

    ``unit`` and ``range`` (plausible values in that unit) belong to the continuous kind,
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
def _read(path: Path) -> Domain:
    return read_domain(path)


@cache
def _read_all(paths: tuple[Path, ...]) -> tuple[Domain, ...]:
    return tuple(_read(path) for path in paths)


@cache
def _our_files() -> Mapping[str, Path]:
    """The files of our own domains; a split asks for its domains thousands of times."""
    return {path.stem: path for path in FOLDER.glob("*.toml")}


def own_files() -> list[Path]:
    """The files of the domains that were brought along (``--domains``), by name."""
    own = os.environ.get(OWN)
    return [] if not own else sorted(Path(own).glob("*.toml"))


def domains() -> tuple[Domain, ...]:
    """All domains, by key; one's own stand among ours, or in place of that of the same name.

    Raises ``UsageError``.
    """
    found = _files()
    return _read_all(tuple(found[key] for key in sorted(found)))


def domain(key: str) -> Domain:
    """The domain of this key, without reading the others; raises ``UsageError``."""
    path = _files().get(key)
    if path is None:
        raise UsageError(
            f"no domain {key}; the release was told with one of its own: --domains DIR"
        )
    return _read(path)


def _files() -> dict[str, Path]:
    return {**_our_files(), **{path.stem: path for path in own_files()}}


def read_domain(path: Path) -> Domain:
    """One domain file. Raises ``UsageError`` naming the file, the field and what is wrong."""
    table = read_toml(path)
    concepts = tuple(_concept(item) for item in table.tables("variable"))
    index = {concept.name: i for i, concept in enumerate(concepts)}
    children, parents = [0] * len(concepts), [0] * len(concepts)
    clauses: dict[tuple[str, str], str] = {}
    for item in table.tables("edge"):
        cause, effect = (item.choice(end, tuple(index)) for end in ("cause", "effect"))
        if (cause, effect) in clauses:
            raise item.problem("effect", f"{cause} -> {effect} is listed twice; list it once")
        clauses[cause, effect] = item.text("how")
        children[index[cause]] |= 1 << index[effect]
        parents[index[effect]] |= 1 << index[cause]
    theme = Theme(
        path.stem,
        *_two(table, "record", "a singular and a plural"),
        table.text("book"),
        table.text("people"),
        table.texts("settings"),
        table.texts("colour"),
    )
    return Domain(
        theme,
        table.text("field"),
        table.text("title"),
        concepts,
        clauses,
        tuple(children),
        tuple(parents),
        _allowed(concepts),
    )


def _allowed(concepts: tuple[Concept, ...]) -> dict[tuple[Kind, bool], int]:
    """The concepts that a node of a kind, latent or not, may be mapped to, as masks."""
    return {
        (kind, latent): sum(
            1 << i
            for i, concept in enumerate(concepts)
            if kind in concept.kinds and (concept.latent or not latent)
        )
        for kind in KINDS
        for latent in (False, True)
    }


def _concept(item: TomlTable) -> Concept:
    kinds = item.names("kinds", KINDS)
    # What a kind needs may also be told without it: states show whether a name is a plural.
    unit, span, states = (
        kind in kinds or key in item
        for kind, key in (("continuous", "unit"), ("continuous", "range"), ("binary", "states"))
    )
    return Concept(
        item.text("name"),
        frozenset(kinds),
        item.text("unit") if unit else None,
        item.number_range("range", -_FARTHEST, _FARTHEST) if span else None,
        _two(item, "states", "two predicates, for 0 and for 1") if states else None,
        item.flag("latent", False),
    )


def _two(table: TomlTable, key: str, what: str) -> tuple[str, str]:
    found = table.texts(key, what)
    if len(found) != 2:
        raise table.wrong(key, what)
    return found[0], found[1]
