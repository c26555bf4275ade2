"""What one scene is planned to be."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from builder.causal import LatentDAG, Motif
from builder.causalds.views import CLEAN, View
from builder.words import Kind
from grader.jsonio import canonical


@dataclass(frozen=True, slots=True)
class ScenePlan:
    """What ``build`` needs to know besides its keys.

    ``variant``, ``wanted`` (the class of its answer, see ``exams.labels``; None: any) and ``exam``
    are set in private-truth splits only, where a scene is asked one task.

    ``structure`` is the label that scenes are reported under: the motif, or ``grafted_<k>``. The
    graph is complete: grafts and latent variables are in it. ``continuous`` and ``binary`` name
    mechanism profiles. ``views`` are those that ship; in those that measure anything,
    ``outcome_measured`` makes the outcome one of the measured variables, and ``diagnostics`` adds
    recoverability to the world row.
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

    @property
    def query(self) -> Motif:
        """The scene's graph with its treatment and outcome, under the name of its motif."""
        graph = LatentDAG(self.nodes, self.edges, frozenset(self.latent))
        return Motif(self.motif, graph, self.treatment, self.outcome)

    def to_json(self) -> str:
        """Canonical JSON, the ``config_json`` of an instance spec."""
        return canonical(asdict(self))

    @staticmethod
    def from_json(text: str) -> "ScenePlan":
        """The plan that :meth:`to_json` wrote."""
        record: dict[str, Any] = json.loads(text)
        for key in ("nodes", "latent"):
            record[key] = tuple(record[key])
        record["edges"] = tuple((a, b) for a, b in record["edges"])
        record["views"] = tuple(View.from_json(view) for view in record["views"])
        return ScenePlan(**record)
