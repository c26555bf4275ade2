"""A world row taken apart, and its published numbers against simulated units."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import networkx as nx
import numpy as np

from builder.equations.association import CORRELATION_BOUND, SPREAD_BOUND
from builder.equations.quantities import EFFECT_BOUND
from builder.splits.seeds import stream
from builder.tracks.causalds.check import graph as audit_graph
from builder.tracks.causalds.check.equations import DRAWS, Estimate, Population

_AGAIN: Final = 4
"""How many times as many units a second look takes."""


@dataclass(frozen=True, eq=False)
class Hidden:
    """The parsed ``world_json`` (``record``) with its graph and simulated units; names map nodes to
    story names."""

    instance_id: str
    record: Mapping[str, Any]
    graph: audit_graph.Graph
    latent: frozenset[str]
    x: str
    y: str
    names: Mapping[str, str]
    levels: tuple[float, float]
    binary_treatment: bool
    population: Population

    @staticmethod
    def read(instance_id: str, world_json: str) -> "Hidden":
        """The scene of a world row. Raises KeyError, TypeError and ValueError for another text."""
        record = json.loads(world_json)
        world, x = record["world"], record["treatment"]
        kinds = {node["name"]: node["kind"] for node in world["nodes"]}
        seed = hashlib.sha256(instance_id.encode()).digest()
        return Hidden(
            instance_id=instance_id,
            record=record,
            graph=audit_graph.graph_of([(a, b) for a, b in world["edges"]], kinds),
            latent=frozenset(world["latent"]),
            x=x,
            y=record["outcome"],
            names={node: record["variables"][node]["name"] for node in kinds},
            levels=(float(record["levels"][0]), float(record["levels"][1])),
            binary_treatment=kinds[x] == "binary",
            population=Population(world, stream(seed, "audit")),
        )

    def again(self) -> "Hidden":
        """The same scene for a second look, with other simulated units and more of them."""
        seed = hashlib.sha256(self.instance_id.encode()).digest()
        world, rng = self.population.world, stream(seed, "audit again")
        return replace(self, population=Population(world, rng, _AGAIN * DRAWS))

    def identifiable(self, effect: str) -> bool:
        """Whether the effect ("ate", "ett", "nde" or "nie") is identifiable."""
        return self._verdicts[effect]

    @cached_property
    def _verdicts(self) -> Mapping[str, bool]:
        ends = self.graph, self.x, self.y, self.latent
        return {
            effect: audit_graph.identifiable(*ends, effect, binary_treatment=self.binary_treatment)
            for effect in ("ate", "ett", "nde", "nie")
        }

    @cached_property
    def valid_sets(self) -> tuple[frozenset[str], ...]:
        """Every valid adjustment set, by size."""
        return tuple(audit_graph.valid_sets(self.graph, self.x, self.y, self.latent))

    def other_nodes(self) -> list[str]:
        """The observed nodes other than treatment and outcome, in table order."""
        return [node for node in self.record["columns"] if node not in (self.x, self.y)]


TOLERANCE: Final = 5.0
"""Published and re-estimated numbers may differ by this many combined standard errors."""

_ROUNDING: Final = 1e-8

Stored = Mapping[str, Any]
Bound = Callable[[float], float]
Row = tuple[str, Stored, Estimate | None, Bound]
"""Name, as stored, found again (None: zero by the graph), largest standard error of a value."""


def audit_quantities(hidden: Hidden) -> list[str]:
    """Problems of the stored quantities, each named."""
    told = hidden.record["quantities"]
    observed = {v for v in hidden.graph if v not in hidden.latent} - {hidden.x, hidden.y}
    for kind in ("partial", "change"):
        if set(told[kind]) != observed:
            given = f"{sorted(told[kind])}, not {sorted(observed)}"
            return [f"{kind} correlations are given {given}"]
    problems = []
    rows = list(_associations(hidden, sorted(observed)))
    for name in ("ate", "ett", "nde", "nie"):
        identifiable = hidden.identifiable(name)
        if (told[name] is not None) is not identifiable:
            wrong = ("missing", "identifiable") if identifiable else ("given", "not identifiable")
            problems.append(f"{name}: {wrong[0]}, derived {wrong[1]}")
        elif identifiable:
            rows.append((name, told[name], _effect(hidden, name), _most_of_an_effect))
    for name, stored, found, bound in rows:
        problems += [f"{name}: {text}" for text in _compare(stored, found, bound)]
    return problems


def _most_of_an_effect(value: float) -> float:
    """The largest standard error that an effect of this size may have."""
    return EFFECT_BOUND * (1 + abs(value))


def _compare(stored: Stored, found: Estimate | None, bound: Bound) -> Iterator[str]:
    """Problems of a stored ``value``, ``se`` and ``source``; ``found`` None: zero by the graph."""
    value, se, source = stored["value"], stored["se"], stored["source"]
    if value is None or se is None:
        yield "no value is published"
        return
    if found is None:
        if not (value == 0.0 and se == 0.0 and source == "structural_zero"):
            yield f"{value} ({source}), zero by the graph"
        return
    if source == "structural_zero":
        yield "called a structural zero, but the graph does not make it one"
    if not se <= bound(value):
        yield f"standard error {se:g} above its bound {bound(value):g}"
    if not np.isfinite(value) or abs(value - found.value) > _allowed(value, se, found.se):
        yield f"published {value:.6g}, found {found.value:.6g} ± {found.se:.2g}"


def _allowed(value: float, *errors: float) -> float:
    return TOLERANCE * math.hypot(*errors) + _ROUNDING * (1 + abs(value))


def _associations(hidden: Hidden, observed: list[str]) -> Iterator[Row]:
    told, population = hidden.record["quantities"], hidden.population
    graph, x, y = hidden.graph, hidden.x, hidden.y
    independent = audit_graph.independent
    unrelated = nx.is_d_separator(graph, {x}, {y}, set())
    marginal = None if unrelated else population.correlation(x, y)
    yield "association", told["association"], marginal, lambda v: CORRELATION_BOUND
    yield "outcome_sd", told["outcome_sd"], population.sd(y), lambda v: SPREAD_BOUND * v
    for z in observed:
        apart = independent(graph, x, y, z) or independent(graph, y, x, z)
        found, moved = population.partial_and_change(x, y, z)
        partial = None if apart or _zero_by_form(hidden, z, found) else found
        yield f"partial given {z}", told["partial"][z], partial, lambda v: CORRELATION_BOUND
        change = None if apart or independent(graph, z, x, y) else moved
        yield f"change given {z}", told["change"][z], change, lambda v: CORRELATION_BOUND


def _zero_by_form(hidden: Hidden, z: str, found: Estimate) -> bool:
    """Whether the partial correlation given ``z``, which separates X and Y, is zero by the graph
    and the form of the equations.

    It is where all that bears on the three is a line in its parents with noise of one size. Of
    other forms the world is believed as long as what the simulated units give agrees, ``found``.
    """
    graph, x, y = hidden.graph, hidden.x, hidden.y
    if not nx.is_d_separator(graph, {x}, {y}, {z}):
        return False
    needed = {a for target in (x, y, z) for a in (target, *nx.ancestors(graph, target))}
    lines = all(
        not node["parents"]
        or (
            node["noise"] is not None
            and node["noise"].get("spread") is None
            and node["mechanism"] == "linear_additive"
        )
        for node in hidden.record["world"]["nodes"]
        if node["name"] in needed
    )
    if lines:
        return True
    claimed = hidden.record["quantities"]["partial"][z]["source"] == "structural_zero"
    return claimed and abs(found.value) <= _allowed(0.0, found.se)


def _effect(hidden: Hidden, name: str) -> Estimate | None:
    graph, x, y, population = hidden.graph, hidden.x, hidden.y, hidden.population
    if audit_graph.is_zero(graph, x, y, name):
        return None
    if name in ("nde", "nie"):
        between = tuple(sorted(audit_graph.mediators(graph, x, y)))
        return population.natural(name, x, y, between, hidden.levels)
    return (population.ate if name == "ate" else population.ett)(x, y, hidden.levels)
