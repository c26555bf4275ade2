"""Policies that know nothing, and how often an exam's rules draw a task."""

from collections import Counter

import pytest
from causalds_scenes import public

from builder.causalds.exams.built import BuiltTask
from builder.causalds.exams.draw import draw_exam
from builder.causalds.exams.model import ExamModel
from builder.causalds.exams.shares import drawn_shares
from builder.causalds.track import TRACK
from builder.floors.twin import asked, graded_policies, measure_instance
from grader.tracks.causalds.variants import CAUSALDS


def test_every_policy_is_gradable_and_worth_what_the_second_derivation_says() -> None:
    """Of every variant; the gate compares the two on a release."""
    seen = set()
    for built in public()[::4]:
        for task, truth in asked("causalds", built):
            if task.spec.key in seen and task.shape.kind == "predictions":
                continue  # one column of numbers is like another
            seen.add(task.spec.key)
            assert TRACK.floors.policies is not None
            texts = dict(TRACK.floors.policies(task, truth))
            for policy, graded in graded_policies(TRACK, task, truth, {}):
                derived = [TRACK.floors.points(task, truth, text) for text in texts[policy]]
                assert [row.points for _, _, row in graded] == pytest.approx(derived, abs=1e-9)
    assert len(seen) >= len(CAUSALDS) - 2


def test_policies_see_no_truth() -> None:
    """Of two tasks of a variant the answers differ by the names in the question at most."""
    told: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    for built in public()[::6]:
        for task, truth in asked("causalds", built):
            assert TRACK.floors.policies is not None
            if task.shape.kind in ("sign", "boolean", "label", "number", "interval", "count"):
                policies = tuple(name for name, _ in TRACK.floors.policies(task, truth))
                told.setdefault((task.spec.key, "names"), set()).add(policies)
    assert told and all(len(found) == 1 for found in told.values())


def test_the_points_of_an_instance_are_those_of_its_tasks() -> None:
    """What is kept of an instance: one line a task, of one world."""
    (built, *_) = public()
    found = list(measure_instance(TRACK, built))
    assert [one.task_id for one in found] == [row["task_id"] for row in built.rows["causalds"]]
    assert len({one.world for one in found}) == 1
    enough = frozenset(one.cell for one in found[:1])
    assert all(one.cell not in enough for one in measure_instance(TRACK, built, enough))


def tasks_of(scenes: int) -> list[BuiltTask]:
    """Scenes of two structures, asked for a label of three classes in unequal numbers, and for a
    sketch."""
    found = []
    for number in range(scenes):
        structure = ("chain", "confounding")[number % 2]
        label = "abc"[(number % 7 > 3) + (number % 7 == 6)]
        for key, of in (("identification.method_label", label), ("causal_sketch.edges_only", "")):
            name = f"s{number}/{key}"
            task = BuiltTask(name, f"s{number}", key, "clean", structure, of or "value", "")
            found.append(task)
    return found


@pytest.mark.parametrize(
    "model",
    [
        ExamModel("balanced", 8),
        ExamModel(
            "composed",
            40,
            families={
                "chain": {"identification": 0.8, "causal_sketch": 0.2},
                "confounding": {"identification": 0.3, "causal_sketch": 0.7},
            },
            variants={
                "identification": {"method_label": 1.0},
                "causal_sketch": {"edges_only": 1.0},
            },
        ),
    ],
    ids=["balanced", "composed"],
)
def test_tasks_weigh_as_often_as_exams_draw_them(model: ExamModel) -> None:
    """Shares of labels and structures within a variant, against 200 exams."""
    tasks = tasks_of(84)
    shares = drawn_shares(model, tasks)
    drawn: Counter[str] = Counter()
    for turn in range(200):
        drawn.update(draw_exam(model, tasks, str(turn).encode(), "test").task_ids)
    for key in {task.key for task in tasks}:
        members = [task for task in tasks if task.key == key]
        for axis in ("label", "structure"):
            wanted, found = Counter[str](), Counter[str]()
            for task in members:
                wanted[getattr(task, axis)] += shares[task.task_id]  # type: ignore[assignment]
                found[getattr(task, axis)] += drawn[task.task_id]
            for level, weight in wanted.items():
                share = found[level] / found.total()
                assert share == pytest.approx(weight / sum(wanted.values()), abs=0.04), (key, level)


def test_bundles_of_several_batches_are_kept_apart() -> None:
    """Batches of a twin number their bundles alike; one may not hide another's tasks."""
    exam = ExamModel("tellings", 8)
    tasks = [
        BuiltTask(f"{world}/{telling}", f"{world}/{telling}", "causal_sketch.edges_only", "clean",
                  "chain", "value", "", bundle="told-000", telling=telling, world=world)
        for world in ("first", "second") for telling in ("knowledge", "anonymous")
    ]  # fmt: skip
    assert drawn_shares(exam, tasks) == {task.task_id: 1.0 for task in tasks}
    assert drawn_shares(exam, tasks[1:]) == {task.task_id: 1.0 for task in tasks[2:]}
