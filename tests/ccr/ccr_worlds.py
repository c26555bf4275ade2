"""Contexts and graphs that tests of the ccr track share, and their grading without a release."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from built_tasks import pairs_of

from baselines.ccr import perfect
from builder.splits.seeds import hmac_key
from builder.splits.track import BuiltInstance, InstanceSpec
from builder.tracks.ccr.model import KINDS, BooleanContext, chain, sorted_graph
from builder.tracks.ccr.plan import ContextPlan, Design, draw_kinds
from builder.tracks.ccr.track import TRACK
from grader.reports.table import ScoreTable, TrackResults
from grader.scoring.model import CheckedAnswer, RawAnswer, Score, TrackSummary, Truth
from grader.scoring.score import check, score, score_answer
from grader.scoring.shape import Task
from grader.tracks.ccr import contexts_of, summarise
from grader.tracks.ccr.contexts import ContextResult

FIGURE_4 = ("XA", "XB", "XC", "AC", "BC", "CD", "DE", "DF", "EF", "EY", "FY")
"""The paper's running example: eight variables, three components, cutpoints C and D."""


def figure_4(tenths: int = 7) -> BooleanContext:
    """The running example with *or* throughout, as in the paper's experiment."""
    dag = sorted_graph([(edge[0], edge[1]) for edge in FIGURE_4])
    count = len(dag.nodes)
    return BooleanContext(dag, ("or",) * count, ("or",) * count, (tenths,) * count)


def random_context(rng: np.random.Generator, most: int = 16) -> BooleanContext:
    """Any Boolean context of at most ``most`` nodes: no bounds on its quantities."""
    while True:
        count = int(rng.integers(2, 6))
        sizes = rng.integers(2, 7, count).tolist()
        if sum(sizes) - count + 1 > most:
            continue
        dag = chain(draw_kinds(KINDS, count, rng), sizes, rng)
        nodes = len(dag.nodes)
        own, among = (["or" if bit else "and" for bit in rng.random(nodes) < 0.5] for _ in "ab")
        tenths = tuple(rng.integers(1, 10, nodes).tolist())
        return BooleanContext(dag, tuple(own), tuple(among), tenths)  # type: ignore[arg-type]


def built(
    seed: str,
    sizes: tuple[int, ...] = (3, 3, 3),
    operators: str = "mixed",
    purpose: str = "simulation",
    variant: str | None = None,
    verdict: Any = None,
    theme: str = "CandyParty",
) -> BuiltInstance:
    design = Design(sizes, (("cycle", "wheel", "random") * 3)[: len(sizes)], operators)
    plan = ContextPlan(purpose, variant, verdict, design, theme)
    key = hmac_key(seed.encode(), "test")
    ids = hmac_key(key, "id")
    name = f"ctx-{ids.hex()[:16]}"
    return TRACK.build(InstanceSpec("ccr", "dev", 0, key, name, False, ids, plan.to_json()))


Solver = Callable[[Task], Any]


def grade(pair: tuple[Task, Truth], answer: object) -> Score:
    """The score of an answer given as JSON value or bytes."""
    task, truth = pair
    data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    return score_answer(task, truth, RawAnswer(task.answer_file, data))


class Exam:
    def __init__(self, *contexts: dict[str, Any]) -> None:
        self.pairs: list[tuple[Task, Truth]] = [
            pair for context in contexts for pair in pairs_of(built(**context), "ccr")
        ]
        self.truths = {truth.task_id: truth for _, truth in self.pairs}

    def grade(self, solver: Solver) -> tuple[list[Score], dict[str, CheckedAnswer]]:
        """Scores and checked answers of a solver; ``None`` from it means no file."""
        checked: dict[str, CheckedAnswer] = {}
        for task, _ in self.pairs:
            answer = solver(task)
            raw = RawAnswer(task.answer_file, json.dumps(answer).encode())
            checked[task.task_id] = check(task, None if answer is None else raw)
        return self.scores(checked), checked

    def scores(self, checked: dict[str, CheckedAnswer]) -> list[Score]:
        return [score(task, truth, checked[task.task_id]) for task, truth in self.pairs]

    def contexts(self, solver: Solver) -> list[ContextResult]:
        scores, checked = self.grade(solver)
        return contexts_of(scores, self.truths, checked)

    def summary(self, solver: Solver) -> TrackSummary:
        return self.summary_of(self.grade(solver)[1])

    def summary_of(self, checked: dict[str, CheckedAnswer]) -> TrackSummary:
        scores = self.scores(checked)
        with ScoreTable(scores) as table:
            return summarise(TrackResults(table, scores, self.truths, checked))


def exhaustive(
    count: int, sizes: Sequence[tuple[int, ...]] = ((3, 3), (3, 3, 3), (3, 4, 3))
) -> Exam:
    """Contexts all of whose units are exhaustive."""
    return Exam(
        *({"seed": f"exam/{k}", "sizes": sizes[k % len(sizes)], "operators": "random"}
          for k in range(count))
    )  # fmt: skip


def ignores(task: Task) -> Any:
    """The factual answer to every question: no intervention ever changes anything."""
    right: Any = perfect(task)
    return dict.fromkeys(right, right["factual"]) if "factual" in right else right
