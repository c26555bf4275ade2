"""Answers that know nothing: every variant has them, and floors are what they must be."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from builder.floors.twin import asked as asked_of
from builder.gate.known_answers import CEILING
from builder.gate.report import Floor
from builder.gate.run import _floor_lines
from builder.settings import TomlTable
from builder.tracks import TRACKS
from grader.exam import choose_exam
from grader.io.release import Release
from grader.model import RawAnswer, Truth
from grader.score import score, verify
from grader.shape import Task, Variant
from grader.submission.check import check
from grader.tracks import VARIANTS


def _agrees(kind: str, task: Task, truth: Truth, seed: int) -> None:
    answer = TRACKS[task.track].floors.answer(kind, task, truth, np.random.default_rng(seed))  # type: ignore[arg-type]
    checked = check(task, RawAnswer("answer", answer.encode()))
    assert checked.status == "scored", checked.message
    points = score(task, truth, verify(task, truth, checked)).points
    assert TRACKS[task.track].floors.points(task, truth, answer) == pytest.approx(points, abs=1e-9)
    assert points < 1 or task.shape.pool in CEILING or task.shape.pool.startswith("nrel")


@pytest.fixture(scope="module")
def asked(mini_release: Path) -> dict[str, list[tuple[Task, Truth]]]:
    """Tasks and truths by track and variant: of the small release, and of instances that are asked
    what the small release does not ask."""
    exam = choose_exam(Release.open(mini_release), exam="all")
    truths = exam.truths
    found: dict[str, list[tuple[Task, Truth]]] = {}
    for task in exam.tasks:
        name = f"{task.track}/{task.spec.key}"
        found.setdefault(name, []).append((task, truths[task.task_id]))
    scenes = {"scenes": 4, "rows": {"train": 300, "test": 100}, "composition": "full"}
    tables = {
        "causalds": scenes,
        "ccr": {"inductive": 4, "stated": 2, "components": [2, 3]},
    }
    new: dict[str, list[tuple[Task, Truth]]] = {}
    for name, table in tables.items():
        track = TRACKS[name]
        settings = track.parse(TomlTable(table, "test.toml: "))
        for spec in track.plan(settings, "dev", b"by name", False):
            for task, truth in asked_of(name, track.build(spec)):
                new.setdefault(f"{name}/{task.spec.key}", []).append((task, truth))
    return {**new, **found}


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: f"{variant.track}/{variant.key}")
def test_every_variant_has_uninformed_answers_whose_points_are_derived(
    variant: Variant, asked: dict[str, list[tuple[Task, Truth]]]
) -> None:
    """A new variant without a floor would enter releases with its grading unchecked."""
    pairs = asked.get(f"{variant.track}/{variant.key}", [])
    assert pairs, f"{variant.key}: not in splits/mini.toml, so nothing would check its floor"
    classes = {(truth.should_abstain, str(truth.target)[:40]): (task, truth)
               for task, truth in pairs}  # fmt: skip
    for task, truth in list(classes.values())[:6]:
        assert TRACKS[task.track].floors.why[task.shape.name]
        for kind in ("constant", "random"):
            for seed in range(3):
                _agrees(kind, task, truth, seed)


def test_a_guess_earns_nothing_where_abstention_is_due(
    asked: dict[str, list[tuple[Task, Truth]]],
) -> None:
    """Otherwise the floor itself would reward committing to what cannot be known."""
    met = set()
    for pairs in asked.values():
        for task, truth in pairs:
            if truth.should_abstain:
                answer = TRACKS[task.track].floors.answer(
                    "constant", task, truth, np.random.default_rng(0)
                )
                assert TRACKS[task.track].floors.points(task, truth, answer) == 0
                checked = check(task, RawAnswer("answer", answer.encode()))
                assert score(task, truth, checked).points == 0
                met.add(task.spec.key)
    assert len(met) > 12


def test_the_floor_of_an_interval_by_hand(asked: dict[str, list[tuple[Task, Truth]]]) -> None:
    """0 ± 1 around a truth of 0.37 costs its width alone: 1.37 / (1.37 + 2)."""
    task, truth = asked["causalds/effect_estimate.ate_uq_95"][0]
    truth = replace(truth, value=0.37, should_abstain=False)
    answer = TRACKS[task.track].floors.answer("constant", task, truth, np.random.default_rng(0))
    assert json.loads(answer) == {"ate": 0.0, "ci_lower": -1.0, "ci_upper": 1.0}
    assert TRACKS[task.track].floors.points(task, truth, answer) == pytest.approx(1.37 / 3.37)


def _floor(key: str, tasks: int, constant: float, derived: float) -> Floor:
    (variant,) = [variant for variant in VARIANTS if variant.key == key]
    points = {"constant": (constant, derived), "random": (10.0, 10.0)}
    return Floor("dev", variant, tasks, "", points)


def test_a_floor_that_is_not_as_derived_fails() -> None:
    """A scorer that gives everyone full points passes with gold answers alone."""
    constant, random = _floor_lines([_floor("association.sign_only", 5, 100.0, 40.0)])
    assert not constant.ok
    assert "graded 100.000000000, stated floor 40.000000000" in constant.problems[0]
    assert random.ok


def test_a_label_that_is_nearly_always_right_fails() -> None:
    """A variant with one answer asks nothing (and rewards doing nothing)."""
    assert not _floor_lines([_floor("association.sign_only", 30, 90.0, 90.0)])[0].ok
    assert _floor_lines([_floor("association.sign_only", 5, 90.0, 90.0)])[0].ok
    assert _floor_lines([_floor("association.sign_only", 30, 82.5, 82.5)])[0].ok  # chance may do it
    assert not _floor_lines([_floor("association.sign_only", 910, 82.5, 82.5)])[0].ok
    assert _floor_lines([_floor("effect_estimate.ate_point", 30, 90.0, 90.0)])[0].ok
