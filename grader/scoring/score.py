"""Grading one task: truth and checked answer in, one flat score out."""

from collections.abc import Iterator
from contextlib import contextmanager
from sys import intern
from typing import Final

from grader.errors import UsageError
from grader.io.jsonio import canonical_json
from grader.scoring.model import CheckedAnswer, RawAnswer, Score, Truth
from grader.scoring.route import route
from grader.scoring.shape import Task

_LARGEST: Final = 1e300


class GraderBug(Exception):
    """Our own fault while grading a task: never turned into a submitter's ``invalid``."""


def check(task: Task, raw: RawAnswer | None) -> CheckedAnswer:
    """Check a raw answer (None: ``missing``) without the truth; never raises for its content."""
    if raw is None:
        return CheckedAnswer("missing", reason="no_answer", message=f"no file {task.answer_file}")
    return task.shape.check(task, raw)


def verify(task: Task, truth: Truth, checked: CheckedAnswer) -> CheckedAnswer:
    """Return ``checked`` with the status that counts: some answers only the truth can call invalid.
    Comes before :func:`score`, and raises :class:`GraderBug` as that does."""
    if task.shape.verify is None:
        return checked
    with _task_named(task, truth):
        return task.shape.verify(task, truth, checked)


def score(task: Task, truth: Truth, checked: CheckedAnswer) -> Score:
    """Grade one verified answer. Pure; raises :class:`GraderBug` if our code fails, ``UsageError``
    if it fails because the truth is damaged."""
    with _task_named(task, truth):
        return _score(task, truth, checked)


def score_answer(task: Task, truth: Truth, raw: RawAnswer | None) -> Score:
    """Check, verify and score one answer; None stands for no answer."""
    return score(task, truth, verify(task, truth, check(task, raw)))


def truth_problem(task: Task, truth: Truth, *, marked: bool = True) -> str | None:
    """Return why a truth's own right answer cannot be written, is no valid one or, where it is
    ``marked``, earns less than the whole point; None if all holds."""
    shape = task.shape
    try:
        raw = RawAnswer(task.answer_file, shape.gold(task, truth).encode())
        checked = shape.check(task, raw)
        checked = shape.verify(task, truth, checked) if shape.verify else checked
        points = _score(task, truth, checked).points if marked else 1.0
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if checked.status != "scored":
        return f"its right answer is invalid: {checked.message}"
    return None if points > 1 - 1e-9 else f"its right answer earns {100 * points:g} of 100 points"


@contextmanager
def _task_named(task: Task, truth: Truth) -> Iterator[None]:
    """Turn an exception into a :class:`GraderBug` with the task, or ``UsageError`` where not even
    the right answer can be written."""
    try:
        yield
    except Exception as error:
        text = f"task {task.task_id} ({task.spec.key}): "
        problem = truth_problem(task, truth, marked=False)
        if problem is not None or isinstance(error, UsageError):
            text += f"its truth cannot be used ({problem or error}); fetch the release again"
            raise UsageError(text) from error
        raise GraderBug(f"{text}{type(error).__name__}: {error}") from error


def _score(task: Task, truth: Truth, checked: CheckedAnswer) -> Score:
    """Return the score row: the shape's mark where one is needed, routed to pool, loss and points.

    ``extra_json`` joins the task's facts with figures of the check and of the mark; later ones win.
    """
    mark = None
    if checked.status == "scored" and not checked.abstained and not truth.should_abstain:
        mark = task.shape.score(task, truth, checked.answer)
    routed = route(task.shape, truth, checked, mark)
    facts = task.shape.facts(truth) if task.shape.facts else {}
    extra = {**facts, **checked.extra, **(mark.extra if mark else {})}
    why = mark.message if mark else _why(truth, checked) if checked.status == "scored" else ""
    abstention = mark is None and routed.pool == "pass" and truth.should_abstain
    return Score(
        task_id=task.task_id,
        instance_id=task.instance_id,
        track=task.track,
        family=task.family,
        variant=task.variant,
        rung=task.rung,
        view=task.view,
        structure=truth.structure,
        input_mode=task.input_mode,
        pool=routed.pool,
        status=checked.status,
        reason=checked.reason,
        metric=mark.metric if mark else ("abstention" if abstention else task.shape.metric),
        metric_value=_finite(mark.value) if mark else None,
        loss=routed.loss,
        points=routed.points,
        paper_pool=routed.paper_pool,
        paper_loss=_finite(routed.paper_loss),
        abstained=checked.abstained,
        should_abstain=truth.should_abstain,
        coverage=mark.coverage if mark else None,
        interval_width=_finite(mark.width) if mark else None,
        extra_json=intern(canonical_json({name: _finite(value) for name, value in extra.items()})),
        message="; ".join(dict.fromkeys(filter(None, (checked.message, why)))),
    )


def _why(truth: Truth, checked: CheckedAnswer) -> str:
    """Return the message of an answer without a mark: was it right to abstain or commit?"""
    if not checked.abstained:
        return "committed, but the target is not identifiable: abstain"
    if truth.should_abstain:
        return "abstained, rightly: the target is not identifiable"
    return "abstained, but the target is identifiable"


def _finite(value: float | None) -> float | None:
    """Return a number cut to ±1e300, whose sums are finite and which JSON has; None stays None."""
    return None if value is None else max(-_LARGEST, min(value, _LARGEST))
