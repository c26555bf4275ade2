"""Sums, medians and spreads of every finite double: one huge answer ends nothing."""

import json
import shutil
from pathlib import Path

import pytest
from grading import Runner, put
from hypothesis import given
from hypothesis import strategies as st
from small_release import TASKS, variant_of

from grader.reports.build import spread_of
from grader.statistics.bootstrap import detectable_difference, percentile_interval

HUGE = (1e160, -1.7976931348623157e308)
BOUNDED = st.floats(-1e300, 1e300)
"""What a score row may hold."""


@given(st.lists(BOUNDED, min_size=2, max_size=20))
def test_moments_exist_for_every_number_of_a_score_row(values: list[float]) -> None:
    """Squares of 1e160 used to overflow."""
    spread = spread_of(values)
    slack = 1e-9 * max(map(abs, values)) + 1e-300
    assert spread is not None and spread["sd"] >= 0
    assert min(values) - slack <= spread["mean"] <= max(values) + slack
    assert detectable_difference(values) >= 0
    low, high = percentile_interval(values)
    assert low <= high


def numeric(value: float) -> dict[str, str]:
    """An answer with one number wherever a number is asked for, by the task's short name."""
    found = {}
    for name, task in TASKS.items():
        shape = variant_of(task.key).shape
        if shape.suffix == ".json" and shape.pool == "nrel_point":
            found[name] = json.dumps({shape.field: value})
        elif shape.suffix == ".json" and shape.pool == "nrel_interval":
            ends = {"ci_lower": min(value, -value), "ci_upper": max(value, -value)}
            found[name] = json.dumps({shape.field: 0.0, **ends})
    return found


@pytest.mark.parametrize("value", HUGE[:1])
def test_a_huge_number_in_one_attempt_ends_nothing(
    runner: Runner, gold_source: Path, tmp_path: Path, value: float
) -> None:
    """``{"value": 1e160}`` ended a whole board with exit 3, and a grading by itself."""
    several = tmp_path / "board" / "several"
    for number in (1, 2, 3):
        shutil.copytree(gold_source, several / f"attempt-{number}")
    answers = numeric(value)
    assert len(answers) > 4
    for name, text in answers.items():
        put(several / "attempt-2", name, text)
    one = tmp_path / "board" / "one"
    shutil.copytree(several / "attempt-2", one)
    dev = (*runner.dev, "--exam", "all")
    for source in (several, one):
        assert runner.grade(source, "--html", tmp_path / "page.html").code == 0
    assert runner.run("compare", one, several, *dev).code == 0
    out = tmp_path / "board.json"
    run = runner.run("leaderboard", tmp_path / "board", *dev, "--json", out)
    assert run.code == 0 and "failed" not in run.err
    assert len(json.loads(out.read_text("utf-8"))) == 2
