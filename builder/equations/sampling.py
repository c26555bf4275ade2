"""Drawing a world: mechanisms and noise for a given graph, kept inside declared ranges.

Ranges are those of CausalDS (weights N(±0.8, 0.4) and noise scales U(0.5, 1.0), roots U(0.8, 1.5),
for continuous nodes; weights N(±1, 0.6) for log-odds), adapted in three ways:

- a weight is per standard deviation of a parent whose sd exceeds one, so scales do not explode;
- log-odds are centred at the parents' means, so probabilities stay away from 0 and 1;
- a drawn mechanism is kept only if the node stays in range and **every edge is visible**: its
  strength (``edge_strengths``) is at least ``MIN_STRENGTH``. No variable is nearly a function of
  others: a continuous non-root keeps at least ``MIN_NOISE_SHARE`` of its sd as its own noise.

Total effects and correlations may still be small where paths cancel. Parameters are rounded as they
are drawn: another processor, whose sums differ in their last bits, draws the same world.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from builder.equations.equation import (
    Array,
    Kind,
    Parent,
    per_parent_sd,
    round_parameters,
    significant,
)
from builder.equations.mechanisms import CONTINUOUS_PROFILES, MECHANISMS, Profile
from builder.equations.noise import Noise, draw_noise_law
from builder.equations.world import Node, World, on_grid
from builder.graphs.graph import LatentDAG
from builder.splits.seeds import pick

PREVALENCE: Final = (0.2, 0.8)
"""Population mean of every binary node (its sd is then at least 0.4)."""
MIN_STRENGTH: Final = 0.1
MIN_NOISE_SHARE: Final = 0.2

_PILOT_UNITS: Final = 4096
_SAFETY: Final = 0.06
"""Relative margin of the accepted range: several errors of a pilot sd, heavy tails included."""
_MAX_DRAWS: Final = 1000
_RESPONSES: Final = ("saturating", "cooperative")
"""What takes the place of a product of one parent, or of more than three."""


class NoWorldFound(Exception):
    """Raised where no draw of some node's mechanism met the ranges: the graph asks for too much."""


def sample_world(
    rng: np.random.Generator,
    graph: LatentDAG,
    kinds: Mapping[str, Kind],
    *,
    outcome: str,
    treatment: str | None = None,
    profile: Profile = CONTINUOUS_PROFILES["linear_additive"],
) -> World:
    """Draw a world over ``graph``; equal generators give equal worlds. Nodes are drawn in
    topological order, each until a pilot sample of 4096 units accepts it. ``kinds`` not listed are
    continuous. The sd of ``outcome`` is at most 3, of others 10. Neither it nor the ``treatment``
    is coarsened. Raises :class:`NoWorldFound` for a node rejected 1000 times."""
    nodes: dict[str, Node] = {}
    pilot: dict[str, Array] = {}
    for name in graph.topological_order():
        kind: Kind = kinds.get(name, "continuous")
        bounds = (0.3, 3.0 if name == outcome else 10.0)
        parents = graph.parents(name)
        columns = [pilot[parent] for parent in parents]
        summaries = [Parent.seen_in(column) for column in columns]
        for _ in range(_MAX_DRAWS):
            mechanism = _pick_mechanism(rng, kind, len(parents), profile)
            parameters = round_parameters(MECHANISMS[mechanism].draw(rng, summaries))
            law: Noise | None = None
            if kind == "continuous":
                scale = float(rng.uniform(0.5, 1.0) if parents else rng.uniform(0.8, 1.5))
                law = _noise(rng, profile, scale, summaries)
            node = Node(name, kind, parents, mechanism, parameters, law)
            mean = MECHANISMS[mechanism].mean(parameters, columns)
            if law is None:
                values = np.asarray(rng.random(_PILOT_UNITS) < mean, dtype=np.float64)
            else:
                values = mean + law.scale_at(columns) * law.draw(rng, _PILOT_UNITS)
            if _is_accepted(node, columns, mean, bounds):
                break
        else:
            raise NoWorldFound(f"{name}: no mechanism in range after {_MAX_DRAWS} draws")
        able = profile.coarse_share > 0.0 and name not in (treatment, outcome)
        if able and kind == "continuous" and rng.random() < profile.coarse_share:
            # A coarsened node has about five to nine values.
            step = significant(float(rng.uniform(0.6, 1.0) * values.std()), 2)
            node, values = replace(node, grid=step), on_grid(values, step)
        nodes[name], pilot[name] = node, values
    return World(graph, tuple(nodes[name] for name in graph.nodes))


def _pick_mechanism(rng: np.random.Generator, kind: Kind, parents: int, profile: Profile) -> str:
    """Return the mechanism of a node with so many ``parents``, random unless it is a root. A
    ``product`` of fewer than 2 or more than 3 becomes a random one of ``_RESPONSES``."""
    if not parents:
        return "logistic" if kind == "binary" else "linear_additive"
    mechanism = pick(rng, profile.binary if kind == "binary" else profile.continuous)
    if mechanism == "product" and not 2 <= parents <= 3:
        return pick(rng, _RESPONSES)
    return mechanism


def _noise(
    rng: np.random.Generator, profile: Profile, scale: float, parents: Sequence[Parent]
) -> Noise:
    """Draw noise of sd ``scale``, in the profile's share of non-roots times a factor of parents."""
    mixture = profile.mixture[0 if parents else 1]
    outright = mixture > 0.0 and rng.random() < mixture
    law = draw_noise_law(rng, ("gaussian_mixture",) if outright else profile.noises, scale)
    if not parents or profile.heteroscedastic == 0.0 or rng.random() >= profile.heteroscedastic:
        return law
    # Weights N(0, 0.5) and bias N(0, 0.3) on the parents' common scale, written for raw values.
    weights = per_parent_sd(rng.normal(0, 0.5, len(parents)), parents)
    centre = sum(w * p.mean for w, p in zip(weights, parents, strict=True))
    return law.spread_over(weights, float(rng.normal(0.0, 0.3)) - centre)


def _is_accepted(
    node: Node, columns: Sequence[Array], mean: Array, bounds: tuple[float, float]
) -> bool:
    """Return whether a node stays in ``bounds`` of sd, keeps its own noise and shows each edge."""
    if node.noise is None:
        # The mean probability is known far better than the mean of its draws.
        prevalence, (low, high) = float(np.mean(mean)), PREVALENCE
        sd = float(np.sqrt(prevalence * (1.0 - prevalence)))
        if not low * (1 + _SAFETY) <= prevalence <= high * (1 - _SAFETY):
            return False
    else:
        own = float(np.mean(node.noise.scale_at(columns) ** 2))
        sd = float(np.sqrt(np.var(mean) + own))
        if columns and np.sqrt(own) < MIN_NOISE_SHARE * sd:
            return False
    if not bounds[0] * (1 + _SAFETY) <= sd <= bounds[1] * (1 - _SAFETY):
        return False
    return all(
        strength * (1 - _SAFETY) >= MIN_STRENGTH for strength in edge_strengths(node, columns, sd)
    )


def edge_strengths(node: Node, columns: Sequence[Array], sd: float) -> Iterator[float]:
    """Yield the strength of the edge from each parent, given samples (n,) of the parents and the
    child's sd. It is the mean absolute change of the child's conditional mean as one parent moves
    by one of its standard deviations around its sampled values, over ``sd`` (of a line the absolute
    standardised coefficient). A binary parent moves from 0 to 1, times its standard deviation."""
    mean = MECHANISMS[node.mechanism].mean
    for i, column in enumerate(columns):
        spread, weight = float(column.std()), 1.0
        ends = column - 0.5 * spread, column + 0.5 * spread
        if np.all((column == 0.0) | (column == 1.0)):
            ends, weight = (np.zeros_like(column), np.ones_like(column)), spread
        low, high = (mean(node.parameters, [*columns[:i], end, *columns[i + 1 :]]) for end in ends)
        yield float(np.mean(np.abs(high - low))) * weight / sd
