"""Read a world row, and hold its published numbers against simulated units."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import networkx as nx

from builder.equations.association import CORRELATION_BOUND, SPREAD_BOUND
from builder.equations.quantities import EFFECT_BOUND
from builder.splits.seeds import stream
from builder.tracks.causalds.check import graph as audit_graph
from builder.tracks.causalds.check.equations import DRAWS, Estimate, Population

_MORE_UNITS: Final = 4
"""Factor by which a second check takes more units."""


@dataclass(frozen=True, eq=False)
class StoredScene:
    """The parsed ``world_json`` (``record``) with its graph and simulated units. ``x`` and ``y``
    are the nodes of treatment and outcome, ``names`` maps nodes to story names, ``levels`` are the
    compared values (x0, x1) of the treatment. ``population`` holds the units."""

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
    def read(instance_id: str, world_json: str) -> "StoredScene":
        """Return the scene of a world row, its units seeded by ``instance_id``. Raises KeyError,
        TypeError and ValueError for a ``world_json`` of another form."""
        record = json.loads(world_json)
        world, x = record["world"], record["treatment"]
        kinds = {node["name"]: node["kind"] for node in world["nodes"]}
        seed = hashlib.sha256(instance_id.encode()).digest()
        return StoredScene(
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

    def with_new_units(self) -> "StoredScene":
        """Return the scene with other units, ``_MORE_UNITS`` times as many, for a second check."""
        seed = hashlib.sha256(self.instance_id.encode()).digest()
        world, rng = self.population.world, stream(seed, "audit again")
        return replace(self, population=Population(world, rng, _MORE_UNITS * DRAWS))

    @cached_property
    def verdicts(self) -> Mapping[str, bool]:
        """Whether each effect is identifiable, by "ate", "ett", "nde" and "nie"."""
        ends = self.graph, self.x, self.y, self.latent
        return {
            effect: audit_graph.is_identifiable(
                *ends, effect, binary_treatment=self.binary_treatment
            )
            for effect in ("ate", "ett", "nde", "nie")
        }

    @cached_property
    def valid_sets(self) -> tuple[frozenset[str], ...]:
        """Every valid adjustment set, the smallest first."""
        return tuple(audit_graph.valid_adjustment_sets(self.graph, self.x, self.y, self.latent))

    def other_nodes(self) -> list[str]:
        """Return the observed nodes other than treatment and outcome, in table order."""
        return [node for node in self.record["columns"] if node not in (self.x, self.y)]


TOLERANCE: Final = 5.0
"""Combined standard errors by which published and re-estimated numbers may differ."""

_ROUNDING: Final = 1e-8


def audit_quantities(scene: StoredScene) -> Iterator[str]:
    """Yield the problems of the stored quantities, each after its name."""
    told = scene.record["quantities"]
    observed = {v for v in scene.graph if v not in scene.latent} - {scene.x, scene.y}
    for kind in ("partial", "change"):
        if set(told[kind]) != observed:
            yield f"{kind} correlations are given {sorted(told[kind])}, not {sorted(observed)}"
            return
    yield from _audit_associations(scene, sorted(observed))
    for name in ("ate", "ett", "nde", "nie"):
        identifiable = scene.verdicts[name]
        if (told[name] is not None) is not identifiable:
            wrong = ("missing", "identifiable") if identifiable else ("given", "not identifiable")
            yield f"{name}: {wrong[0]}, derived {wrong[1]}"
        elif identifiable:
            found = _effect(scene, name)
            yield from _compare(name, told[name], found, lambda v: EFFECT_BOUND * (1 + abs(v)))


def _compare(
    name: str, stored: Mapping[str, Any], found: Estimate | None, bound: Callable[[float], float]
) -> Iterator[str]:
    """Yield the problems of a stored quantity: ``found`` is None if it is zero by the graph,
    ``bound`` gives the largest standard error of a value."""
    value, se, source = stored["value"], stored["se"], stored["source"]
    if value is None or se is None:
        yield f"{name}: no value is published"
        return
    if found is None:
        if not (value == 0.0 and se == 0.0 and source == "structural_zero"):
            yield f"{name}: {value} ({source}), zero by the graph"
        return
    if source == "structural_zero":
        yield f"{name}: called a structural zero, but the graph does not make it one"
    if not se <= bound(value):
        yield f"{name}: standard error {se:g} above its bound {bound(value):g}"
    most = _largest_difference(value, se, found.se)
    if not math.isfinite(value) or abs(value - found.value) > most:
        yield f"{name}: published {value:.6g}, found {found.value:.6g} ± {found.se:.2g}"


def _largest_difference(value: float, *errors: float) -> float:
    """Return how far two numbers may differ, by standard ``errors`` and rounding at ``value``."""
    return TOLERANCE * math.hypot(*errors) + _ROUNDING * (1 + abs(value))


def _audit_associations(scene: StoredScene, observed: list[str]) -> Iterator[str]:
    """Yield problems of correlation, outcome's sd and, by observed node, partial and change."""
    told, population = scene.record["quantities"], scene.population
    graph, x, y, separated = scene.graph, scene.x, scene.y, nx.is_d_separator
    marginal = None if separated(graph, {x}, {y}, set()) else population.correlation(x, y)
    yield from _compare("association", told["association"], marginal, lambda v: CORRELATION_BOUND)
    sd = population.sd(y)
    yield from _compare("outcome_sd", told["outcome_sd"], sd, lambda v: SPREAD_BOUND * v)
    for z in observed:
        apart = separated(graph, {x}, {y, z}, set()) or separated(graph, {y}, {x, z}, set())
        found, moved = population.partial_and_change(x, y, z)
        partial = None if apart or _zero_by_form(scene, z, found) else found
        change = None if apart or separated(graph, {z}, {x, y}, set()) else moved
        for kind, estimate in (("partial", partial), ("change", change)):
            name = f"{kind} given {z}"
            yield from _compare(name, told[kind][z], estimate, lambda v: CORRELATION_BOUND)


def _zero_by_form(scene: StoredScene, z: str, found: Estimate) -> bool:
    """Tell whether the partial correlation of X and Y given ``z`` is zero by the equations.

    All that bears on the three must be lines with noise of one size. Of other forms the world is
    believed as long as ``found`` agrees."""
    graph, x, y = scene.graph, scene.x, scene.y
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
        for node in scene.record["world"]["nodes"]
        if node["name"] in needed
    )
    if lines:
        return True
    claimed = scene.record["quantities"]["partial"][z]["source"] == "structural_zero"
    return claimed and abs(found.value) <= _largest_difference(0.0, found.se)


def _effect(scene: StoredScene, name: str) -> Estimate | None:
    """Return an identifiable effect, such as "ate", from units. None if zero by the graph."""
    graph, x, y, population = scene.graph, scene.x, scene.y, scene.population
    if audit_graph.is_zero(graph, x, y, name):
        return None
    if name in ("nde", "nie"):
        between = tuple(sorted(audit_graph.mediators(graph, x, y)))
        return population.natural(name, x, y, between, scene.levels)
    return (population.ate if name == "ate" else population.ett)(x, y, scene.levels)
