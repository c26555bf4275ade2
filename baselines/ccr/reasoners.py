"""Reference reasoners of the ccr track: readers of the prompt with one known fault each.

They show where each kind of error lands in the paper's taxonomy (CCR §4.2); ``docs/ccr.md`` says
which class each must reach.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from baselines.ccr.solver import divide, multiply, solve
from baselines.ccr.story import Simulation, read_simulation
from baselines.solving import SolveTask, generator
from baselines.writing import Answer
from builder.ccr.graph import cut_tree
from grader.shape import Task

RUNGS: Final = ("factual", "do_true", "do_false")


def simulate(
    read: Simulation, *, depth: int | None = None, overlooked: frozenset[str] = frozenset()
) -> dict[str, list[bool]]:
    """All answers of a task, under a fault or none."""
    story = read.story
    worlds: tuple[dict[str, bool], ...] = {}, {read.cause: True}, {read.cause: False}
    return {
        rung: [
            story.value(read.effect, case, do, depth=depth, overlooked=overlooked)
            for case in read.cases
        ]
        for rung, do in zip(RUNGS, worlds, strict=True)
    }


def _simulating(answer: Callable[[Task, Simulation], Answer]) -> SolveTask:
    """Return a solver that gives ``answer`` to simulation tasks and solves all others."""

    def solver(task: Task) -> Answer:
        if task.family == "simulation":
            return answer(task, read_simulation(task.prompt))
        return solve(task.prompt)

    return solver


@_simulating
def perfect(_: Task, read: Simulation) -> Answer:
    """Everything right, from the text alone."""
    return simulate(read)


def noise(rate: float, seed: str = "") -> SolveTask:
    """The right answers, each flipped with probability ``rate``."""

    @_simulating
    def answer(task: Task, read: Simulation) -> Answer:
        rng = generator(f"noise/{rate}/{seed}{task.task_id}")
        return {
            rung: [right ^ bool(flip) for right, flip in zip(row, flips, strict=True)]
            for rung, row in simulate(read).items()
            for flips in [rng.random(len(row)) < rate]
        }

    return answer


@_simulating
def biased(_: Task, read: Simulation) -> Answer:
    """Right reasoning about a shifted model, in which no variable has a condition of its own.

    Every effect then copies its cause, so each PNS is 1 and all of it composes; adjacent pairs
    have a PNS of at most 0.85, so each is off by more than the threshold. The answers do not
    depend on the case: this holds for stratified units as for exhaustive ones, where any smaller
    shift would carry the sampling error of units that were drawn within the true model's cells.
    """
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
        place = {
            name: k
            for k, name in enumerate(cut_tree(read_simulation(pairs[0].prompt).story.dag).nodes)
        }
        spans = {t.task_id: (place[t.inputs["cause"]], place[t.inputs["effect"]]) for t in pairs}
        for task in pairs:
            first, last = spans[task.task_id]
            if not any(
                a <= first and last <= b for a, b in spans.values() if (a, b) != (first, last)
            ):
                yield task


def naive(task: Task) -> Answer:
    """Follows two steps, takes an even chance for every probability, divides or multiplies whatever
    is given."""
    if task.family == "simulation":
        return simulate(read_simulation(task.prompt), depth=2)
    if task.family == "deductive":
        return divide(task.prompt)
    if task.spec.key == "inductive.boolean":
        return multiply(task.prompt)
    return {"quantities": dict.fromkeys(task.inputs["quantities"], 0.5)}
