"""What the check of measurements takes for chance."""

import numpy as np
import pytest

from builder.equations.noise import NOISE_FAMILIES
from builder.tracks.causalds.check.equations import Array
from builder.tracks.causalds.check.rows import _check_measurement, _spread_of_squares


@pytest.mark.parametrize(
    ("family", "shape"), [("gauss", ()), ("laplace", ()), ("student_t", (10.0,))]
)
def test_squares_of_noise_spread_as_their_law_says(family: str, shape: tuple[float, ...]) -> None:
    """By simulation of the law itself."""
    drawn = NOISE_FAMILIES[family].draw(np.random.default_rng(0), 400_000, shape)
    stated = _spread_of_squares({"family": family, "shape": shape})
    assert float(np.std(drawn**2)) == pytest.approx(stated, rel=0.05)


def test_a_sample_without_large_values_is_no_wrong_law() -> None:
    """Of 270 Laplace draws those beyond 2.5 standard deviations may be missing, by chance; that
    a third of the scale is missing is no chance."""
    one = {
        "column": "M",
        "mechanism": "linear_additive",
        "parameters": {"bias": 0.0, "weights": [1.0]},
        "noise": {"family": "laplace", "scale": 1.0, "shape": []},
    }
    short = np.clip(_laplace(270), -1.5, 1.5)
    assert float(np.mean(short**2)) < 0.7
    assert list(_check_measurement(one, short, np.zeros(270))) == []
    assert "times the noise variance" in next(
        _check_measurement(one, 0.7 * _laplace(2000), np.zeros(2000))
    )


def _laplace(count: int) -> Array:
    """So many values at even quantiles."""
    return NOISE_FAMILIES["laplace"].from_uniform((np.arange(count) + 0.5) / count, ())
