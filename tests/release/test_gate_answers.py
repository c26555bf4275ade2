"""Constant answers: every variant has them, and the gate holds floors against them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builder.release import floors as floors_module
from builder.release.floors import FloorRow, _distance, check_floors, graded_answer, tasks_of
from builder.splits.settings import TomlTable
from builder.tracks import TRACKS
from grader.opening import open_release
from grader.release.exam import choose_exam
from grader.release.release import ReleaseFolder
from grader.scoring.model import Truth
from grader.scoring.shape import Task
from grader.tracks import VARIANTS

Asked = dict[str, list[tuple[Task, Truth]]]
"""Tasks and truths by track and variant."""


def constants_of(task: Task, truth: Truth) -> dict[str, str]:
    floors = TRACKS[task.track].floors
    assert floors is not None
    return dict(floors.constants(task, truth))


@pytest.fixture(scope="module")
def asked(mini_release: Path) -> Asked:
    """Of the small release, and of instances that are asked what the small release does not ask."""
    exam = choose_exam(open_release(mini_release), exam="all")
    found: Asked = {}
    for task in exam.tasks:
        pair = task, exam.truths[task.task_id]
        found.setdefault(f"{task.track}/{task.spec.key}", []).append(pair)
    track = TRACKS["ccr"]
    table = {"inductive": 4, "stated": 2, "additive": 6, "components": [2, 3]}
    for spec in track.plan(track.parse(TomlTable(table, "test.toml: ")), "dev", b"name", False):
        for task, truth in tasks_of(track, track.build(spec)):
            found.setdefault(f"ccr/{task.spec.key}", []).append((task, truth))
    return found


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: f"{variant.track}/{variant.key}")
def test_every_variant_has_valid_constants_of_the_same_names(variant, asked):
    """A new variant without them would enter releases without a floor; names that differ from task
    to task would be means of different answers."""
    pairs = asked.get(f"{variant.track}/{variant.key}", [])
    assert pairs, f"{variant.key}: not in splits/mini.toml, so nothing would check its constants"
    names = set()
    for task, truth in pairs[:6]:
        texts = constants_of(task, truth)
        assert all(
            graded_answer(task, truth, text)[1].status == "scored" for text in texts.values()
        )
        names.add(tuple(texts))
    assert len(names) == 1 and len(*names) > 1


def test_only_an_abstention_earns_where_it_is_due(asked: Asked) -> None:
    """Otherwise the floor itself would reward committing to what cannot be known."""
    met = set()
    for pairs in asked.values():
        for task, truth in [pair for pair in pairs if pair[1].should_abstain][:3]:
            for text in constants_of(task, truth).values():
                answer = json.loads(text)[task.shape.field]
                abstains = answer == task.shape.abstention
                assert graded_answer(task, truth, text)[2].points == float(abstains), text
            met.add(task.spec.key)
    assert len(met) > 12


def test_the_points_of_an_interval_by_hand(asked: Asked) -> None:
    """0 ± 1 around a truth of 0.37 costs its width alone: 1.37 / (1.37 + 2)."""
    task, truth = asked["causalds/effect_estimate.ate_uq_95"][0]
    truth = replace(truth, value=0.37, should_abstain=False)
    text = constants_of(task, truth)["always 0 ± 1"]
    assert json.loads(text) == {"ate": 0.0, "ci_lower": -1.0, "ci_upper": 1.0}
    assert graded_answer(task, truth, text)[2].points == pytest.approx(1.37 / 3.37)


def with_floors(release: Path, change: Any) -> ReleaseFolder:
    """The release opened, its floors changed in memory."""
    opened = open_release(release)
    change(opened.public.manifest["floors"]["dev"])
    return opened


FAULTS: dict[str, Any] = {
    "always + earns": lambda f: f["causalds"]["variants"]["association.sign_only"].update(
        answer="always +", points=0.99, tasks=300
    ),
    "no constant answer is 'asks an oracle'": lambda f: f["ccr"]["variants"][
        "deductive.boolean"
    ].update(answer="asks an oracle"),
    "effect_estimate.ate_point has no floor": lambda f: f["causalds"]["variants"].pop(
        "effect_estimate.ate_point"
    ),
    "graded by other rules": lambda f: f["replayscm"].update(rules=99),
}


@pytest.mark.parametrize("said", FAULTS)
def test_floors_that_were_changed_do_not_stand(mini_release: Path, said: str) -> None:
    """A floor put at 0 would make skill of nothing; an answer that nobody has, a riddle; a variant
    with one answer asks nothing."""
    _, problems = check_floors(with_floors(mini_release, FAULTS[said]), TRACKS, "dev")
    assert any(said in problem.replace("'always +'", "always +") for problem in problems)


def test_floors_may_be_off_by_chance_alone() -> None:
    """A mean of 30 tasks is no truth, and one of 0 that stays 0 is."""
    row = FloorRow("dev", "f.v", "always yes", 0.5, 30, 0.5, 200, 200)
    assert _distance(row) == _distance(replace(row, points=0.0, own=0.0)) == 0
    assert 1 < _distance(replace(row, own=0.65)) < 5 < _distance(replace(row, own=0.99))
    in_views = replace(row, points=0.6346, tasks=52, own=0.2059, own_tasks=170)
    assert _distance(replace(in_views, own_instances=35)) < 5 < _distance(in_views)


def test_an_answer_that_is_nearly_always_right_is_refused(mini_release, monkeypatch):
    """A variant with one answer asks nothing, and rewards doing nothing."""
    monkeypatch.setattr(floors_module, "CEILING", 0.1)
    _, problems = check_floors(open_release(mini_release), TRACKS, "dev")
    assert any("is nearly always right" in problem for problem in problems)
    assert not any("effect_point" in problem for problem in problems)
