"""Every malformation of every variant: a reason, no points, no traceback, no other task hurt."""

import json
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from grading import put
from hypothesis import given, settings
from hypothesis import strategies as st
from malformations import malformations
from small_release import TASKS, answer_file, task_id

from grader.answers.check import REASONS
from grader.pipeline import grade
from grader.release.exam import Exam
from grader.scoring.model import RawAnswer, Truth
from grader.scoring.route import cap
from grader.scoring.score import check, score, score_answer
from grader.scoring.shape import Task

NAMES = sorted(TASKS)


@cache
def asked(dev: Exam) -> dict[str, tuple[Task, Truth]]:
    truths = dev.truths
    tasks = {task.task_id: task for task in dev.split.tasks}
    return {name: (tasks[task_id(name)], truths[task_id(name)]) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_at_least_40_malformations_are_each_a_reason(dev: Exam, name: str) -> None:
    """Every variant, every form: invalid, worthless, named, and never an exception."""
    task, truth = asked(dev)[name]
    text = task.shape.gold(task, truth)
    missing, count = score_answer(task, truth, None), 0
    assert missing.points == 0.0 and missing.loss == cap(missing.pool)
    for what, (reason, data) in malformations(text, task.shape.suffix).items():
        raw = RawAnswer(answer_file(name), data)
        if len(data) > (1 << 20 if task.shape.suffix == ".json" else 16 << 20):
            raw = RawAnswer(answer_file(name), None, "too_large", "over")
        checked = check(task, raw)
        if checked.status == "scored":
            # A quirk that is no fault for this variant, such as [] for a list of edges.
            assert what.startswith("field is"), (what, data[:80])
            continue
        count += 1
        result = score(task, truth, checked)
        assert checked.reason in REASONS and checked.reason != "no_answer"
        assert checked.reason == reason or not reason, (what, checked.message)
        assert checked.message.startswith(f"{answer_file(name)}: "), what
        assert checked.message.isprintable() and len(checked.message) < 400, what
        # The paper's reading takes an absent field for an abstention.
        read = reason in ("", "absent_field")
        for member in ("pool", "loss", "points", *(() if read else ("paper_pool", "paper_loss"))):
            assert getattr(result, member) == getattr(missing, member), what
    assert count >= 40


@cache
def _invalid(dev: Exam, name: str) -> list[bytes]:
    """The malformations of a task's right answer that the variant has no use for."""
    task, truth = asked(dev)[name]
    text = task.shape.gold(task, truth)
    made = malformations(text, task.shape.suffix).values()
    return [
        data
        for reason, data in made
        if reason or check(task, RawAnswer("x", data)).status == "invalid"
    ]


def _break_and_grade(dev: Exam, folder: Path, broken: dict[str, bytes]) -> None:
    """Grade a folder in which the tasks named in ``broken`` have these answers, the rest gold."""
    for name, (task, truth) in asked(dev).items():
        put(folder, name, broken[name] if name in broken else task.shape.gold(task, truth))
    result = grade(dev, folder, slice_intervals=False)
    census = result.report["census"]
    assert (census["invalid"], census["scored"]) == (len(broken), len(TASKS) - len(broken))
    assert sum(census["invalid_reasons"].values()) == len(broken)
    ids = {task_id(name) for name in broken}
    assert {s.points for s in result.scores if s.task_id not in ids} == {1.0}
    assert {s.points for s in result.scores if s.task_id in ids} == {0.0}


@pytest.mark.parametrize("step", [40, pytest.param(1, marks=pytest.mark.slow)])
def test_no_malformation_of_any_variant_reaches_another_task(dev, gold, step):
    """The whole pipeline, from files to the report, with a sample of the malformations, and all."""
    most = max(len(_invalid(dev, name)) for name in NAMES)
    for k, turn in product(range(0, most, step), range(3)):  # every third task is broken
        made = {name: _invalid(dev, name) for name in NAMES[turn::3]}
        _break_and_grade(dev, gold, {name: some[k % len(some)] for name, some in made.items()})


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 10**19)
    | st.floats(allow_nan=False)
    | st.sampled_from(["+", "0", "unknown", "non_id", "no_backdoor", "backdoor", "tie", "Ghost"])
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(NAMES), st.data())
def test_whatever_a_file_holds_costs_at_most_a_failure_and_no_fault_costs_less(
    dev: Exam, name: str, data: st.DataObject
) -> None:
    task, truth = asked(dev)[name]
    right = task.shape.gold(task, truth).encode()
    if data.draw(st.booleans()) or task.shape.suffix == ".csv":
        at = data.draw(st.integers(0, len(right)))
        cut = data.draw(st.integers(0, 4))
        text = right[:at] + data.draw(st.binary(max_size=4)) + right[at + cut :]
    else:
        members = json.loads(right)
        members[data.draw(st.sampled_from(sorted(members)))] = data.draw(ODD)
        text = json.dumps(members).encode()
    result = score_answer(task, truth, RawAnswer(task.answer_file, text))
    assert 0 <= result.loss <= cap(result.pool) and 0 <= result.points <= 1
    if result.status != "scored" or (result.abstained and not result.should_abstain):
        assert (result.loss, result.points) == (cap(result.pool), 0.0)
