"""Grading contexts in process, without a release."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from built_tasks import pairs_of
from ccr_worlds import built

from baselines.ccr import perfect
from grader.reports.table import ScoreTable, TrackResults
from grader.scoring.model import CheckedAnswer, RawAnswer, Score, TrackSummary, Truth
from grader.scoring.score import check, score, score_answer
from grader.scoring.shape import Task
from grader.tracks.ccr.contexts import ContextResult
from grader.tracks.ccr.summary import contexts_of, summarise

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
