"""Skill: 0 is what knowing nothing earns, 100 is gold, and a ratio of sums between."""

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from grading import Runner, put
from hypothesis import given
from hypothesis import strategies as st
from small_release import FLOORS, TASKS, write_manifest

from grader.pages.leaderboard import rank
from grader.reports.redact import with_figure
from grader.scoring.model import Unit
from grader.statistics.skill import measure, members, on_scale, overall_skill, value_of

DEV = ("--split", "dev")
SHARE = st.floats(0, 1, allow_nan=False)


def units(*rows: tuple[float, float]) -> list[Unit]:
    """Units of (points, floor), each of an instance of its own."""
    return [Unit(str(k), *row) for k, row in enumerate(rows)]


def test_gold_is_100_and_saying_nothing_is_below_0(runner: Runner, gold: Path) -> None:
    """A scale needs both ends, and its zero is not silence."""
    best = runner.grade(gold, exam="mini").report
    assert best["skill"] == best["tracks"]["causalds"]["skill"] == pytest.approx(100)
    assert best["skill_interval"] == pytest.approx([100, 100])
    for file in gold.glob("cds-*"):
        file.unlink()
    report = runner.grade(gold, exam="mini").report
    floor = report["floor"]
    keys = [TASKS[name].key for name in TASKS if name != "ate_extra"]
    assert floor == pytest.approx(100 * sum(FLOORS[key]["points"] for key in keys) / len(keys))
    assert report["points"] == 0
    assert report["skill"] == pytest.approx(-100 * floor / (100 - floor))
    sliced = report["tracks"]["causalds"]["slices"]["variant"]["effect_estimate.ate_point"]
    assert sliced["floor"] == 40.0
    assert sliced["skill"] == pytest.approx(-100 * 40 / 60)


@given(st.lists(st.tuples(SHARE, st.floats(0, 0.9)), min_size=1, max_size=12))
def test_skill_is_a_ratio_of_sums(rows: list[tuple[float, float]]) -> None:
    """A variant that a constant nearly wins must weigh little, not explode."""
    found = measure(units(*rows), 1)
    assert found is not None
    gained = sum(points - floor for points, floor in rows)
    room = sum(1 - floor for _, floor in rows)
    assert found.value == pytest.approx(100 * gained / room, abs=1e-9)
    assert value_of(units(*rows)) == found.value


def test_the_interval_draws_points_and_floors_of_the_same_tasks() -> None:
    """Beside a plain bootstrap of instances, written again."""
    rows = [Unit(f"i{k % 20}", (k * 7 % 10) / 10, k % 3 / 4) for k in range(60)]
    found = measure(rows, 3)
    generator, drawn = random.Random(11), []
    for _ in range(4000):
        chosen = [f"i{generator.randrange(20)}" for _ in range(20)]
        picked = [unit for name in chosen for unit in rows if unit.instance == name]
        gained = sum(unit.points - (unit.floor or 0) for unit in picked)
        drawn.append(100 * gained / sum(1 - (unit.floor or 0) for unit in picked))
    drawn.sort()
    assert found is not None
    interval = members(found)["skill_interval"]
    assert interval == pytest.approx([drawn[100], drawn[3899]], abs=2.5)


def test_nothing_is_said_where_nothing_can_be_shown() -> None:
    """No floor, or a floor of all points: a division by nothing is no skill."""
    assert measure([], 1) is None
    assert measure([Unit("a", 1.0, None), Unit("b", 1.0, 0.5)], 1) is None
    assert value_of([]) is value_of([Unit("a", 1.0, None)]) is None
    assert measure(units((1.0, 1.0)), 1) is None
    assert on_scale(50, 0) == 50 and on_scale(50, None) is None
    assert overall_skill({"one": measure(units((1.0, 0.5)), 1), "two": None}) is None


def variants(manifest: Any) -> Any:
    return manifest["floors"]["dev"]["causalds"]["variants"]


DAMAGES: dict[str, Any] = {
    "no floors of this split": lambda manifest: manifest["floors"].pop("dev"),
    "graded by other rules": lambda manifest: manifest["floors"]["dev"]["causalds"].update(rules=0),
    "effect_estimate.ate_point has no floor": lambda manifest: variants(manifest).pop(
        "effect_estimate.ate_point"
    ),
    "is no share of its points": lambda manifest: variants(manifest).update(
        {"effect_estimate.ate_point": {"points": 7}}
    ),
    "no floors": lambda manifest: manifest.update(floors=[1]),
}


@pytest.mark.parametrize("said", DAMAGES)
def test_floors_that_do_not_hold_are_one_line(runner, own_release, gold, said):
    """Skill of other floors would be a number of nothing; points stay."""
    side = own_release / "public"
    manifest = json.loads((side / "manifest.json").read_text("utf-8"))
    DAMAGES[said](manifest)
    write_manifest(side, manifest)
    own = Runner(own_release, runner.place, runner.capsys)
    report = own.grade(gold, exam="mini").report
    assert report["skill"] is None and report["points"] == 100
    (notice,) = [text for text in report["notices"] if "skill" in text]
    assert said in notice and "\n" not in notice
    if said == "no floors":
        board = own.run("leaderboard", gold.parent, "--release", own_release, *DEV)
        assert "skill" not in board.out


def test_a_shown_skill_says_no_more_than_the_points_beside_it() -> None:
    """A second sum of the same marks, weighed otherwise, could be solved for single ones."""
    silent = {"floor": 20.0, "skill": None, "tracks": {"one": {}, "other": {}}}
    shown = with_figure(silent, 42.0, [30.0, 60.0], 14)
    assert shown["points"] == 42.0 and shown["skill"] == round(100 * 22 / 80, 1)
    assert shown["skill_interval"] == [round(100 * 10 / 80, 1), round(100 * 40 / 80, 1)]
    assert shown["tracks"] == silent["tracks"]
    bare = with_figure({**silent, "floor": None}, 42.0, [30.0, 60.0], 14)
    assert bare["skill"] is None and bare["points"] == 42.0


def test_boards_rank_by_skill_and_comparisons_are_of_skill(runner, gold, tmp_path):
    """Tracks whose floors differ weigh differently in points."""
    first: dict[str, Any] = {"points": 60.0, "skill": 10.0, "submission": {"system": "a"}}
    second = {"points": 50.0, "skill": 40.0, "submission": {"system": "b"}}
    absent = {"points": None, "skill": None, "submission": {"system": "c"}}
    assert [row["submission"]["system"] for _, row in rank([absent, first, second])] == list("bac")
    unscaled = [row | {"skill": None} for row in (absent, first, second)]
    assert [row["submission"]["system"] for _, row in rank(unscaled)] == list("abc")
    worse = Path(shutil.copytree(gold, tmp_path / "worse"))
    put(worse, "ate", '{"ate": 1e9}')
    out, page = tmp_path / "compared.json", tmp_path / "board.html"
    at = (*runner.dev, "--exam", "mini")
    run = runner.run("compare", gold, worse, *at, "--json", out)
    found = json.loads(out.read_text("utf-8"))
    assert run.code == 0 and " skill " in run.out
    share = 100 / (100 - found["skill"]["floor"])
    assert found["skill"]["difference"] == pytest.approx(share * found["points"]["difference"])
    assert runner.run("leaderboard", tmp_path, *at, "--html", page).code == 0
    text = page.read_text("utf-8")
    assert "Skill and points, with 95% intervals" in text and "floor " in text
