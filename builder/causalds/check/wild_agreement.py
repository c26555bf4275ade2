"""``python -m builder.causalds.check.wild_agreement``: verdicts on wild graphs, against others.

Graphs are drawn for the strata in turn, as scenes are. A positive verdict must give, on a random
discrete model, the value that its definition gives; every verdict, label and set must be what
networkx finds by definition (:mod:`builder.causalds.check.graph`); of negative ones a share is
proved by two models that agree on everything observed. y0 and pyAgrum join in where installed.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from builder.causal.adjustment import valid_adjustment_sets
from builder.causal.graph import LatentDAG
from builder.causal.identification import identify
from builder.causal.method import identification_method
from builder.causal.motifs import Motif
from builder.causal.proof import oracles
from builder.causal.proof.agreement import OUTSIDE, QUESTIONS, TOLERANCE, AskedEffect
from builder.causal.proof.estimand import Estimand
from builder.causal.proof.tabular import effect, observed_joint, random_tables
from builder.causal.proof.witness import find_witness
from builder.causal.strata import STRATA, in_stratum
from builder.causalds.check import graph as audit_graph
from builder.seeds import pick, shuffled
from builder.words.knowledge import domains
from builder.words.regions import Sizes, draw_region
from grader.io.pipe import exit_with

_PAIRS = 6


def wild_query(rng: np.random.Generator, stratum: str) -> Motif:
    """A wild graph of a stratum, with its ends."""
    while True:
        region = draw_region(rng, pick(rng, domains()), Sizes())
        if region is None:
            continue
        graph = region.graph
        pairs = [
            (x, y) for x in graph.observed for y in graph.observed if y in graph.descendants(x)
        ]
        for x, y in shuffled(rng, [pair for pair in pairs if pair[0] != pair[1]])[:_PAIRS]:
            if in_stratum(stratum, graph, x, y):
                return Motif("wild", graph, x, y)


def problems(
    rng: np.random.Generator, query: Motif, counts: Counter[str], proved: float
) -> Iterator[str]:
    """What others say otherwise of one graph; ``proved`` is the share of negative verdicts that two
    models must prove. ``counts`` keeps the verdicts."""
    graph, x, y = query.effect
    outside = audit_graph.graph_of(graph.edges, graph.nodes)
    for question in QUESTIONS:
        binary = question.treatment_levels == 2
        found = identify(graph, x, y, question.effect, binary_treatment=binary)
        ours = isinstance(found, Estimand)
        counts[f"{question.label}: {'yes' if ours else 'no'}"] += 1
        theirs = audit_graph.identifiable(
            outside, x, y, graph.latent, question.effect, binary_treatment=binary
        )
        if theirs is not ours:
            yield f"{question.label}: ours {ours}, by definition {theirs}"
        if isinstance(found, Estimand):
            error = _error(rng, graph, found, question)
            counts["evaluated"] += 1
            if error > TOLERANCE:
                yield f"{question.label}: off by {error:.1e}"
        elif rng.random() < proved:
            pair = find_witness(
                rng, *_core(graph, x, y, question), question.effect,
                treatment_levels=question.treatment_levels,
            )  # fmt: skip
            counts["proved" if pair else "no pair of models found"] += 1
        for package, label, engine, ask in OUTSIDE:
            if label == question.label and oracles.available(package):
                counts[engine] += 1
                if ask(graph, x, y) != ("yes" if ours else "no"):
                    yield f"{question.label}: {engine} contradicts {ours}"
    if set(audit_graph.valid_sets(outside, x, y, graph.latent)) != set(
        valid_adjustment_sets(graph, x, y)
    ):
        yield "valid adjustment sets"
    if audit_graph.method_label(outside, x, y, graph.latent) != identification_method(graph, x, y):
        yield "method label"


def _error(
    rng: np.random.Generator, graph: LatentDAG, found: Estimand, question: AskedEffect
) -> float:
    """Of the functional, on a random model in which the treatment has the question's levels."""
    levels = dict.fromkeys(graph.nodes, 2) | {found.treatment: question.treatment_levels}
    model = random_tables(rng, graph, levels)
    truth = effect(model, found.treatment, found.outcome, question.effect)
    return abs(found.evaluate(observed_joint(model), graph.observed) - truth)


def _core(graph: LatentDAG, x: str, y: str, question: AskedEffect) -> tuple[LatentDAG, str, str]:
    """What is left of a graph once edges are dropped without which the effect stays lost, and nodes
    that have none: its models are models of the whole."""
    binary = question.treatment_levels == 2
    for edge in graph.edges:
        smaller = LatentDAG(graph.nodes, tuple(e for e in graph.edges if e != edge), graph.latent)
        if not isinstance(
            identify(smaller, x, y, question.effect, binary_treatment=binary), Estimand
        ):
            graph = smaller
    joined = {x, y}.union(*graph.edges)
    nodes = tuple(v for v in graph.nodes if v in joined)
    return LatentDAG(nodes, graph.edges, graph.latent & set(nodes)), x, y


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints counts and whatever differs; exit code 1 where anything does."""
    parser = argparse.ArgumentParser(
        prog="python -m builder.causalds.check.wild_agreement",
        description="Compare verdicts on wild graphs with independent checks.",
    )
    parser.add_argument("--graphs", type=int, default=5000, help="number of graphs")
    parser.add_argument("--seed", type=int, default=1, help="seed of the graphs")
    parser.add_argument("--proved", type=float, default=0.1, help="share of lost effects to prove")
    chosen = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    differ: list[str] = []
    drawing = 0.0
    for number in range(chosen.graphs):
        rng = np.random.default_rng([chosen.seed, number])
        stratum = list(STRATA)[number % len(STRATA)]
        start = time.process_time()
        query = wild_query(rng, stratum)
        drawing += time.process_time() - start
        counts[f"stratum {stratum}"] += 1
        differ += [
            f"graph {number}, {stratum}: {text}"
            for text in problems(rng, query, counts, chosen.proved)
        ]
    for name, count in counts.items():
        print(f"{count:6d}  {name}")
    print(f"{1000 * drawing / max(1, chosen.graphs):.0f} ms of processor time to draw a graph")
    print("\n".join(differ) or "nothing differs")
    return 1 if differ else 0


if __name__ == "__main__":
    exit_with(main)
