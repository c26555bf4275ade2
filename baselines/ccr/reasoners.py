"""Reference reasoners of the ccr track: readers of the prompt with one known fault each.

They show where each kind of error lands in the paper's taxonomy (CCR §4.2); ``docs/ccr.md`` says
which class each must reach.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from baselines.ccr.solver import divide, solve
from baselines.ccr.story import Simulation, read_simulation
from baselines.seeded import generator
from baselines.solving import SolveTask
from baselines.writing import Answer
from builder.causal.graph import LatentDAG
from builder.ccr import cut_tree, sorted_graph
from grader.shape import Task

RUNGS: Final = ("factual", "do_true", "do_false")


def simulate(
    read: Simulation, *, depth: int | None = None, overlooked: frozenset[str] = frozenset()
) -> dict[str, list[bool]]:
    """All answers of a task, under a fault or none."""
    story = read.story
    worlds: dict[str, dict[str, bool]] = {
        "factual": {},
        "do_true": {read.cause: True},
        "do_false": {read.cause: False},
    }
    return {
        rung: [
            story.value(read.effect, case, do, depth=depth, overlooked=overlooked)
            for case in read.cases
        ]
        for rung, do in worlds.items()
    }


def perfect(task: Task) -> Answer:
    """Everything right, from the text alone."""
    if task.family != "simulation":
        return solve(task.prompt)
    return simulate(read_simulation(task.prompt))


def noise(rate: float, seed: str = "") -> SolveTask:
    """The right answers, each flipped with probability ``rate``."""

    def answer(task: Task) -> Answer:
        right = perfect(task)
        if task.family != "simulation" or not isinstance(right, Mapping):
            return right
        rng = generator(f"noise/{rate}/{seed}{task.task_id}")
        return {
            rung: [bool(a) ^ bool(f) for a, f in zip(right[rung], flips, strict=True)]
            for rung in RUNGS
            for flips in [rng.random(len(right[rung])) < rate]
        }

    return answer


def ignores(task: Task) -> Answer:
    """The factual answer to every question: no intervention ever changes anything."""
    if task.family != "simulation":
        return solve(task.prompt)
    answers = simulate(read_simulation(task.prompt))
    return dict.fromkeys(RUNGS, answers["factual"])


def truncates(steps: int) -> SolveTask:
    """Follows a chain of causes for some steps, then looks at own conditions only."""

    def answer(task: Task) -> Answer:
        if task.family != "simulation":
            return solve(task.prompt)
        return simulate(read_simulation(task.prompt), depth=steps)

    return answer


def biased(task: Task) -> Answer:
    """Right reasoning about a shifted model, in which no variable has a condition of its own.

    Every effect then copies its cause, so each PNS is 1 and all of it composes; adjacent pairs
    have a PNS of at most 0.85, so each is off by more than the threshold. The answers do not
    depend on the case: this holds for stratified units as for exhaustive ones, where any smaller
    shift would carry the sampling error of units that were drawn within the true model's cells.
    """
    if task.family != "simulation":
        return solve(task.prompt)
    read = read_simulation(task.prompt)
    return simulate(read, overlooked=frozenset(read.story.rules))


def global_wrong(tasks: Iterable[Task]) -> SolveTask:
    """Every local pair right; the widest one is answered as by :func:`biased`.

    Where the global pair is not asked about (more than five components), the widest pairs are
    those inside no other pair of the context among ``tasks``.
    """
    widest = frozenset(task.task_id for task in _widest(tasks))
    return lambda task: biased(task) if task.task_id in widest else perfect(task)


def _widest(tasks: Iterable[Task]) -> Iterator[Task]:
    """The tasks of pairs that lie inside no other pair of the same context."""
    contexts: dict[str, list[Task]] = {}
    for task in tasks:
        if task.family == "simulation":
            contexts.setdefault(task.instance_id, []).append(task)
    for pairs in contexts.values():
        place = {name: k for k, name in enumerate(cut_tree(_dag(pairs[0])).nodes)}
        spans = {t.task_id: (place[t.inputs["cause"]], place[t.inputs["effect"]]) for t in pairs}
        for task in pairs:
            first, last = spans[task.task_id]
            if not any(
                a <= first and last <= b for a, b in spans.values() if (a, b) != (first, last)
            ):
                yield task


def naive(task: Task) -> Answer:
    """Follows two steps, takes an even chance for every probability, divides whatever is given."""
    if task.family == "simulation":
        return truncates(2)(task)
    if task.family == "deductive":
        return divide(task.prompt)
    return {"quantities": dict.fromkeys(task.inputs["quantities"], 0.5)}


def _dag(task: Task) -> LatentDAG:
    rules = read_simulation(task.prompt).story.rules
    return sorted_graph((p, name) for name, rule in rules.items() for p in rule.parents)
