"""Floors: the best constant answers on a twin, in manifests, and who answers by them."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tiny_release import SECRET
from ungated import build_ungated

from baselines.exam import open_exam
from baselines.systems import answer_tasks, find_system
from builder.build import grade_twin
from builder.release.engine import Workers
from builder.release.floors import _best_constant, _instances_to_build, check_floors, measure_floors
from builder.release.progress import Reporter
from builder.splits.config import load_config
from builder.tracks import TRACKS
from grader.api import Release as Opened
from grader.api import grade
from grader.opening import open_release

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
[splits.dev.exams.practice]
causalab = { tasks = "all" }
ccr = { tasks = "all" }

[splits.test]
truth = "private"
secret_env = "FLOORS_SECRET"
[splits.test.causalab]
per_suite = 3
suites = ["main-3", "3o0i-4"]
[splits.test.exams.practice]
causalab = { tasks = "all" }
"""


def measured(toml: Path) -> dict[str, Any]:
    return measure_floors(load_config(toml, TRACKS), grade_twin, Workers(1), Reporter(quiet=True))


@pytest.fixture(scope="module")
def toml(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("floors") / "floored.toml"
    file.write_text(SPLITS, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def release(toml: Path) -> Path:
    """The release of the split file, without a gate."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLOORS_SECRET", SECRET)
        return build_ungated(toml, toml.parent / "release")


def test_a_floor_is_the_largest_mean_and_the_first_of_two() -> None:
    tasks = [{"yes": 1.0, "no": 0.0}, {"yes": 0.5, "no": 1.0}, {"yes": 0.0, "no": 0.5}]
    assert _best_constant(tasks) == {"answer": "yes", "points": 0.5, "tasks": 3}
    assert _best_constant([*tasks, {"yes": 0.0, "no": 1.0}])["answer"] == "no"


def test_every_variant_takes_the_first_instances_that_are_asked_it(toml: Path) -> None:
    """Hosts of a rare variant that were added for it counted for frequent ones too, and nine in ten
    effects were identifiable."""
    track = TRACKS["ccr"]
    assert track.floors is not None
    settings = dict(load_config(toml, TRACKS).splits[0].tracks)["ccr"]
    specs = list(track.plan(settings, "dev", b"root", False))
    rare = replace(
        track.floors, variants_of=lambda spec: ["often", "rare"] if spec.index > 8 else ["often"]
    )
    wanted = _instances_to_build(specs, rare, Counter(), 2)
    assert [keys for _, keys in wanted.values()] == [
        {"often"}, {"often"}, {"rare"}, {"rare"},
    ]  # fmt: skip


def test_floors_stand_in_both_manifests_for_each_split(release: Path) -> None:
    """Splits made alike share a twin; contexts have a floor of their own. How often a constant is
    right in a private split is a fact of its truth: those points are not shown."""
    sides = [release / side / "manifest.json" for side in ("public", "private")]
    public, private = (json.loads(file.read_text("utf-8"))["floors"] for file in sides)
    assert public == private
    dev, test = public["dev"], public["test"]
    assert set(dev) == {"causalab", "ccr"} and dev["causalab"] == test["causalab"]
    assert set(dev["ccr"]["variants"]) == {
        "simulation.pair", "simulation.context", "deductive.boolean",
    }  # fmt: skip
    floor = dev["causalab"]["variants"]["laboratory.linear"]
    assert floor["tasks"] >= 6 and 0 < floor["points"] < 1
    checked = [check_floors(open_release(release), TRACKS, name) for name in ("dev", "test")]
    assert all(rows and not problems for rows, problems in checked)


def test_floors_do_not_depend_on_seed_sizes_or_workers(toml: Path, tmp_path: Path) -> None:
    """They are of the twin, which everybody can build: nothing of a private root is in them."""
    other = tmp_path / "other.toml"
    text = SPLITS.replace("floors 1", "floors 2").replace("graphs = 3", "graphs = 9")
    other.write_text(text, encoding="utf-8")
    assert measured(other) == measured(toml)


def test_without_tasks_there_are_no_floors(tmp_path: Path) -> None:
    toml = tmp_path / "none.toml"
    toml.write_text(SPLITS.replace("floor_tasks = 6", "floor_tasks = 0"), encoding="utf-8")
    assert measured(toml) == {}


def test_who_answers_by_the_floors_has_a_skill_near_0(release: Path) -> None:
    """The lower end of the scale: the baseline ``constant`` says what the floors name."""
    exam = open_exam(release, "dev", "practice")
    given = {task.task_id: answer for task, answer in answer_tasks(find_system("constant"), exam)}
    assert given.keys() == {task.task_id for task in exam.tasks}
    report = grade(given, Opened(release, split="dev"), exam="practice")
    assert report.skill is not None and abs(report.skill) < 35
    assert report.data["tracks"]["ccr"]["skill"] is not None
