"""What the verbalisers share: variables as a story names them, and a story with its evidence."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["continuous", "binary"]


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable of a scene as the story tells it.

    ``unit`` is set for continuous variables ("grams per litre"), ``states`` for binary ones: the
    predicates that hold at 0 and at 1 ("is shut", "is open").
    """

    name: str
    kind: Kind
    unit: str | None = None
    states: tuple[str, str] | None = None

    def to_json(self) -> dict[str, object]:
        """Plain JSON members, for the world row."""
        return {
            "name": self.name,
            "kind": self.kind,
            "unit": self.unit,
            "states": None if self.states is None else list(self.states),
        }


@dataclass(frozen=True, slots=True)
class Attestation:
    """The sentence that tells one fact: that a variable exists, or that one affects another.

    ``what`` is ``("node", name)``, ``("unmeasured", name)`` or ``("edge", cause, effect)``, by
    story names. A sentence may attest several facts.
    """

    what: tuple[str, ...]
    sentence: str

    def to_json(self) -> dict[str, object]:
        """Plain JSON members, for the world row."""
        return {"what": list(self.what), "sentence": self.sentence}


@dataclass(frozen=True, slots=True)
class Telling:
    """A story (paragraphs separated by blank lines) and where it says what."""

    story: str
    record: str
    attestations: tuple[Attestation, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """What a story must tell, no more and no less.

    ``variables`` maps the ids of a scene's graph to story variables; ``edges`` and ``unmeasured``
    use those ids. The ids themselves must never appear in the text.
    """

    variables: Mapping[str, Variable]
    edges: tuple[tuple[str, str], ...]
    unmeasured: frozenset[str]

    def named_edges(self) -> frozenset[tuple[str, str]]:
        """The edges by story names."""
        return frozenset((self.variables[a].name, self.variables[b].name) for a, b in self.edges)


def facts_from_json(
    variables: Mapping[str, Mapping[str, object]],
    edges: tuple[tuple[str, str], ...],
    unmeasured: frozenset[str],
) -> Facts:
    """Facts from a world row, whose variables were written by :meth:`Variable.to_json`."""
    return Facts(
        {node: _variable_from_json(value) for node, value in variables.items()}, edges, unmeasured
    )


def _variable_from_json(value: Mapping[str, object]) -> Variable:
    states = value["states"]
    unit = value["unit"]
    return Variable(
        str(value["name"]),
        "binary" if value["kind"] == "binary" else "continuous",
        None if unit is None else str(unit),
        (str(states[0]), str(states[1])) if isinstance(states, list | tuple) else None,
    )
