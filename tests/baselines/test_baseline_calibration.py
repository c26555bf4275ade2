"""Analysts see measured variables through a regression on the calibration rows."""

import numpy as np

from baselines.causalds.desk import completed
from baselines.taking import ShownScene

ROWS, TEST, KNOWN = 2000, 300, 200


def scene() -> tuple[ShownScene, dict[str, np.ndarray]]:
    """Two measured variables, one of them binary, and a plain one."""
    rng = np.random.default_rng(4)
    heat = rng.normal(size=ROWS + TEST)
    open_ = (rng.random(ROWS + TEST) < 0.4).astype(float)
    columns = {
        "Vel heat_meas_a": 3 * heat + rng.normal(size=len(heat)),
        "Vel heat_meas_b": np.tanh(heat) + 0.3 * rng.normal(size=len(heat)),
        "Orn vent_meas_a": open_ + 0.2 * rng.normal(size=len(heat)),
        "Sil load": heat + open_,
    }
    hidden = {"Vel heat": heat, "Orn vent": open_}
    calibration = {name: values[:KNOWN] for name, values in {**columns, **hidden}.items()}
    kinds = dict.fromkeys(columns, "continuous")
    data = {name: values[:ROWS] for name, values in columns.items()}
    test = {name: values[ROWS:] for name, values in columns.items() if name != "Sil load"}
    return ShownScene("scene-0", "proxy", "", kinds, data, test, calibration), hidden


def test_measured_variables_take_the_place_of_their_measurements() -> None:
    """An analyst asks for a variable by its name; without a column of it the baseline crashed."""
    shown, hidden = scene()
    whole = completed(shown)
    assert set(whole.data) == {"Vel heat", "Orn vent", "Sil load"}
    assert set(whole.test) == {"Vel heat", "Orn vent"}
    assert whole.kinds == {"Vel heat": "continuous", "Orn vent": "binary", "Sil load": "continuous"}
    assert np.corrcoef(whole.data["Vel heat"], hidden["Vel heat"][:ROWS])[0, 1] > 0.93
    assert np.mean(whole.test["Orn vent"] == hidden["Orn vent"][ROWS:]) > 0.97


def test_a_scene_without_measurements_stays_as_it_is() -> None:
    """Clean scenes must be answered from the very rows that ship."""
    shown, _ = scene()
    clean = ShownScene("scene-0", "clean", "", shown.kinds, shown.data, shown.test)
    assert completed(clean) is clean
