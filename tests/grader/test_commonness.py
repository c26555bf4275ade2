"""The regression of losses on how common a story's pair is, against the normal equations."""

import math
import random
from pathlib import Path

import numpy as np
import pytest
from score_rows import row

from benchmarks.commonness import Case, cases, line, main, regress


def made(slope: float, groups: int = 12, noise: float = 0.05) -> list[Case]:
    rng = random.Random(23)
    found = []
    for g in range(groups):
        for _ in range(4):
            x = math.log(rng.randint(1, 400))
            y = g / 20 + slope * x + rng.gauss(0, noise)
            found.append(Case(f"g{g}", f"g{g}", x, y))
    return found


@pytest.mark.parametrize("slope", [-0.1, 0.0, 0.07])
def test_the_slope_is_that_of_a_regression_with_a_dummy_for_each_group(slope: float) -> None:
    found = made(slope)
    names = sorted({case.group for case in found})
    design = np.array([[case.commonness, *(case.group == n for n in names)] for case in found],
                      dtype=float)  # fmt: skip
    by_hand = np.linalg.lstsq(design, np.array([case.loss for case in found]), rcond=None)[0][0]
    told = regress(found)
    assert told.slope == pytest.approx(by_hand) and (told.tasks, told.groups) == (48, 12)
    assert told.interval is not None and told.interval[0] < slope < told.interval[1]
    assert told.rank is not None and (told.rank > 0) == (told.slope > 0)


def test_groups_without_variation_say_nothing() -> None:
    flat = [Case("a", "a", 1.0, 0.0), Case("a", "a", 1.0, 1.0)]
    assert regress(flat).slope is None and "–" in line("x", regress(flat))
    assert regress([*flat, *made(0.1)]).slope == pytest.approx(regress(made(0.1)).slope)


def test_tasks_are_held_against_their_like() -> None:
    """Inside bundles where these have several pairs; else inside variants, by scene."""
    told = [row(f"t{k}", "nrel_point", 0.1 * k, bundle=f"b{k // 2}", instance_id=f"i{k}")
            for k in range(4)]  # fmt: skip
    supports = {"i0": 5, "i1": 50, "i2": 7}
    bundled = list(cases(told, supports))
    assert [case.group for case in bundled] == ["b0", "b0", "b1"], "i3 has no known support"
    apart = list(cases(told, {"i0": 5, "i2": 7}))
    assert {case.cluster for case in apart} == {"i0", "i2"} and len({c.group for c in apart}) == 1
    assert max(case.loss for case in cases([row("t", "nrel_point", 9.0, instance_id="i0")],
                                           supports)) == 1  # fmt: skip


def test_a_release_without_pairs_is_told_how_to_have_some(
    release: Path, gold_source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(release), str(gold_source), "--split", "dev", "--exam", "all"]) == 2
    assert "starts from a pair of CauseNet" in capsys.readouterr().err
