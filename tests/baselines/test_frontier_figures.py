"""The figures of frontier exams: weights, answers left out, the exams built for them."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.frontier import Sat, asked, gap, report, skill, write_split
from builder.release.config import load_config

VARIANT = "effect_estimate.ate_point"
OTHER = "effect_estimate.ate_sign_only"


def _sat(instance: str, variant: str, **points: float) -> Sat:
    return Sat(instance, variant, False, 0.5, 1.0, points)


def test_skill_is_a_ratio_of_weighted_sums() -> None:
    """A variant counts by its weight; what is left unanswered earns the floor."""
    tasks = [_sat("a", VARIANT, one=1.0), _sat("b", VARIANT, one=0.5), _sat("c", OTHER)]
    value, low, high = skill("one", tasks, {VARIANT: 1.0, OTHER: 2.0})
    assert value == pytest.approx(25.0) and low <= value <= high
    assert skill("nobody", tasks, {VARIANT: 1.0, OTHER: 2.0}) == (0.0, 0.0, 0.0)


def test_the_gap_is_between_what_agrees_and_what_conflicts() -> None:
    """Of who answers as names suggest the whole scale; other tasks do not count."""
    sides = ("agrees", "conflicts", "none", "")
    tasks = [
        replace(_sat(f"{side}{i}", VARIANT, one=side == "agrees"), prior=side)
        for i in range(5)
        for side in sides
    ]
    assert gap("one", tasks, {VARIANT: 1.0})[0] == pytest.approx(200.0)
    assert gap("nobody", tasks, {VARIANT: 1.0})[0] == 0.0


def test_a_limit_that_is_missed_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    """One rule that earns too much on a variant is enough."""
    good = {"gold": 1.0, "logician": 1.0, "informed": 0.5, "naive": 0.5}
    assert report([_sat("a", VARIANT, **good, rule=0.6)], {VARIANT: 1.0})
    assert not report([_sat("a", VARIANT, **good, rule=0.7)], {VARIANT: 1.0})
    assert not report([_sat("a", VARIANT, **{**good, "informed": 0.9})], {VARIANT: 1.0})
    assert "| effect_estimate.ate_point | 1 | 0% | 0.50 |" in capsys.readouterr().out


def test_the_exam_asks_every_variant_as_often(tmp_path: Path) -> None:
    """And has the floors of the frontier exam beside it."""
    config = load_config(write_split(tmp_path, 20))
    exam = tomllib.loads((tmp_path / "frontier.toml").read_text(encoding="utf-8"))
    counts = [n for row in exam["variants"].values() for n in row.values()]
    assert set(counts) == {20} and len(counts) == len(asked()) and exam["tasks"] == sum(counts)
    assert config.splits[0].private and (tmp_path / "floors" / "frontier.json").exists()
