"""Hold the plan of one scene: its structure, its equations, its telling, its questions.

Questions are asked in observation views, which come with their settings (paper 3.2 and A.6).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter
from pydantic.dataclasses import dataclass as checked

from builder.graphs.graph import LatentDAG
from builder.graphs.motifs import Motif
from builder.splits.seeds import InstancePlan
from builder.splits.settings import STRICT
from builder.splits.track import TaskPlan
from builder.stories.llm.settings import Settings
from builder.stories.naming import Naming
from builder.stories.types import Kind, Seed
from builder.stories.verbalise import Narration
from grader.tracks.causalds.shapes import CAUSALDS

_Least = Annotated[float, Field(ge=0, le=1e6)]


@checked(frozen=True, slots=True, config=STRICT)
class Thresholds:
    """The least information that a bundle must have, per squared sd of the concept. The fields
    bound its smallest value over a grid, its mean, and its 10% and 25% quantiles."""

    least: _Least = 0.03
    mean: _Least = 0.12
    q10: _Least = 0.04
    q25: _Least = 0.08


@dataclass(frozen=True, slots=True)
class View:
    """A way of showing a scene. ``clean`` shows every observed variable as it is.

    Pairs are (least, most): replaced variables (``concepts``), measurements of each (``columns``),
    ``noise`` scale in sds of the concept, factor of a varying scale (``spread``), and how well all
    measurements recover a variable (``window``: R² or AUC). ``calibration`` is the share of rows
    with replaced variables, ``neural``, ``mixture``, ``heteroscedastic`` are those of measurements.
    """

    name: str
    concepts: tuple[int, int] = (0, 0)
    columns: tuple[int, int] = (0, 0)
    noise: tuple[float, float] = (0.0, 0.0)
    calibration: float = 0.0
    neural: float = 0.0
    mixture: float = 0.0
    heteroscedastic: float = 0.0
    spread: tuple[float, float] = (0.3, 3.0)
    thresholds: Thresholds = Thresholds()  # noqa: RUF009 (it is frozen)
    window: tuple[float, float] | None = None


CLEAN: Final = View("clean")

VIEWS: Final[Mapping[str, View]] = {
    "clean": CLEAN,
    "proxy": View("proxy", (1, 3), (2, 10), (1.0, 3.0), 0.15, 0.30, 0.30, 0.30),
    "proxy_hard": View(
        "proxy_hard", (2, 5), (2, 10), (1.5, 4.0), 0.10, 0.45, 0.45, 0.60, (0.5, 4.0)
    ),
}
"""The views with their default settings, easiest first."""


_graph: Final = lru_cache(maxsize=256)(LatentDAG)
"""Cached because a plan is asked for its graph again and again."""


@dataclass(frozen=True, slots=True)
class Structure:
    """A graph, complete with grafts and latent variables, and the kinds of its ends. ``nodes``,
    ``edges`` (cause, effect) and ``latent`` name nodes by role. ``label`` is the motif or
    ``grafted_<k>``. ``redrawn``: the first graph had no match in the knowledge graph."""

    motif: str
    label: str
    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    latent: tuple[str, ...]
    treatment: str
    outcome: str
    treatment_kind: Kind
    outcome_kind: Kind
    redrawn: bool = False

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kind of every node: only treatment and outcome may be binary."""
        ends = {self.treatment: self.treatment_kind, self.outcome: self.outcome_kind}
        return {node: ends.get(node, "continuous") for node in self.nodes}

    @property
    def query(self) -> Motif:
        """The graph with its treatment and outcome, under the name of its motif."""
        graph = _graph(self.nodes, self.edges, frozenset(self.latent))
        return Motif(self.motif, graph, self.treatment, self.outcome)

    @staticmethod
    def from_motif(
        motif: Motif, label: str, treatment_kind: Kind, outcome_kind: Kind, redrawn: bool = False
    ) -> "Structure":
        """Return the structure of a motif that has grown its grafts and latent variables."""
        graph = motif.graph
        latent = tuple(node for node in graph.nodes if node in graph.latent)
        own = (graph.nodes, graph.edges, latent, motif.treatment, motif.outcome)
        return Structure(motif.name, label, *own, treatment_kind, outcome_kind, redrawn)


@dataclass(frozen=True, slots=True)
class PlannedEquations:
    """The mechanism profiles of continuous and of binary nodes, and the numbers of rows.
    ``world_key`` (hexadecimal) replaces the instance's key for all but words in scenes told several
    times."""

    continuous: str
    binary: str
    train: int
    test: int
    world_key: str | None = None


@dataclass(frozen=True, slots=True)
class Wording:
    """The way in which a scene is told.

    ``words`` names the verbaliser. In the words of the knowledge graph, ``domain`` and ``names``
    (pairs of node and name) are what it is told with. ``bundle`` names the scenes that tell one
    problem, ``arm`` how this one tells it. ``llm`` (how a language model is asked) and ``seeds``
    (pairs it may start from) are set with ``llm`` words, ``stored`` (names and story) and its one
    seed with ``stored`` words.
    """

    words: str = "fictional"
    domain: str | None = None
    names: tuple[tuple[str, str], ...] = ()
    bundle: str | None = None
    arm: str | None = None
    llm: Settings | None = None
    seeds: tuple[Seed, ...] = ()
    stored: Narration | None = None

    @property
    def naming(self) -> Naming | None:
        """The names that were planned for the scene, None if there are none."""
        return None if self.domain is None else Naming(self.domain, self.names)


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions planned for a scene, and their views.

    ``variant``, ``wanted`` (the class of its answer, None for any) and ``exam`` are set in
    private-truth splits only, where a scene is asked one task. Some views replace variables by
    measurements. With ``outcome_measured`` they replace the outcome too. With ``diagnostics`` the
    world row says how well each replaced variable can be recovered from its measurements.
    """

    views: tuple[View, ...] = (CLEAN,)
    outcome_measured: bool = False
    diagnostics: bool = False
    variant: str | None = None
    wanted: str | None = None
    exam: str | None = None


@dataclass(frozen=True, slots=True)
class ScenePlan(InstancePlan):
    """All that ``build`` needs to know of a scene besides its keys."""

    structure: Structure
    equations: PlannedEquations
    telling: Wording
    questions: Questions

    @property
    def task_plan(self) -> TaskPlan:
        """The planned numbers of tasks: (1, 1) where a variant is planned, else from 1 to the
        number of variants times that of views. Levels are the motif and any planned variant."""
        motif, variant = ("motif", self.structure.motif), self.questions.variant
        if variant is not None:
            return TaskPlan((1, 1), self.questions.exam, (motif, ("variant", variant)))
        most = len(CAUSALDS) * max(1, len(self.questions.views))
        return TaskPlan((1, most), self.questions.exam, (motif,))

    def record(self) -> dict[str, Any]:
        """Return the plan for the world row, without one machine's paths, names and story."""
        llm = self.telling.llm and self.telling.llm.without_places()
        telling = replace(self.telling, llm=llm, stored=None)
        shown: dict[str, Any] = _PLAN.dump_python(
            replace(self, telling=telling), mode="json", exclude_none=True
        )
        return shown


_PLAN: Final = TypeAdapter(ScenePlan)
