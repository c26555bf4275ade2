"""``python -m benchmarks.words``: is the knowledge graph quick, varied, readable and blind?

Names and tells scenes of the composition of splits/main.toml in this process, on one core: seconds,
the verifier's verdicts, scenes by domain, distinct names; then how much of the graphs a rule-based
reader finds in the texts; then the leak test over stories, with and without a planted cue.
"""

import argparse
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console
from rich.table import Table

from benchmarks.built import main_config
from benchmarks.words_leak import (
    FACTS,
    LeakResult,
    Told,
    leak_results,
    masked,
    tell_many,
)
from builder.causalds.make.scene import narrate
from builder.causalds.plan.scenes import plan_scenes
from builder.causalds.plan.types import ScenePlan
from builder.reader import read_story
from builder.words.knowledge import domains
from builder.words.types import Facts
from builder.words.verify import verify
from grader.io.pipe import exit_with


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the four parts and print their figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.words")
    parser.add_argument("--scenes", type=int, default=1000)
    parser.add_argument("--read", type=int, default=500, help="stories for the reader")
    parser.add_argument("--leak", type=int, default=2000, help="stories for the leak test")
    options = parser.parse_args(arguments)
    console = Console()
    told = _tell(console, options.scenes)
    _read(console, told[: options.read])
    _leaks(console, options.leak)
    return 0


def _tell(console: Console, scenes: int) -> list[Told]:
    """Names and tells that many scenes, as a build does."""
    config = replace(main_config(), scenes=scenes, tellings=0)
    domains()
    start = time.perf_counter()
    specs = plan_scenes(config, "words", b"benchmark", False)
    named = time.perf_counter() - start
    plans = [ScenePlan.from_json(spec.config_json) for spec in specs]
    told = [Told(plan, narrate(plan, spec.key)) for plan, spec in zip(plans, specs, strict=True)]
    seconds = time.perf_counter() - start
    wrong = sum(bool(problems_of(one)) for one in told)
    by_domain = Counter(plan.domain for plan in plans)
    names = {name for plan in plans for _, name in plan.names}
    sets = {(plan.domain, frozenset(dict(plan.names).values())) for plan in plans}
    lengths = [len(one.narration.telling.story.split()) for one in told]
    table = Table("figure", "value", title=f"{scenes} scenes of the main composition, one core")
    largest, smallest = by_domain.most_common()[0], by_domain.most_common()[-1]
    for figure, value in (
        ("planned and named", f"{named:.1f} s"),
        ("planned, named and told", f"{seconds:.1f} s (at most 60)"),
        ("stories the verifier refuses", str(wrong)),
        ("domains", f"{len(by_domain)} of {len(domains())}"),
        ("most frequent domain", f"{largest[0]}: {largest[1]} ({largest[1] / scenes:.1%})"),
        ("least frequent domain", f"{smallest[0]}: {smallest[1]} ({smallest[1] / scenes:.1%})"),
        ("distinct names", str(len(names))),
        ("distinct sets of names", str(len(sets))),
        ("structures drawn again", str(sum(plan.redrawn for plan in plans))),
        ("words a story", f"{statistics.mean(lengths):.0f} on average"),
    ):
        table.add_row(figure, value)
    console.print(table)
    return told


def problems_of(one: Told) -> list[str]:
    """What the verifier has against a story."""
    graph, told = one.plan.query.graph, one.narration
    facts = Facts(told.variables, graph.edges, graph.latent, told.mechanism_clauses)
    return verify(told.telling.story, told.telling.attestations, facts)


def reader_f1(one: Told) -> float:
    """F1 of the directed edges that the rule-based reader finds; names are compared caselessly."""
    names = {node: variable.name for node, variable in one.narration.variables.items()}
    known = sorted(names[node] for node in one.plan.nodes if node not in one.plan.latent)
    found = read_story(one.narration.telling.story, known, len(names)).edges
    read = {(a.casefold(), b.casefold()) for a, b in found}
    true = {(names[a].casefold(), names[b].casefold()) for a, b in one.plan.edges}
    return 2 * len(read & true) / (len(read) + len(true))


def _read(console: Console, told: Sequence[Told]) -> None:
    scores = [reader_f1(one) for one in told]
    perfect = sum(score == 1.0 for score in scores)
    console.print(
        f"reader over {len(told)} stories: mean F1 {statistics.mean(scores):.4f} (at least 0.97), "
        f"{perfect} read without a fault, worst {min(scores):.2f}"
    )


def _leaks(console: Console, stories: int) -> None:
    told = tell_many(main_config(), stories, "benchmark leak")
    table = Table("bags of", "given", "fact", "stories", "score", "permuted", "p")
    table.title = f"leak test over {stories} stories, 999 permutations"
    everything = [masked(one) for one in told]
    but_names = [masked(one, mechanisms=False) for one in told]
    planted = [
        text + (" Withal." if one.plan.motif == "confounding" and i % 3 else "")
        for i, (one, text) in enumerate(zip(told, everything, strict=True))
    ]
    for what, texts, fine, facts in (
        ("words", everything, False, FACTS),
        ("words", everything, True, FACTS),
        ("words, mechanisms too", but_names, False, FACTS),
        ("words with a planted cue", planted, False, FACTS[:1]),
    ):
        for result in leak_results(told, texts, fine=fine, facts=facts):
            table.add_row(what, "all plans" if fine else "counts and kinds", *_cells(result))
            console.print(what, result)
    console.print(table)


def _cells(result: LeakResult) -> tuple[str, ...]:
    return (
        result.fact,
        f"{result.movable} in {result.strata} strata",
        f"{result.score:.4f}",
        f"{result.permuted:.4f}",
        f"{result.p:.3f}",
    )


if __name__ == "__main__":
    exit_with(main)
