"""What prompts promise of a scene's numbers holds, errors included, before the scene is taken."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from causalds_scenes import specs

from builder.equations.margins import EFFECT_MARGIN
from builder.equations.quantities import Quantity
from builder.release.attempts import Rejection
from builder.splits.seeds import attempt_key
from builder.tracks.causalds.check.equations import DRAWS, Population
from builder.tracks.causalds.design.scene_plan import ScenePlan
from builder.tracks.causalds.make.scene import Truths, sample_hidden_world

CLOSE = "effect too close to zero"


def _plan(motif: str) -> ScenePlan:
    """A scene of a motif whose gates may have their thresholds beyond both treatment levels."""
    (spec, *_) = specs(scenes=4, motifs={motif: 1}, words="fictional")
    plan = ScenePlan.from_json(spec.config_json)
    return replace(
        plan,
        structure=replace(plan.structure, treatment_kind="continuous", outcome_kind="binary"),
        equations=replace(plan.equations, binary="noisy_and"),
    )


def _room(effect: Quantity, sd: Quantity) -> float:
    """How far an effect is beyond its margin, in combined standard errors."""
    combined = (effect.se**2 + (EFFECT_MARGIN * sd.se) ** 2) ** 0.5
    room = abs(effect.value) - EFFECT_MARGIN * sd.value
    return room / combined if combined else room * float("inf")


def test_no_effect_is_zero_by_accident() -> None:
    """A gate that notices no step between the printed levels makes an identified effect exactly 0,
    though the story tells of one: such worlds are drawn again, the others keep the margin."""
    plan, reasons, kept = _plan("confounding"), Counter[str](), list[Truths]()
    for number in range(16):
        try:
            kept.append(sample_hidden_world(plan, attempt_key(b"k" * 32, number))[1])
        except Rejection as rejected:
            reasons[rejected.reason] += 1
    assert reasons[CLOSE] >= 2 and len(kept) >= 2
    for truths in kept:
        for effect in (truths.ate, truths.ett, truths.nde, truths.nie):
            assert effect is not None  # one observed common cause: everything is identifiable
            assert effect.source == "structural_zero" or _room(effect, truths.outcome_sd) >= 4


def test_a_zero_that_the_graph_makes_is_kept() -> None:
    """Without a directed path an effect is 0, and asked about."""
    plan = _plan("fork")
    truths = sample_hidden_world(plan, attempt_key(b"k" * 32, 0))[1]
    assert truths.ate is not None and truths.ate.source == "structural_zero"


def test_the_sd_of_a_fair_coin_is_not_known_to_seven_digits() -> None:
    """Where a binary outcome is as often 0 as 1 its sd is at its peak: the error of first order is
    0, and a world with a mean of 0.5025 was refused for an sd of 0.499994."""
    flips = np.random.default_rng(1).permutation(DRAWS) % 2
    found = Population.sd(SimpleNamespace(factual={"y": flips.astype(float)}, draws=DRAWS), "y")  # type: ignore[arg-type]
    assert found.value == 0.5 and 5 * found.se > 0.5 - 0.499994
