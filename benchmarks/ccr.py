"""``python -m benchmarks.ccr``: speed of the ccr track, and what a full context costs to answer.

Times are of one core in one process. The reference beside them is one full enumeration of a
16-node context, so that a figure can be read on another machine.
"""

import random
import statistics
from collections.abc import Mapping
from functools import partial

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.built import Pairs, pairs_of
from benchmarks.timing import median_seconds
from builder.ccr.ask.text import prompts
from builder.ccr.ask.themes import THEMES
from builder.ccr.make.graph import chain
from builder.ccr.make.model import BooleanContext, Operator
from builder.ccr.make.quantities import enumerated_quantities
from builder.ccr.plan.contexts import ContextPlan
from builder.ccr.track import TRACK
from builder.seeds import hmac_key
from builder.track import InstanceSpec
from grader.io.pipe import exit_with
from grader.model import Checked, RawAnswer, Truth
from grader.report.table import Results, ScoreTable
from grader.score import score
from grader.shape import Task
from grader.submission.check import check
from grader.tracks.ccr.estimates import resample
from grader.tracks.ccr.summary import summarise

PAPER_UNITS, PAPER_REPLICATES = 1000, 5
"""Exogenous draws and repeated answers per pair in the paper's experiment (CCR §6.1, G.1)."""


def spec(seed: int, sizes: tuple[int, ...], theme: str) -> InstanceSpec:
    kinds = ("cycle", "wheel", "random") * 3
    purpose = "long" if len(sizes) > 5 else "simulation"
    plan = ContextPlan(
        purpose, None, None, sizes, kinds[: len(sizes)], "random", (2, 8), theme, (1, 1)
    )
    key = hmac_key(f"{seed}/{sizes}".encode(), "benchmark")
    ids = hmac_key(key, "id")
    name = f"ctx-{ids.hex()[:16]}"
    return InstanceSpec("ccr", "dev", seed, key, name, False, ids, plan.to_json())


def enumeration() -> float:
    """Seconds of the reference: one context of 16 nodes, every pattern, every pair."""
    dag = chain(["cycle"] * 5, [4] * 5, np.random.default_rng(0))
    either: Operator = "or"
    gates = (either,) * len(dag.nodes)
    context = BooleanContext(dag, gates, gates, (4,) * len(gates))
    return median_seconds(lambda: enumerated_quantities(context), 5)


def generation(console: Console, reference: float) -> None:
    columns = ("context", "theme", "seconds", "per second", "x reference", "target")
    table = Table(*columns, title="contexts with units and prompts, one core")
    small = [((3, 3, 3), theme, 30, ">= 20/s") for theme in THEMES]
    large = [(sizes, "CandyParty", 5, "") for sizes in ((3,) * 5, (6, 4, 6))]
    for sizes, theme, times, target in (*small, *large, ((3,) * 9, "CandyParty", 5, "< 1 s")):
        seconds = statistics.median(
            median_seconds(partial(TRACK.build, spec(k, sizes, theme)), 1) for k in range(times)
        )
        figures = f"{seconds:.4f}", f"{1 / seconds:.0f}", f"{seconds / reference:.2f}"
        table.add_row("x".join(map(str, sizes)), theme, *figures, target)
    console.print(table)


def grading(console: Console) -> None:
    tasks: list[tuple[Task, Truth]] = []
    answers = 0
    seed = 0
    while answers < 100_000:
        found = pairs_of(TRACK.build(spec(seed, (3, 3, 3), "abstract")), "ccr")
        answers += 3 * sum(task.inputs["units"] for task, _ in found)
        tasks += found
        seed += 1
    raws = [task.shape.gold(task, truth).encode() for task, truth in tasks]

    def grade() -> None:
        checked = {
            task.task_id: check(task, RawAnswer(task.answer_file, raw))
            for (task, _), raw in zip(tasks, raws, strict=True)
        }
        summarised(tasks, checked)

    seconds = median_seconds(grade, 5)
    console.print(
        f"grading {answers:,} yes/no answers ({len(tasks)} tasks, {seed} contexts, single answer "
        f"sets), from bytes to headline: {seconds:.3f} s (target < 1 s)"
    )
    replicates(console, tasks[:120])


def summarised(tasks: Pairs, checked: Mapping[str, Checked]) -> None:
    """Scores what was checked, and the track's figures from that."""
    truths = {task.task_id: truth for task, truth in tasks}
    scores = [score(task, truth, checked[task.task_id]) for task, truth in tasks]
    with ScoreTable(scores) as table:
        summarise(Results(table, scores, truths, checked))


def replicates(console: Console, tasks: Pairs) -> None:
    """Five replicates with 5% noise: how much of the time is resampling."""
    rng = random.Random(0)
    checked = {}
    for task, truth in tasks:
        gold = {rung: [int(bit) for bit in bits] for rung, bits in truth.target["answers"].items()}
        sets = [
            {rung: [a ^ (rng.random() < 0.05) for a in row] for rung, row in gold.items()}
            for _ in range(5)
        ]
        checked[task.task_id] = Checked("scored", tuple(sets))

    def draw() -> None:
        for task, truth in tasks:  # once for the pair, once for its compositions
            for _ in range(2):
                resample(truth.target, checked[task.task_id].answer, truth.instance_id)

    whole = median_seconds(lambda: summarised(tasks, checked), 3)
    drawing = median_seconds(draw, 3)
    console.print(
        f"grading {len(tasks)} tasks with 5 replicates: {whole:.3f} s, of which resampling "
        f"{100 * drawing / whole:.0f}%"
    )


def costs(console: Console) -> None:
    table = Table(title="what a context costs: model calls (one a question) beside the paper's")
    for column in (
        "context", "nodes", "pairs asked", "units", "calls", "paper, 1 replicate",
        "paper, 5 replicates", "share", "prompt kB, all tasks", "one question, chars",
        "answer kB, all tasks",
    ):  # fmt: skip
        table.add_column(column, justify="right")
    for sizes in ((3, 3), (3, 3, 3), (4, 4, 4), (3,) * 5, (6, 4, 6), (3,) * 9):
        found = pairs_of(TRACK.build(spec(0, sizes, "CandyParty")), "ccr")
        units = sum(task.inputs["units"] for task, _ in found)
        b = len(sizes)
        paper = PAPER_UNITS * (b + b * (b + 1))
        prompt = sum(len(task.prompt) for task, _ in found)
        answer = sum(len(task.shape.gold(task, truth)) for task, truth in found)
        row = {"family": "simulation", "prompt": found[0][0].prompt}
        one = statistics.mean(len(prompt.text) for prompt in prompts(row))
        table.add_row(
            "x".join(map(str, sizes)), str(sum(sizes) - b + 1), str(len(found)), str(units),
            f"{3 * units:,}", f"{paper:,}", f"{PAPER_REPLICATES * paper:,}",
            f"{100 * 3 * units / paper:.0f}%", f"{prompt / 1000:.0f}", f"{one:.0f}",
            f"{answer / 1000:.0f}",
        )  # fmt: skip
    console.print(table)


def main() -> int:
    console = Console(width=170)
    reference = enumeration()
    console.print(f"reference: enumerating a context of 16 nodes takes {reference:.4f} s")
    generation(console, reference)
    grading(console)
    costs(console)
    return 0


if __name__ == "__main__":
    exit_with(main)
