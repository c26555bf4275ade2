"""How far identification verdicts agree with checks that share no code with them.

Every motif, planted structure and graft of one fragment onto a motif (each plain, and with a latent
common cause of its ends) and then that many random graphs with latent nodes are asked all four
effects. The engine "definition" is always there: a positive
verdict must return the value that enumerating a random model gives (to 1e-9), a negative one must
come with two models that share the observed distribution (to 1e-12) and differ in the effect. y0
and pyAgrum join in where installed.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import oracles
from finite_models import joint_distribution, random_scm, true_effect
from functionals import Estimand, identify
from graph_shapes import shape_of, single_grafts
from random_queries import random_query
from twin_models import find_witness

from builder.graphs.graph import LatentDAG
from builder.graphs.growth import HOSTS, confounded
from builder.graphs.identification import Effect
from builder.graphs.motifs import MOTIFS, PLANTED

TOLERANCE = 1e-9

Query = tuple[LatentDAG, str, str]


@dataclass(frozen=True, slots=True)
class AskedEffect:
    """One effect as it is asked, with the number of levels the treatment is given."""

    label: str
    effect: Effect
    treatment_levels: int


QUESTIONS = (
    AskedEffect("ATE", "ate", 2),
    AskedEffect("ETT, binary X", "ett", 2),
    AskedEffect("ETT, ternary X", "ett", 3),
    AskedEffect("NDE", "nde", 2),
    AskedEffect("NIE", "nie", 2),
)

# Which question an outside engine answers; y0's IDC* does not know that X is binary.
OUTSIDE: tuple[tuple[str, str, str, Callable[[LatentDAG, str, str], str]], ...] = (
    ("y0", "ATE", "y0 ID", oracles.y0_ate),
    ("y0", "ETT, ternary X", "y0 IDC*", oracles.y0_ett),
    ("pyagrum", "ATE", "pyAgrum", oracles.pyagrum_ate),
)


@dataclass(slots=True)
class Tally:
    """Counts of (question, engine, our verdict, their verdict) and the numerical extremes."""

    counts: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    worst_error: float = 0.0
    smallest_gap: float = float("inf")
    disagreements: list[str] = field(default_factory=list)

    def add(self, query: Query, question: str, engine: str, ours: str, theirs: str) -> None:
        """Record one comparison, and the query itself when the two differ."""
        self.counts[question, engine, ours, theirs] += 1
        if ours != theirs:
            graph, x, y = query
            self.disagreements.append(
                f"{question} of {x} on {y}: ours {ours}, {engine} {theirs}; "
                f"edges {' '.join(f'{a}>{b}' for a, b in graph.edges)}; "
                f"latent {' '.join(sorted(graph.latent)) or 'none'}"
            )


def compare(queries: Iterator[tuple[Query, np.random.Generator]]) -> Tally:
    """Ask every question about every query of every engine there is."""
    tally = Tally()
    outside = [row for row in OUTSIDE if oracles.available(row[0])]
    for (graph, x, y), rng in queries:
        for question in QUESTIONS:
            binary = question.treatment_levels == 2
            found = identify(graph, x, y, question.effect, binary_treatment=binary)
            ours = "yes" if isinstance(found, Estimand) else "no"
            if isinstance(found, Estimand):
                theirs = _evaluated(rng, graph, found, question, tally)
            else:
                theirs = _separated(rng, (graph, x, y), question, tally)
            tally.add((graph, x, y), question.label, "definition", ours, theirs)
            for _, label, engine, ask in outside:
                if label == question.label:
                    tally.add((graph, x, y), label, engine, ours, ask(graph, x, y))
    return tally


def _evaluated(
    rng: np.random.Generator, graph: LatentDAG, found: Estimand, question: AskedEffect, tally: Tally
) -> str:
    levels = dict.fromkeys(graph.nodes, 2) | {found.treatment: question.treatment_levels}
    scm = random_scm(rng, graph, levels, noise_levels=3)
    truth = true_effect(scm, found.treatment, found.outcome, question.effect)
    error = abs(found.evaluate(joint_distribution(scm), graph.observed) - truth)
    tally.worst_error = max(tally.worst_error, error)
    return "yes" if error <= TOLERANCE else "wrong value"


def _separated(rng: np.random.Generator, query: Query, question: AskedEffect, tally: Tally) -> str:
    pair = find_witness(rng, *query, question.effect, treatment_levels=question.treatment_levels)
    if pair is None:
        return "no proof"
    tally.smallest_gap = min(tally.smallest_gap, abs(pair.effects[0] - pair.effects[1]))
    return "no"


def named_queries() -> list[Query]:
    """Return the motifs, the planted structures, all single grafts; and each with X <- L -> Y.

    Grafts that differ only in the names of their nodes are listed once.
    """
    grafts = [grown for name in HOSTS for grown in single_grafts(MOTIFS[name])]
    plain = [*MOTIFS.values(), *PLANTED.values(), *grafts]
    shapes: dict[str, Query] = {}
    for motif in [*plain, *(confounded(one) for one in plain)]:
        shapes.setdefault(_shape(motif.effect), motif.effect)
    return list(shapes.values())


def _shape(query: Query) -> str:
    """A text that two queries share when renaming the nodes turns one into the other.

    Different graphs might share it too; with the node counts of motifs none do (a test says so).
    """
    graph, x, y = query
    return shape_of(graph, {node: {x: "X", y: "Y"}.get(node, "-") for node in graph.nodes})


def queries(graphs: int, seed: int) -> Iterator[tuple[Query, np.random.Generator]]:
    """Yield the named queries, then random ones; query i depends on the seed and i alone."""
    for i, query in enumerate(named_queries()):
        yield query, np.random.default_rng([seed, 0, i])
    for i in range(graphs):
        rng = np.random.default_rng([seed, 1, i])
        yield random_query(rng), rng
