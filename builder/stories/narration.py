"""What a verbaliser is given, which may be a stored scene, and what it returns.

A scene that a language model told once is kept as data (``splits/model-stories.json``): its names
and story do not depend on a seed, nor on any prompt; only its equations and rows are drawn anew.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.graphs.graph import LatentDAG
from builder.stories.llm.settings import Request, Seed
from builder.stories.naming import Naming
from builder.stories.types import Attestation, Kind, Setting, Telling, Variable
from grader.errors import UsageError


@dataclass(frozen=True, slots=True)
class StoredScene:
    """A scene with its graph, its names and its story.

    ``structure`` is the label it is reported under, ``record`` and ``records`` what a row of its
    table is called; ``variables`` pairs every node with what the story calls it. ``seed`` is the
    causal pair that its names started from, with its support in CauseNet.
    """

    motif: str
    structure: str
    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    latent: tuple[str, ...]
    treatment: str
    outcome: str
    record: str
    records: str
    variables: tuple[tuple[str, Variable], ...]
    story: str
    attestations: tuple[Attestation, ...]
    seed: Seed | None

    def kind(self, node: str) -> Kind:
        """Return the kind of a node."""
        return dict(self.variables)[node].kind

    def to_json(self) -> dict[str, Any]:
        """Return the members that :meth:`from_json` reads."""
        seed = self.seed
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            "variables": {node: variable.to_json() for node, variable in self.variables},
            "attestations": [one.to_json() for one in self.attestations],
            "seed": seed and {"names": seed.names, "field": seed.hint, "support": seed.support},
        }

    @staticmethod
    def from_json(members: Mapping[str, Any]) -> "StoredScene":
        """Return the scene of a file's entry; raises ``LookupError``, ``TypeError``, ``ValueError``
        where it is none."""
        seed = members["seed"]
        pair = seed and tuple((str(node), str(name)) for node, name in seed["names"])
        return StoredScene(
            motif=members["motif"],
            structure=members["structure"],
            nodes=tuple(members["nodes"]),
            edges=tuple((cause, effect) for cause, effect in members["edges"]),
            latent=tuple(members["latent"]),
            treatment=members["treatment"],
            outcome=members["outcome"],
            record=members["record"],
            records=members["records"],
            variables=tuple(
                (node, Variable(**{**value, "states": value["states"] and tuple(value["states"])}))
                for node, value in members["variables"].items()
            ),
            story=members["story"],
            attestations=tuple(
                Attestation(tuple(one["what"]), one["sentence"]) for one in members["attestations"]
            ),
            seed=Seed(pair, seed["field"], seed["support"]) if seed else None,
        )


_PLAIN = (
    "motif",
    "structure",
    "nodes",
    "edges",
    "latent",
    "treatment",
    "outcome",
    "record",
    "records",
    "story",
)


def read_stored(path: Path) -> tuple[StoredScene, ...]:
    """Return the scenes of a file in its order; raises ``UsageError`` naming the file."""
    try:
        return tuple(map(StoredScene.from_json, json.loads(path.read_bytes())["scenes"]))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from None
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{path}: is no file of stored scenes ({error!r})") from None


class NarrationFailed(Exception):
    """A subject that a verbaliser could not name and tell; ``reason`` is counted."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be told: a graph, the kinds of its nodes, and what was planned for its words."""

    graph: LatentDAG
    kinds: Mapping[str, Kind]
    naming: Naming | None = None
    request: Request | None = None
    stored: StoredScene | None = None


@dataclass(frozen=True, slots=True)
class Narration:
    """The words of a scene: its place, its variables' names, its mechanisms and its story.

    ``mechanism_clauses`` maps (cause, effect), by name, to the mechanism that the story may give.
    """

    setting: Setting
    variables: Mapping[str, Variable]
    telling: Telling
    mechanism_clauses: Mapping[tuple[str, str], str]
