"""The reference systems of ccr: they read prompts; ``docs/ccr.md`` says where each lands."""

import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from math import inf, prod
from typing import Any, Final

from baselines.ccr_story import Simulation, read_context, read_simulation
from baselines.exam import Answer, SolveTask, TrackSystems, from_prompts, generator
from builder.tracks.ccr.model import BooleanContext, LinearContext, cut_tree, sorted_graph
from builder.tracks.ccr.quantities import exact_quantities, linear_effect
from builder.tracks.ccr.questions import check_deduction, check_sum
from builder.tracks.ccr.text import ListedQuantity
from grader.scoring.shape import Task

NOISE: Final = "ccr-noise-RATE"
"""The name of a family of systems, one for each percentage in the place of RATE."""
_TERM: Final = re.compile(r"(\w+)\((\w+), (\w+)(?:; (\w+))?\)")
_GIVEN: Final = re.compile(r"^- (\w+\(.*\)) = (\S+) ±", re.MULTILINE)


def solve(prompt: str) -> dict[str, Any]:
    """Return the right answer to a task of direct, inductive or deductive kind, from its prompt."""
    if "These values are given" in prompt:
        return {"value": _deduction(prompt)}
    listed = re.findall(r"^- (Q\d+): (.*)$", prompt, re.MULTILINE)
    quantity = _linear(prompt) if "obey these equations" in prompt else _quantity(prompt)
    return {
        "quantities": {
            name: float(prod(quantity(one.measure, one.path) for one in _quantities_in(text)))
            for name, text in listed
        }
    }


Quantity = Callable[[str, tuple[str, ...]], Fraction]
"""(measure, path) -> its value."""


def _quantities_in(text: str) -> list[ListedQuantity]:
    """Return the quantities of single steps that a text such as "PNS(A, B) × PNS(B, C)" names."""
    terms = _TERM.findall(text)
    return [ListedQuantity(m.lower(), (a, *filter(None, [via]), b)) for m, a, b, via in terms]


def _quantity(prompt: str) -> Quantity:
    """Return the exact quantities of the Boolean model in a prompt, as a function."""
    story = read_context(prompt)
    odds: dict[tuple[str, str], int] = {}
    for clause, tenths in re.findall(r"^- (.*): 0\.(\d)$", prompt, re.MULTILINE):
        if (match := story.theme.own.fullmatch(clause)) is not None:
            odds[match[1], match[2]] = int(tenths)
    dag = story.dag
    rules = [story.rules[name] for name in dag.nodes]
    context = BooleanContext(
        dag,
        tuple(rule.own for rule in rules),
        tuple(rule.among for rule in rules),
        tuple(odds[rule.holder, rule.need] for rule in rules),
    )
    quantities = exact_quantities(context, cut_tree(dag))
    return lambda measure, path: quantities[path[0], path[1]][measure]


def _linear(prompt: str) -> Quantity:
    """Return the exact effects of the linear model in a prompt, as a function."""
    equations: dict[str, dict[str, Fraction]] = {}
    for name, terms in re.findall(r"^- (\w+) = (.*)$", prompt, re.MULTILINE):
        equations[name] = {
            parent: Fraction(sign + factor)
            for sign, factor, parent in re.findall(r"(-?) ?\b([\d.]+) (\w+)", terms)
        }
    dag = sorted_graph((parent, name) for name, terms in equations.items() for parent in terms)
    rows = (tuple(equations[node][parent] for parent in dag.parents(node)) for node in dag.nodes)
    return partial(linear_effect, LinearContext(dag, tuple(rows)))


def _deduction(prompt: str) -> Any:
    """Return the number that follows from a prompt, or the verdict of `check_deduction`."""
    chain = re.search(r"in causal order: (\w+(?:, \w+)+)\.", prompt)
    (target,) = _quantities_in(prompt.partition("What is ")[2].partition("?")[0])
    givens = {_quantities_in(text)[0]: Fraction(value) for text, value in _GIVEN.findall(prompt)}
    if chain is None:
        verdict, value = check_sum(givens, target)
    else:
        verdict, value = check_deduction(
            chain[1].split(", "),
            {(one.path[0], one.path[1]): value for one, value in givens.items()},
            (target.path[0], target.path[1]),
            bounded=target.measure == "pns",
        )
    return value if verdict == "value" else verdict


def simulate(
    read: Simulation, *, depth: float = inf, overlooked: frozenset[str] = frozenset()
) -> dict[str, list[bool]]:
    """Return by rung whether the effect holds in each case, with faults of ``StoryModel``."""
    holds = partial(read.story.value, read.effect, depth=depth, overlooked=overlooked)
    worlds = {"factual": {}, "do_true": {read.cause: True}, "do_false": {read.cause: False}}
    return {rung: [holds(case, do) for case in read.cases] for rung, do in worlds.items()}


def _simulating(answer: Callable[[Task, Simulation], Answer]) -> SolveTask:
    """Return a solver that gives ``answer`` to simulation tasks and the right one to all others."""

    def solver(task: Task) -> Answer:
        if task.family == "simulation":
            return answer(task, read_simulation(task.prompt))
        return solve(task.prompt)

    return solver


@_simulating
def perfect(_: Task, read: Simulation) -> Answer:
    """Answer everything right, from the text alone."""
    return simulate(read)


def noise(rate: float, seed: str = "") -> SolveTask:
    """Return a solver of right answers, in simulation each flipped with probability ``rate``."""

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
def shifted_model(_: Task, read: Simulation) -> Answer:
    """Answer right about a shifted model, in which no variable has a condition of its own.

    Every effect then copies its cause, so each PNS is 1 and all of it composes; adjacent pairs
    have a PNS of at most 0.85, so each is off by more than the threshold. As the answers do not
    depend on the case, this holds for stratified units as for exhaustive ones.
    """
    return simulate(read, overlooked=frozenset(read.story.rules))


def global_wrong(tasks: Iterable[Task]) -> SolveTask:
    """Return a solver right on all but pairs inside no other: there it is :func:`shifted_model`."""
    contexts: dict[str, list[Task]] = {}
    for task in tasks:
        if task.family == "simulation":
            contexts.setdefault(task.instance_id, []).append(task)
    widest: set[str] = set()
    for pairs in contexts.values():
        place = cut_tree(read_simulation(pairs[0].prompt).story.dag).nodes.index
        spans = {t.task_id: (place(t.inputs["cause"]), place(t.inputs["effect"])) for t in pairs}
        for name, (first, last) in spans.items():
            if sum(a <= first and last <= b for a, b in spans.values()) == 1:  # itself
                widest.add(name)
    return lambda task: shifted_model(task) if task.task_id in widest else perfect(task)


def naive(task: Task) -> Answer:
    """Answer as a careless reader: two steps upstream, products of given values, else 0.5."""
    if task.family == "simulation":
        return simulate(read_simulation(task.prompt), depth=2)
    if task.shape.kind == "deduction":
        return {"value": prod(float(value) for _, value in _GIVEN.findall(task.prompt))}
    return {"quantities": dict.fromkeys(task.inputs["quantities"], 0.5)}


SYSTEMS: Final = TrackSystems(
    naive=from_prompts(naive),
    informed=from_prompts(perfect),
    own={
        "ccr-perfect": ("reads every prompt by rules; valid and consistent", from_prompts(perfect)),
        "ccr-biased": ("a shifted model; invalid but consistent", from_prompts(shifted_model)),
        "ccr-global-wrong": (
            "local pairs right, the global one wrong",
            lambda exam, tasks: from_prompts(global_wrong(tasks))(exam, tasks),
        ),
        NOISE: ("flips RATE percent of the right answers", from_prompts(noise(1))),
    },
)
