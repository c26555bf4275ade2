"""The required figures: true truths, estimable effects."""

import numpy as np
import pytest
from evidence import check_estimability, check_truths, scenes
from textbook import Analyst, fits


def test_the_analyst_finds_large_sample_effects() -> None:
    """With 25,000 rows his estimate must lie close to the truth, whatever the method."""
    profiles = {
        "continuous": {"smooth_handcrafted": 1, "linear_additive": 1},
        "binary": {"single_regulator_logistic": 1},
    }
    motifs = {"chain": 1, "confounding": 1, "frontdoor": 1, "diamond": 1}
    methods = set()
    for scene in scenes(
        8, "large", motifs=motifs, grafts=[1], planted={}, confounded=0.0, harmless=0.0,
        profiles=profiles,
    ):  # fmt: skip
        if not fits(scene.plan, scene.world):
            continue
        analyst = Analyst(scene.plan, scene.world)
        rows = scene.world.simulate(np.random.default_rng(1), 25_000)
        value, error, _, _ = analyst.interval(rows, *scene.truths.levels)
        assert scene.truths.ate is not None
        assert abs(value - scene.truths.ate.value) < 5 * np.hypot(error, scene.truths.ate.se)
        methods.add(analyst.method)
    assert len(methods) == 3


@pytest.mark.slow
def test_stored_truths_of_200_scenes_are_true() -> None:
    """99.5% within four combined errors, all errors under the bound, zeros exactly zero."""
    report = check_truths(200)
    assert report.scenes == 200 and report.good, report


@pytest.mark.slow
def test_textbook_intervals_cover_at_their_nominal_rate() -> None:
    """60 scenes, 20 replicates each: pooled coverage in the exact 99.9% binomial interval."""
    report = check_estimability(60, 20)
    assert report.scenes == 60 and report.good, report
