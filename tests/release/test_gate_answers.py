"""Floors: the best constant answers on a twin; every variant has constants, and the gate holds
floors against them."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from baselines.exam import open_exam
from baselines.systems import answer_tasks, find_system
from builder.build import grade_twin
from builder.release import floors as floors_module
from builder.release.engine import Workers
from builder.release.floors import FloorRow, _best_constant, _distance, check_floors, graded_answer
from builder.release.progress import Reporter
from builder.splits.config import load_config
from builder.splits.settings import TomlTable
from builder.tracks import TRACKS
from grader.api import Release as Opened
from grader.api import grade
from grader.opening import open_release
from grader.release.exam import choose_exam
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
        for task, truth in floors_module.tasks_of(track, track.build(spec)):
            found.setdefault(f"ccr/{task.spec.key}", []).append((task, truth))
    return found


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: f"{variant.track}/{variant.key}")
def test_every_variant_has_valid_constants_of_the_same_names(variant, asked):
    """A new variant without them would enter releases without a floor."""
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
    """A floor put at 0 would make skill of nothing."""
    opened = open_release(mini_release)
    FAULTS[said](opened.public.manifest["floors"]["dev"])
    _, problems = check_floors(opened, TRACKS, "dev")
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


SPLITS = """
name = "floored"
version = "0.1.0"
floor_tasks = 6

[splits.dev]
truth = "public"
seed = "floors 1"
[splits.dev.causalab]
graphs = 3
suites = ["main-3", "3o0i-4"]
[splits.dev.ccr]
simulation = 4
deductive = 8
components = [2, 2]

[splits.test]
truth = "private"
secret_env = "FLOORS_SECRET"
[splits.test.causalab]
per_suite = 3
suites = ["main-3", "3o0i-4"]
[splits.test.exams.practice]
causalab = { tasks = "all" }
"""


def test_a_floor_is_the_largest_mean_and_the_first_of_two() -> None:
    tasks = [{"yes": 1.0, "no": 0.0}, {"yes": 0.5, "no": 1.0}, {"yes": 0.0, "no": 0.5}]
    assert _best_constant(tasks) == {"answer": "yes", "points": 0.5, "tasks": 3}
    assert _best_constant([*tasks, {"yes": 0.0, "no": 1.0}])["answer"] == "no"


def test_every_variant_takes_the_first_instances_that_are_asked_it() -> None:
    """Hosts of a rare variant that were added for it counted for frequent ones too, and nine in ten
    effects were identifiable."""
    track = TRACKS["ccr"]
    assert track.floors is not None
    settings = track.parse(TomlTable({"deductive": 12}, "test.toml: "))
    rare = replace(
        track.floors, variants_of=lambda spec: ["often", "rare"] if spec.index > 8 else ["often"]
    )
    specs = track.plan(settings, "dev", b"root", False)
    wanted = floors_module._instances_to_build(specs, rare, Counter(), 2)
    assert [keys for _, keys in wanted.values()] == [{"often"}, {"often"}, {"rare"}, {"rare"}]


def test_floors_are_of_a_twin_that_knows_no_seed_and_no_size(tmp_path: Path) -> None:
    """Splits made alike share one, and nothing of a private root is in it."""
    texts = {
        "first": SPLITS,
        "other": SPLITS.replace("floors 1", "floors 2").replace("graphs = 3", "graphs = 9"),
        "none": SPLITS.replace("floor_tasks = 6", "floor_tasks = 0"),
    }
    files = [tmp_path / name for name in texts]
    for file in files:
        file.write_text(texts[file.name], encoding="utf-8")
    first, other, none = (
        floors_module.measure_floors(
            load_config(file, TRACKS), grade_twin, Workers(1), Reporter(quiet=True)
        )
        for file in files
    )
    assert first == other and none == {}
    dev, test = first["dev"], first["test"]
    assert set(dev) == {"causalab", "ccr"} and dev["causalab"] == test["causalab"]
    assert set(dev["ccr"]["variants"]) == {
        "simulation.pair", "simulation.context", "deductive.boolean",
    }  # fmt: skip
    floor = dev["causalab"]["variants"]["laboratory.linear"]
    assert floor["tasks"] >= 6 and 0 < floor["points"] < 1


def test_who_answers_by_the_floors_has_a_skill_near_0(mini_release: Path) -> None:
    """The lower end of the scale: the baseline ``constant`` says what the floors name."""
    exam = open_exam(mini_release, "dev", "mini")
    given = {task.task_id: answer for task, answer in answer_tasks(find_system("constant"), exam)}
    assert given.keys() == {task.task_id for task in exam.tasks}
    report = grade(given, Opened(mini_release, split="dev"), exam="mini")
    assert report.skill is not None and abs(report.skill) < 35
    assert report.data["tracks"]["ccr"]["skill"] is not None
