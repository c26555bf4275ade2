"""The suites, the settings of a split, and which named graph carries which episodes.

A suite fixes everything about an episode but its graph, its numbers and its crystals (paper,
sections 5.1 to 5.3, appendices A.1, A.7 and A.8; A.10 with Tables 9-12 for the regimes). The k of a
suite counts frequency.

An instance is one named graph. With public truth its matched suites, settings and regimes are
episodes of the same instance (they share the graph and, in one family and setting, coefficients);
with private truth every episode has a graph of its own, different from all others of its size.
Graphs are drawn here because they must differ from each other; everything else about an instance
comes from its own key. Edge counts are spread evenly over ``[k - 1, min(k (k - 1) / 2, 2 k)]``,
which reproduces the edge means and variances of the paper's Table 1. Edges are drawn uniformly
among the forward pairs of a random order, in which frequency is last (where it may act, anywhere
but first).
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Annotated, Final, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field, TypeAdapter, model_validator

from builder.graphs.graph import LatentDAG
from builder.splits import seeds
from builder.splits.settings import Fault, TomlModel, chosen_names, some_of
from builder.splits.track import InstanceSpec, TaskPlan
from grader.errors import UsageError
from grader.io.jsonio import clip
from grader.laboratory.model import Mode

TRACK_NAME: Final = "causalab"
_MOST: Final = 2_000
MOST_OF_THREE: Final = 100
"""More three-node graphs than this are near the number there is; floors need no more."""

FREQUENCY: Final = "frequency"

DISPLAY: Final[Mapping[str, str]] = {
    "density": "Density",
    "moisture": "Moisture",
    "ph": "pH",
    "temperature": "Temperature (°C)",
    "quantum_size": "Quantum Size",
    "radiation": "Radiation",
    "conductivity": "Conductivity",
    "pressure": "Pressure",
    FREQUENCY: "Resonance Frequency (Hz)",
}
PROPERTIES: Final = tuple(DISPLAY)[:-1]
"""The eight properties; an episode has k - 1 of them (the reference's vocabulary)."""

TRIES: Final = 5_000
"""Give up after so many draws in a row without a new graph."""

Family = Literal["linear", "quadratic"]
SuiteSetting = Literal["reference", "wide"]

SETTINGS: Final[tuple[SuiteSetting, ...]] = ("reference", "wide")
SIZES: Final = (3, 4, 5, 6, 7)


@dataclass(frozen=True, slots=True)
class Disturbance:
    """A hidden disturbance: after each intervention ``count`` nodes, frequency among them or not,
    shift by -``reach``, 0 or ``reach``."""

    count: int
    reach: float
    frequency: bool


@dataclass(frozen=True, slots=True)
class Suite:
    """One suite: the settings that all its episodes share.

    ``size`` counts nodes, frequency included. ``observations`` and ``budget`` are the numbers of
    records shown before and of interventions allowed. A ``golden`` suite has the trace of an
    earlier experiment instead of a budget. With ``acts`` frequency may be a cause. A ``regime`` is
    a view of the main suite of its size. With ``disclosed`` the agent is told of the disturbance.
    """

    name: str
    size: int
    observations: int
    budget: int
    family: Family = "linear"
    hidden: Disturbance | None = None
    golden: bool = False
    acts: bool = False
    regime: bool = False
    settings: tuple[SuiteSetting, ...] = ("reference",)
    disclosed: bool = False

    @property
    def title(self) -> str:
        """Return the name in labels and reports: that of a disclosed suite ends in its mark."""
        return self.name + _DISCLOSED * self.disclosed

    @property
    def variant(self) -> str:
        """Return the key of the variant that its episodes are."""
        return f"laboratory.{self.family}"

    @property
    def topology(self) -> tuple[int, bool]:
        """Return a key of what fixes the graphs. Suites with equal keys share theirs."""
        return self.size, self.acts

    @property
    def crystals(self) -> str:
        """Return a key that suites with the same crystals share: regimes and their main suite."""
        return f"main-{self.size}" if self.regime else self.name


_DISCLOSED: Final = "-disclosed"
MOST_EVIDENCE: Final = 100
"""Records that a regime may show, and interventions that it may allow."""


def read_regime(name: str) -> Suite | None:
    """Return the regime that a name states, None for another name.

    ``4o8i-5`` is ``main-5`` with four records and eight interventions, in the reference setting
    only, since fewer records need not pin down a fixed property. Raises ``ValueError`` saying what
    to write.
    """
    number = "(0|[1-9][0-9]*)"
    if (found := re.fullmatch(f"{number}o{number}i-{number}", name)) is None:
        return None
    observations, budget, size = map(int, found.groups())
    if size not in SIZES:
        raise ValueError(f"has {size} nodes; end it with -{SIZES[0]} to -{SIZES[-1]}")
    if not 0 < observations + budget <= MOST_EVIDENCE:
        raise ValueError(
            f"has {observations} records and {budget} interventions; use 1 to {MOST_EVIDENCE} "
            "together"
        )
    return Suite(name, size, observations, budget, regime=True)


_TABLE: Final = tomllib.loads(Path(__file__).with_name("suites.toml").read_text(encoding="utf-8"))

PAPER: Final = TypeAdapter(tuple[Suite, ...]).validate_python(_TABLE["paper"])

REGIMES: Final = tuple(filter(None, map(read_regime, _TABLE["regimes"])))

SUITES: Final = {suite.name: suite for suite in (*PAPER, *REGIMES)}


def label(suite: Suite, setting: SuiteSetting) -> str:
    """Return the name of an episode inside its instance: ``setting/suite``."""
    return f"{setting}/{suite.title}"


def read_label(text: str) -> tuple[Suite, SuiteSetting]:
    """Return the suite and the setting that :func:`label` wrote."""
    setting, _, title = text.partition("/")
    name = title.removesuffix(_DISCLOSED)
    suite = SUITES.get(name) or read_regime(name)
    assert suite is not None, name
    return replace(suite, disclosed=name != title), "wide" if setting == "wide" else "reference"


Episode = tuple[Suite, SuiteSetting]


def _suites(stated: object) -> tuple[str, ...]:
    """Return the stated suites, the paper's first. Raises Fault for unknown or impossible ones."""
    own = []
    for name in stated if isinstance(stated, list | tuple) else ():
        try:
            if isinstance(name, str) and name not in SUITES and read_regime(name):
                own.append(name)
        except ValueError as error:
            raise Fault(f'"{name}" {error}') from None
    return chosen_names(stated, (*SUITES, *dict.fromkeys(own)))


def _disclosures(stated: object) -> tuple[bool, ...]:
    """Return one truth value or a list of different ones, false first; Fault for anything else."""
    values = stated if isinstance(stated, list | tuple) else [stated]
    named = bool(values) and all(isinstance(one, bool) for one in values)
    if not named or len({*values}) < len(values):
        raise Fault(f"must be false, true or [false, true], not {clip(stated)}")
    return tuple(sorted(values))


class EpisodeSettings(TomlModel):
    """The suites of a split, and the number of episodes of each. Either ``graphs`` graphs of each
    size are shared by matched suites, or each suite has ``per_suite`` episodes, each with a graph
    of its own. The other of the two is 0. ``mode`` says what an intervention does. Suites with a
    hidden disturbance exist once for each value of ``disclosed``: is the agent told of it?"""

    graphs: int = Field(default=0, ge=1, le=_MOST)
    per_suite: int = Field(default=0, ge=1, le=_MOST)
    suites: Annotated[tuple[str, ...], BeforeValidator(_suites)] = tuple(SUITES)
    settings: Annotated[tuple[SuiteSetting, ...], some_of(SETTINGS)] = SETTINGS
    disclosed: Annotated[tuple[bool, ...], BeforeValidator(_disclosures)] = (False,)
    mode: Mode = "shift"

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """The suites of the paper in its order, then own regimes, each in its settings."""
        found = [suite for name in self.suites if (suite := SUITES.get(name) or read_regime(name))]
        return tuple(
            (replace(suite, disclosed=disclosed), setting)
            for suite in found
            for disclosed in (self.disclosed if suite.hidden else (False,))
            for setting in self.settings
            if setting in suite.settings
        )

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        """Return the settings. Raise Fault, naming the key, where they contradict each other."""
        if bool(self.graphs) == bool(self.per_suite):
            raise Fault(
                "write either graphs = 50 (matched suites share their graphs) or per_suite = 20 "
                "(every episode has a graph of its own)",
                "graphs",
            )
        if not self.episodes:
            wide = ", ".join(suite.name for suite in PAPER if "wide" in suite.settings)
            raise Fault(f"no suite named exists in this setting; wide has {wide}", "settings")
        if True in self.disclosed and not any(suite.hidden for suite, _ in self.episodes):
            raise Fault("no suite named has a hidden disturbance; leave the key out", "disclosed")
        return self


@dataclass(frozen=True, slots=True)
class GraphPlan(seeds.InstancePlan):
    """A named graph (``edges`` over ``names``, frequency last) with its episodes. With ``fixed``
    one property (two of six) cannot be set in the wide setting."""

    names: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    episodes: tuple[Episode, ...]
    fixed: bool
    mode: Mode = "shift"

    @property
    def task_plan(self) -> TaskPlan:
        """Return the plan for the release machinery: one task for each episode."""
        count = len(self.episodes)
        if count > 1:
            return TaskPlan((count, count))
        return TaskPlan(levels=(("variant", self.episodes[0][0].variant),))


def sample_graph(size: int, edges: int, acts: bool, rng: np.random.Generator) -> LatentDAG:
    """Draw a graph of so many edges in which something acts on frequency, listed last."""
    chosen = [PROPERTIES[int(i)] for i in rng.choice(len(PROPERTIES), size - 1, replace=False)]
    causal = [chosen[int(i)] for i in rng.permutation(size - 1)]
    place = int(rng.integers(1, size)) if acts else size - 1
    causal.insert(place, FREQUENCY)
    pairs = list(combinations(causal, 2))
    while True:
        drawn = tuple(pairs[int(i)] for i in rng.choice(len(pairs), edges, replace=False))
        if any(effect == FREQUENCY for _, effect in drawn):
            return LatentDAG((*chosen, FREQUENCY), drawn)


def sample_graphs(
    size: int, count: int, acts: bool, rng: np.random.Generator, seen: set[object] | None = None
) -> list[LatentDAG]:
    """Return up to ``count`` different graphs, until ``TRIES`` draws give no new one. Edge counts
    take turns in random order. Graphs in ``seen`` are left out, and new ones added to it."""
    turns = range(size - 1, min(size * (size - 1) // 2, 2 * size) + 1)
    seen = set() if seen is None else seen
    found: list[LatentDAG] = []
    tries = 0
    while len(found) < count and tries < TRIES:
        if len(found) % len(turns) == 0:
            order = rng.permutation(len(turns))
        wanted = turns[int(order[len(found) % len(turns)])]
        graph = sample_graph(size, wanted, acts, rng)
        key = (frozenset(graph.nodes), frozenset(graph.edges))
        tries += 1
        if key not in seen:
            seen.add(key)
            found.append(graph)
            tries = 0
    return found


def plan_graphs(
    config: EpisodeSettings, split: str, count_root: bytes, private: bool
) -> list[InstanceSpec]:
    """Return a split's instance specs in index order, which is random and tells no suite. Raises
    ``UsageError`` for shared graphs with private truth, and for too many graphs."""
    if private and config.graphs:
        raise UsageError(
            f"splits.{split}.{TRACK_NAME}.graphs: with private truth each graph needs its own "
            "episode, or one would give away another; write per_suite = 20 instead"
        )
    plans: list[GraphPlan] = []
    seen: set[object] = set()
    for size, acts in dict.fromkeys(suite.topology for suite, _ in config.episodes):
        key = seeds.hmac_key(count_root, f"{TRACK_NAME}/{split}/graphs/{size}/{acts}")
        rng = seeds.stream(key, "graphs")
        members = [e for e in config.episodes if e[0].topology == (size, acts)]
        count = config.graphs or config.per_suite * len(members)
        graphs = sample_graphs(size, count, acts, rng, seen)
        if len(graphs) < count:
            name = "graphs" if config.graphs else "per_suite"
            raise UsageError(
                f"splits.{split}.{TRACK_NAME}.{name}: {count} different graphs of {size} nodes are "
                f"asked, but only about {len(graphs)} exist; lower it"
            )
        for turn, graph in enumerate(graphs):
            own = members if config.graphs else members[turn // config.per_suite :][:1]
            fixed = turn % 2 == 1
            plans.append(GraphPlan(graph.nodes, graph.edges, tuple(own), fixed, config.mode))
    ordered = seeds.random_order(seeds.plan_stream(count_root, TRACK_NAME, split, "plan"), plans)
    return seeds.keyed_specs(ordered, (TRACK_NAME, split), ("graph", "graph"), count_root, private)
