"""Abstention does not pay the ignorant: not in the numbers of the fixed reading, and not in skill.

The systems are reference solvers at the mini exam; any of their answers may be replaced by the
abstention that its prompt offers, or left out.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score_rows import failed, row

from baselines.exam import open_exam, text_of
from baselines.systems import answer_tasks, find_system
from builder.release.floors import graded_answer
from builder.tracks import TRACKS
from grader.opening import open_release
from grader.release.exam import Exam, choose_exam
from grader.reports.table import ScoreTable
from grader.scoring.model import RawAnswer, Score
from grader.scoring.score import score_answer
from grader.scoring.shape import LOSS_CAP, Task
from grader.statistics.skill import measure, units_of

SYSTEMS: Final = ("naive", "informed", "random", "constant")
SOME: Final = 30
"""Tasks: every variant is among them."""
Rows = Mapping[str, Score]


@pytest.fixture(scope="module")
def exam(mini_release: Path) -> Exam:
    whole = choose_exam(open_release(mini_release), "dev", "all", "causalds")
    ranked = sorted(whole.tasks, key=lambda task: task.task_id)
    kept = {task.spec.key: task for task in ranked} | {t.task_id: t for t in ranked[:SOME]}
    return replace(whole, tasks=tuple({task.task_id: task for task in kept.values()}.values()))


@pytest.fixture(scope="module")
def graded(exam: Exam, mini_release: Path) -> dict[str, Rows]:
    """Score rows of each system by task."""
    opened = open_exam(mini_release, "dev", "all")
    asked = {task.task_id for task in exam.tasks}
    opened = replace(opened, tasks=tuple(t for t in opened.tasks if t.task_id in asked))
    return {
        name: {
            task.task_id: scored(exam, task, text_of(answer))
            for task, answer in answer_tasks(find_system(name), opened)
        }
        for name in SYSTEMS
    }


@pytest.fixture(scope="module")
def abstained(exam: Exam) -> Rows:
    """Score rows of the abstentions, by task; shapes without one are left out."""
    return {
        task.task_id: scored(exam, task, json.dumps({task.shape.field: task.shape.abstention}))
        for task in exam.tasks
        if task.shape.abstainable
    }


def scored(exam: Exam, task: Task, text: str | None) -> Score:
    raw = None if text is None else RawAnswer(task.answer_file, text.encode("utf-8"))
    return score_answer(task, exam.truths[task.task_id], raw)


def fixed(rows: Sequence[Score]) -> dict[str, Any]:
    with ScoreTable(rows) as table:
        lines = table.query("causalds/readings", LOSS_CAP)
    (found,) = [line for line in lines if (line["axis"], line["reading"]) == ("exam", "fixed")]
    return found


@pytest.mark.parametrize("system", SYSTEMS)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_replacing_answers_by_abstentions_never_improves_the_numbers(
    graded: dict[str, Rows], abstained: Rows, system: str, data: st.DataObject
) -> None:
    """A median over the points did not see what was abandoned: naive gained by abstaining."""
    before = graded[system]
    which = data.draw(st.sets(st.sampled_from(sorted(abstained)), min_size=1))
    after = {**before, **{task_id: abstained[task_id] for task_id in which}}
    had, has = fixed([*before.values()]), fixed([*after.values()])
    assert (has["n_nrel"], has["n_f1"]) == (had["n_nrel"], had["n_f1"])
    assert has["s_nr"] >= had["s_nr"] - 1e-9 and has["f1_loss"] >= had["f1_loss"] - 1e-9
    lost = [before[task_id] for task_id in which if not before[task_id].should_abstain]
    committed = [one for one in lost if one.pool.startswith("nrel") and one.loss < LOSS_CAP]
    assert (has["s_nr"] > had["s_nr"] + 1e-9) == bool(committed), "every abandoned number costs"


POOLS: Final = st.sampled_from(["nrel_point", "nrel_interval", "f1"])
ANSWERED: Final = st.lists(st.tuples(POOLS, st.floats(0, 1), st.booleans()), min_size=1)


@settings(max_examples=15, deadline=None)
@given(ANSWERED, st.floats(0, 40))
def test_no_answer_is_worse_than_its_abstention(
    drawn: list[tuple[str, float, bool]], scale: float
) -> None:
    """Random losses, far beyond the cap too, and any of them abandoned."""
    losses = [(pool, loss if pool == "f1" else loss * scale, gone) for pool, loss, gone in drawn]
    whole = [row(f"t{k}", pool, loss) for k, (pool, loss, _) in enumerate(losses)]
    less = [failed(f"t{k}", pool) if gone else whole[k] for k, (pool, _, gone) in enumerate(losses)]
    had, has = fixed(whole), fixed(less)
    for name in ("s_nr", "f1_loss"):
        assert (had[name] is None) == (has[name] is None)
        assert has[name] is None or has[name] >= had[name] - 1e-9
    assert has["causalds_score"] >= had["causalds_score"] - 1e-9
    assert had["causalds_score"] == pytest.approx(math.fsum(s.loss for s in whole) / len(whole))


def variants(exam: Exam) -> dict[str, list[Task]]:
    found: dict[str, list[Task]] = {}
    for task in exam.tasks:
        found.setdefault(task.spec.key, []).append(task)
    return found


def floor_on(exam: Exam, tasks: Sequence[Task]) -> float:
    """The mean points of the best policy on these very tasks."""
    sums: dict[str, float] = {}
    for task in tasks:
        truth = exam.truths[task.task_id]
        floors = TRACKS[task.track].floors
        assert floors is not None
        for name, text in floors.constants(task, truth):
            sums[name] = sums.get(name, 0.0) + graded_answer(task, truth, text)[2].points
    return max(sums.values()) / len(tasks)


def skill_of(rows: Sequence[Score], floor: float) -> float | None:
    found = measure(units_of([replace(one, floor=floor) for one in rows]), 1)
    return None if found is None else found.value


def test_abstaining_on_a_whole_variant_never_lifts_its_skill_above_0(exam, graded, abstained):
    """Floors hold the best abstention: measured on the very tasks, the bound is exact."""
    compared = 0
    for tasks in variants(exam).values():
        if not tasks[0].shape.abstainable:
            continue
        floor = floor_on(exam, tasks)
        lifted = skill_of([abstained[task.task_id] for task in tasks], floor)
        for system in SYSTEMS:
            own = skill_of([graded[system][task.task_id] for task in tasks], floor)
            if lifted is not None and own is not None:
                assert lifted <= max(own, 0.0) + 1e-6, (tasks[0].spec.key, system)
                compared += 1
    assert compared > 3 * len(SYSTEMS)


def test_leaving_out_a_whole_variant_is_below_its_floor(exam: Exam) -> None:
    """Silence is no abstention: it earns nothing anywhere."""
    for tasks in variants(exam).values():
        silent = skill_of([scored(exam, task, None) for task in tasks], floor_on(exam, tasks))
        assert silent is None or silent <= 0
