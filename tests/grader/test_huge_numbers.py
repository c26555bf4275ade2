"""Sums, medians and spreads of every finite double: one huge answer ends nothing."""

import json
import shutil
from pathlib import Path

import pytest
from grading import Runner, put
from hypothesis import given
from hypothesis import strategies as st
from small_release import TASKS, variant_of

from grader.statistics.bootstrap import percentile_interval, standard_error
from grader.statistics.repeats import mean, spread_of, standard_deviation

FINITE = st.floats(allow_nan=False, allow_infinity=False)
HUGE = (1e160, -1.7976931348623157e308)


@given(st.lists(FINITE, min_size=2, max_size=20))
def test_moments_exist_for_every_finite_double(values: list[float]) -> None:
    """Squares of 1e160 used to overflow, sums of 1e308 too."""
    slack = 1e-9 * max(map(abs, values)) + 1e-300
    assert min(values) - slack <= mean(values) <= max(values) + slack
    assert standard_deviation(values) >= 0
    assert standard_error(values) >= 0
    low, high = percentile_interval(values)
    assert low <= high
    assert spread_of(values) is not None


def test_moments_of_ordinary_numbers_are_the_textbook_ones() -> None:
    """And scale exactly with a power of two, however large."""
    values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]
    assert mean(values) == 5.0
    assert standard_deviation(values) == pytest.approx((32 / 7) ** 0.5, rel=1e-15)
    huge = [value * 2.0**1000 for value in values]
    assert mean(huge) == 5.0 * 2.0**1000
    assert standard_deviation(huge) == standard_deviation(values) * 2.0**1000


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


@pytest.mark.parametrize("value", HUGE)
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
