"""Answers that know nothing: every variant has them, and floors are what they must be."""

import json
from pathlib import Path

import numpy as np
import pytest

from builder.release.gate import Floor, _floor_lines
from builder.release.gate_answers import CEILING, WHY, floor_points, uninformed_answer, why
from builder.release.gate_checks import INPUTS
from grader.model import RawAnswer, Task, Truth
from grader.pipeline import Session
from grader.release import Release
from grader.score import score
from grader.spec import TRACKS, VARIANTS, Variant
from grader.validate import check

LABELS = (0.5, -1.0, 2.25, 0.0)
BY_HAND = [variant for variant in VARIANTS if variant.track == "causalds"]
"""Variants whose truths this module writes; the others are met in the mini release."""


def _task(variant: Variant, kind: str = "continuous") -> Task:
    inputs = {
        "rows": len(LABELS),
        "outcome_kind": kind,
        "available": ["Ash", "Birch"],
        "alpha": 0.05 if variant.family == "effect_estimate" else 0.1,
    }
    return Task(
        "cds-0", "scene-0", variant.track, variant.rung, variant.family, variant.name, "clean",
        variant.input_mode, "", variant.shape, f"cds-0{variant.suffix}", inputs,
    )  # fmt: skip


def _truth(variant: Variant, kind: str = "continuous", *, abstain: bool = False) -> Truth:
    labels = LABELS if kind == "continuous" else (0.0, 1.0, 1.0, 0.0)
    target = {
        "sign": {"accepted": ["-"]},
        "method": {"accepted": ["none" if abstain else "frontdoor"]},
        "edges": {"nodes": ["Ash", "Birch", "Cedar"], "edges": [["Ash", "Birch"]]},
        "adjustment_sets": {
            "category": "non_id" if abstain else "set",
            "sets": [] if abstain else [["Ash"], ["Birch"]],
        },
    }.get(variant.shape, {"kind": kind, "sd": float(np.std(labels)), "rows": len(labels)})
    numeric = variant.shape in ("value", "ate", "ate_interval", "effect_value")
    value = 0.37 if numeric and not abstain else None
    return Truth("cds-0", "scene-0", abstain, "fork", value, None, target, labels)


@pytest.mark.parametrize("variant", BY_HAND, ids=lambda variant: variant.key)
def test_every_variant_has_uninformed_answers_whose_points_are_derived(variant: Variant) -> None:
    """A new variant without a floor would enter releases with its grading unchecked."""
    assert variant.shape in WHY
    assert variant.shape in INPUTS
    for seed in range(12):
        for kind in ("constant", "random"):
            for outcome in ("continuous", "binary"):
                task, truth = _task(variant, outcome), _truth(variant, outcome)
                _agrees(kind, task, truth, seed)


def _agrees(kind: str, task: Task, truth: Truth, seed: int) -> None:
    answer = uninformed_answer(kind, task, truth, np.random.default_rng(seed))  # type: ignore[arg-type]
    checked = check(task, RawAnswer("answer", answer.encode()))
    assert checked.status == "scored", checked.message
    points = score(task, truth, checked).points
    assert floor_points(task, truth, answer) == pytest.approx(points, abs=1e-12)
    assert points < 1 or task.spec.pool in CEILING


@pytest.mark.parametrize("track", [track for track in TRACKS if track != "causalds"])
def test_every_variant_of_another_track_has_them_too(track: str, mini_release: Path) -> None:
    """The same of every other track, over tasks and truths of a real release."""
    session = Session(Release.open(mini_release), None, None, track)
    asked: dict[str, list[Task]] = {v.key: [] for v in VARIANTS if v.track == track}
    for task in session.all_tasks:
        if task.track == track:
            asked[task.spec.key].append(task)
    for key, tasks in asked.items():
        assert tasks, f"{key}: not in splits/mini.toml, so nothing would check its floor"
        truths = session.truths(tasks[:3])
        for task in tasks[:3]:
            assert why(task)
            assert set(task.inputs) == INPUTS[task.spec.shape]
            for kind in ("constant", "random"):
                for seed in range(3):
                    _agrees(kind, task, truths[task.task_id], seed)


@pytest.mark.parametrize(
    "variant", [v for v in VARIANTS if v.abstainable], ids=lambda variant: variant.key
)
def test_a_guess_earns_nothing_where_abstention_is_due(variant: Variant) -> None:
    """Otherwise the floor itself would reward committing to what cannot be known."""
    task, truth = _task(variant), _truth(variant, abstain=True)
    answer = uninformed_answer("constant", task, truth, np.random.default_rng(0))
    assert floor_points(task, truth, answer) == 0
    checked = check(task, RawAnswer("answer", answer.encode()))
    assert score(task, truth, checked).points == 0


def test_the_floor_of_an_interval_by_hand() -> None:
    """0 ± 1 around a truth of 0.37 costs its width alone: 1.37 / (1.37 + 2)."""
    variant = next(v for v in VARIANTS if v.shape == "ate_interval")
    task, truth = _task(variant), _truth(variant)
    answer = uninformed_answer("constant", task, truth, np.random.default_rng(0))
    assert json.loads(answer) == {"ate": 0.0, "ci_lower": -1.0, "ci_upper": 1.0}
    assert floor_points(task, truth, answer) == pytest.approx(1.37 / 3.37)


def _floor(key: str, tasks: int, constant: float, derived: float) -> Floor:
    return Floor("dev", key, tasks, "", constant, derived, 10.0, 10.0)


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
    assert _floor_lines([_floor("effect_estimate.ate_point", 30, 90.0, 90.0)])[0].ok
