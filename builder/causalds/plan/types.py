"""What one scene is planned to be."""

import json
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from builder.causal.graph import LatentDAG
from builder.causal.motifs import Motif
from builder.causalds.plan.views import CLEAN, View
from builder.track import Asked
from builder.words.llm.settings import Request, Seed, Settings
from builder.words.naming import Naming
from builder.words.narration import StoredScene
from builder.words.types import Kind
from grader.io.jsonio import canonical
from grader.tracks.causalds.shapes import CAUSALDS


def graph_members(graph: LatentDAG) -> dict[str, Any]:
    """The members of a plan that say what its graph is."""
    latent = tuple(node for node in graph.nodes if node in graph.latent)
    return {"nodes": graph.nodes, "edges": graph.edges, "latent": latent}


@lru_cache(maxsize=256)
def _graph(
    nodes: tuple[str, ...], edges: tuple[tuple[str, str], ...], latent: tuple[str, ...]
) -> LatentDAG:
    """Kept, as a plan is asked for its graph again and again while it is looked at."""
    return LatentDAG(nodes, edges, frozenset(latent))


@dataclass(frozen=True, slots=True)
class ScenePlan:
    """What ``build`` needs to know besides its keys.

    ``variant``, ``wanted`` (the class of its answer; None: any) and ``exam``
    are set in private-truth splits only, where a scene is asked one task. ``bundle``, ``telling``
    and ``world_key`` (hexadecimal; in place of the instance's own key for all but the words) are
    set for scenes that are told several times (``tellings``).

    ``structure`` is the label that scenes are reported under: the motif, or ``grafted_<k>``. The
    graph is complete: grafts and latent variables are in it. ``continuous`` and ``binary`` name
    mechanism profiles. ``views`` are those that ship; in those that measure anything,
    ``outcome_measured`` makes the outcome one of the measured variables, and ``diagnostics`` adds
    recoverability to the world row. ``words`` says how the scene is told; in the words of the
    knowledge graph, ``domain`` and ``names`` are what it is told with, and ``redrawn`` says that
    its structure had to be drawn again because the first had no match there. ``llm`` (how a
    language model is asked) and ``seeds`` (pairs it may start from) are set with ``llm`` words,
    ``stored`` (names and story) and its one seed with ``stored`` words.
    """

    motif: str
    structure: str
    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    latent: tuple[str, ...]
    treatment: str
    outcome: str
    continuous: str
    binary: str
    treatment_kind: Kind
    outcome_kind: Kind
    variant: str | None
    train: int
    test: int
    views: tuple[View, ...] = (CLEAN,)
    outcome_measured: bool = False
    diagnostics: bool = False
    exam: str | None = None
    wanted: str | None = None
    words: str = "fictional"
    domain: str | None = None
    names: tuple[tuple[str, str], ...] = ()
    redrawn: bool = False
    bundle: str | None = None
    telling: str | None = None
    world_key: str | None = None
    llm: Settings | None = None
    seeds: tuple[Seed, ...] = ()
    stored: StoredScene | None = None

    @property
    def asked(self) -> Asked:
        """One task where its variant is planned; else up to all variants, once in every view."""
        motif = ("motif", self.motif)
        if self.variant is not None:
            return Asked((1, 1), self.exam, (motif, ("variant", self.variant)))
        return Asked((1, len(CAUSALDS) * max(1, len(self.views))), self.exam, (motif,))

    @property
    def naming(self) -> Naming | None:
        """The names that were planned for the scene, if any."""
        return None if self.domain is None else Naming(self.domain, self.names)

    @property
    def request(self) -> Request | None:
        """How a language model is asked for the words of the scene, if one is."""
        return None if self.llm is None else Request(self.llm, "causalds.llm", self.seeds)

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kind of every node: only treatment and outcome may be binary."""
        ends = {self.treatment: self.treatment_kind, self.outcome: self.outcome_kind}
        return {node: ends.get(node, "continuous") for node in self.nodes}

    @property
    def query(self) -> Motif:
        """The scene's graph with its treatment and outcome, under the name of its motif."""
        graph = _graph(self.nodes, self.edges, self.latent)
        return Motif(self.motif, graph, self.treatment, self.outcome)

    def to_json(self) -> str:
        """Canonical JSON, the ``config_json`` of an instance spec."""
        return canonical(self._members())

    def record(self) -> dict[str, Any]:
        """The plan as the world row shows it: without the places of one machine, and without
        names and story, which have columns of their own."""
        llm = self.llm and self.llm.without_places()
        return replace(self, llm=llm, stored=None)._members()

    def _members(self) -> dict[str, Any]:
        members = asdict(self)
        members["stored"] = self.stored and self.stored.to_json()
        # Written only where they are set.
        for seed in members["seeds"]:
            if not seed["support"]:
                del seed["support"]
        for name in ("llm", "seeds", "stored"):
            if not members[name]:
                del members[name]
        return members

    @staticmethod
    def from_json(text: str) -> "ScenePlan":
        """The plan that :meth:`to_json` wrote."""
        record: dict[str, Any] = json.loads(text)
        for key in ("nodes", "latent"):
            record[key] = tuple(record[key])
        record["edges"] = tuple((a, b) for a, b in record["edges"])
        record["names"] = tuple((a, b) for a, b in record["names"])
        record["views"] = tuple(View.from_json(view) for view in record["views"])
        if "llm" in record:
            record["llm"] = Settings.from_json(record["llm"])
        if "stored" in record:
            record["stored"] = StoredScene.from_json(record["stored"])
        record["seeds"] = tuple(Seed.from_json(seed) for seed in record.get("seeds", ()))
        return ScenePlan(**record)
