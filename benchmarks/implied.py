"""``python -m benchmarks.implied``: are implied stories proved, quick, and beyond plain reading?

Tells scenes in this process, on one core: motifs and grafts as splits/main.toml composes them, and
as many wild graphs, at shares of 0.3, 0.6 and 0.9. Each story is proved by both encodings, its
statements are held against the graph, and the logician and the ordinary reader read it, given the
names of measured variables. Figures: scenes proved, statements, inference steps, F1 of the edges
read, seconds a scene.
"""

import argparse
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import networkx as nx
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.built import main_config
from builder.causal.graph import LatentDAG
from builder.causalds.check.implied import satisfies
from builder.causalds.plan.scenes import plan_scenes
from builder.causalds.plan.types import ScenePlan
from builder.implied.choose import certified, inference_steps
from builder.implied.statements import implied_share
from builder.reader import claims_of, deduce, read_story, reason
from builder.words.knowledge import domains
from builder.words.naming import Naming
from builder.words.narration import Narration, NarrationFailed, Subject
from builder.words.regions import Sizes, draw_region
from builder.words.verbalise import tell_knowledge
from grader.io.pipe import exit_with

SHARES = (0.3, 0.6, 0.9)


@dataclass(frozen=True, slots=True)
class Figures:
    """What came out for one scene; ``seconds`` are for telling and proving twice."""

    measured: int
    share: float
    unnamed: float
    statements: int
    steps: int | None
    proved: tuple[bool, bool, bool]
    logician: float
    ordinary: float
    ordinary_measured: float
    seconds: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Tells, proves and reads; prints the figures by kind of graph and share."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.implied")
    parser.add_argument("--scenes", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    found: dict[tuple[str, float], list[Figures]] = {}
    too_long = 0
    for number, (label, subject) in enumerate(_subjects(options.scenes, options.seed)):
        share = SHARES[number // 2 % len(SHARES)]
        try:
            figures = _measure(replace(subject, implied=share), f"{options.seed}/{number}")
        except NarrationFailed:
            too_long += 1
            continue
        found.setdefault((label, share), []).append(figures)
        if number % 100 == 99:
            print(f"{number + 1} told", flush=True)
    Console(width=150).print(_table(found))
    everything = [figures for some in found.values() for figures in some]
    print(f"{len(everything)} told, {too_long} would be too long")
    print(f"all proved: {all(all(figures.proved) for figures in everything)}")
    print(f"median statements {statistics.median(f.statements for f in everything)}")
    print(f"median steps {statistics.median(f.steps or 0 for f in everything)}")
    seconds = [figures.seconds for figures in everything]
    print(f"seconds a scene: mean {statistics.mean(seconds):.2f}, largest {max(seconds):.2f}")
    return 0


def _subjects(count: int, seed: int) -> Iterator[tuple[str, Subject]]:
    """Motif scenes and wild ones in turn."""
    rng = np.random.default_rng([seed, 7])
    config = replace(main_config(), scenes=max(count // 2, 1), tellings=0)
    specs = plan_scenes(config, "implied", f"benchmark {seed}".encode(), False)
    for number in range(count):
        if number % 2:
            yield "wild", _wild(rng)
        else:
            plan = ScenePlan.from_json(specs[number // 2].config_json)
            yield "motif", Subject(plan.query.graph, plan.kinds, plan.naming)


def _wild(rng: np.random.Generator) -> Subject:
    while True:
        domain = domains()[int(rng.integers(len(domains())))]
        region = draw_region(rng, domain, Sizes())
        if region is None:
            continue
        concepts = [domain.concepts[place] for place in region.concepts]
        nodes = region.graph.nodes
        names = tuple((v, c.name) for v, c in zip(nodes, concepts, strict=True))
        kinds = {v: max(c.kinds) for v, c in zip(nodes, concepts, strict=True)}
        return Subject(region.graph, kinds, Naming(domain.key, names))


def _measure(subject: Subject, key: str) -> Figures:
    observed = subject.graph.observed
    start = time.process_time()
    told = tell_knowledge(
        replace(subject, clear=frozenset(permutations(observed, 2))), key.encode()
    )
    assert told.implied is not None and subject.implied is not None
    graph, statements = _named(subject.graph, told), told.implied.statements
    first = certified(graph, statements)
    second = deduce(sorted(graph.observed), [s.what for s in statements])
    plain: nx.DiGraph[str] = nx.DiGraph(graph.edges)
    plain.add_nodes_from(graph.nodes)
    held = all(satisfies(plain, graph.latent, statement) for statement in statements)
    seconds = time.process_time() - start
    story, known, true = told.telling.story, sorted(graph.observed), set(graph.edges)
    logician = reason(story, known)
    same = set(claims_of(story, graph.nodes)) == {s.what for s in statements}
    read = set(read_story(story, known).edges)
    inner = {edge for edge in true if edge[0] not in graph.latent}
    return Figures(
        measured=len(known),
        share=subject.implied,
        unnamed=implied_share(statements, graph),
        statements=len(statements),
        steps=inference_steps(graph, statements),
        proved=(first, held and second.graphs == 1 and second.edges == true, same),
        logician=_f1(set() if logician is None else set(logician.edges), true),
        ordinary=_f1(read, true),
        ordinary_measured=_f1({edge for edge in read if set(edge) <= set(known)}, inner),
        seconds=seconds,
    )


def _named(graph: LatentDAG, told: Narration) -> LatentDAG:
    names = {node: variable.name for node, variable in told.variables.items()}
    return LatentDAG(
        tuple(names[node] for node in graph.nodes),
        tuple((names[a], names[b]) for a, b in graph.edges),
        frozenset(names[node] for node in graph.latent),
    )


def _f1(found: set[tuple[str, str]], true: set[tuple[str, str]]) -> float:
    return 2 * len(found & true) / (len(found) + len(true)) if found or true else 1.0


def _table(found: dict[tuple[str, float], list[Figures]]) -> Table:
    columns = (
        "graphs", "share", "scenes", "proved", "unnamed", "statements", "steps", "logician F1",
        "ordinary F1", "of measured", "seconds", "largest",
    )  # fmt: skip
    table = Table(*columns, title="implied stories; medians of counts, means of the rest")
    for (label, share), some in sorted(found.items()):
        steps = [f.steps for f in some if f.steps is not None]
        table.add_row(
            label,
            f"{share}",
            f"{len(some)}",
            f"{sum(all(f.proved) for f in some)}",
            f"{statistics.mean(f.unnamed for f in some):.2f}",
            f"{statistics.median(f.statements for f in some):g}",
            f"{statistics.median(steps):g}" if steps else "",
            f"{statistics.mean(f.logician for f in some):.3f}",
            f"{statistics.mean(f.ordinary for f in some):.3f}",
            f"{statistics.mean(f.ordinary_measured for f in some):.3f}",
            f"{statistics.mean(f.seconds for f in some):.2f}",
            f"{max(f.seconds for f in some):.2f}",
        )
    return table


if __name__ == "__main__":
    exit_with(main)
