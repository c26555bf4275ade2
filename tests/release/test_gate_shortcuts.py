"""The table of shortcuts: what rules earn on the scale of skill, and where it is printed."""

import json
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from gate_release import build

from builder.gate import shortcuts
from builder.gate.report import GateReport
from builder.gate.shortcuts import TOGETHER, ShortcutRow, Shortcuts, shortcut_rows
from builder.release.workspace import write_gate
from grader.exam import choose_exam
from grader.floors import Floors
from grader.io.release import Release
from grader.shape import Task

SIGNS = ("association.sign_only", "effect_estimate.ate_sign_only")


def _answers(
    release: Release, private: Path | None, split: str, asked: Collection[str]
) -> Iterator[tuple[str, Task, str]]:
    """One rule is always right about signs of associations, another never about any sign."""
    assert release.private is None
    opened = Release.open(release.public.path, private)
    chosen = choose_exam(opened, split, None, reveal=True)
    assert {task.task_id for task in chosen.tasks if task.track == "causalds"} >= set(asked)
    for task in chosen.tasks:
        if task.task_id not in asked:
            continue
        if task.spec.key == SIGNS[0]:
            yield "right", task, task.shape.gold(task, chosen.truths[task.task_id])
        if task.spec.key in SIGNS:
            yield "wrong", task, json.dumps({"sign": "sideways"})


RULES = Shortcuts(
    {"right": "causalds", "wrong": "causalds", "silent": "causalds", "other": "ccr"},
    {("causalds", SIGNS[0]): "right", ("causalds", SIGNS[1]): "silent"},
    _answers,
)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], ShortcutRow]:
    """By split and rule; every floor is a quarter of the points."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        built = build(tmp_path_factory.mktemp("rules"), monkeypatch)
        quarter = {"points": 0.25, "se": 0.0, "policy": "x", "tasks": 200}

        def stated(_: object, exam: str, tasks: list[Task]) -> Floors:
            keys = {task.spec.key for task in tasks}
            return Floors({"causalds": dict.fromkeys(keys, quarter)} if exam else {})

        monkeypatch.setattr("builder.gate.shortcuts.Floors.of", stated)
        opened = Release.open(built)
        found = [row for split in opened.splits
                 for row in shortcut_rows(opened, split, RULES)]  # fmt: skip
    return {(row.split, row.rule): row for row in found}


def test_a_rule_is_worth_what_it_adds_to_the_floor(
    rows: dict[tuple[str, str], ShortcutRow],
) -> None:
    """100 on its own tasks where it is right, below 0 where it is wrong; nothing for silence."""
    right, wrong, both = (rows["dev", name] for name in ("right", "wrong", TOGETHER))
    assert right.own == pytest.approx((100.0, 100.0, 100.0)) and right.tasks > 0
    assert right.most == (pytest.approx(100.0), SIGNS[0])
    assert 0 < right.whole[0] < 20 and right.whole[1] <= right.whole[0] <= right.whole[2]
    assert wrong.own[0] == pytest.approx(-100 / 3) and wrong.tasks > right.tasks
    assert (both.tasks, both.own, both.whole) == (right.tasks, right.own, right.whole)
    assert {rule for _, rule in rows} == {"right", "wrong", TOGETHER}


def test_what_shortcuts_earn_on_private_truth_stays_on_the_private_side(
    rows: dict[tuple[str, str], ShortcutRow], tmp_path: Path
) -> None:
    """It says how much a guess is worth."""
    shown = rows["dev", "right"]
    hidden = replace(shown, split="test", private=True, exam="demo")
    report = GateReport((), shortcuts=(shown, hidden))
    assert "| dev | practice | causalds | right |" in report.markdown
    assert "| test |" not in report.markdown and "| dev |" not in report.private_markdown
    assert "| test | demo | causalds | right |" in report.private_markdown
    (tmp_path / "private").mkdir()
    write_gate(tmp_path, report.markdown, report.private_markdown)
    assert (tmp_path / "private/GATE.md").read_text() == report.private_markdown
    assert GateReport((), shortcuts=(shown,)).private_markdown == ""


def test_of_many_tasks_some_instances_are_asked_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table is to be read; what it costs must not grow with an exam. Skill counts tasks of one
    instance together, and half of them would be another question."""
    opened = Release.open(build(tmp_path, monkeypatch))
    tasks = choose_exam(opened, "dev", "all", reveal=True).tasks
    mine = [task for task in tasks if task.track == "causalds"]
    assert sorted(shortcuts._first_instances(tasks, "causalds"), key=lambda t: t.task_id) == mine
    monkeypatch.setattr(shortcuts, "ENOUGH", len(mine) // 3)
    some, again = ({task.task_id for task in shortcuts._first_instances(every, "causalds")}
                   for every in (tasks, tasks[::-1]))  # fmt: skip
    assert some == again and len(mine) // 3 <= len(some) < len(mine)
    asked = {task.instance_id for task in mine if task.task_id in some}
    assert some == {task.task_id for task in mine if task.instance_id in asked}
