"""Estimates where some variables are seen in calibration rows only.

An estimator is run three times: on the calibration rows with the variables themselves (honest, but
few rows), and with their predictions from the measurements in the same rows and in all rows. The
last two differ by sampling error alone, and that error is taken out of the first (Chen & Chen
2000, double-sampling designs): right in large samples however poor the predictions are.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from baselines.causalds.estimators import Chosen, Estimator
from baselines.release import FloatArray, ShownScene

_MOST_SHIFT = 1.5


@dataclass(frozen=True, slots=True)
class Tables:
    """The rows an analyst works with.

    ``rows`` has every variable, shape (n,), those seen through measurements as predicted
    from them; ``known`` has the ``measured`` ones themselves in m calibration rows, shape (m,);
    ``places``, shape (m,), is where those stand among the n. Without measurements ``known`` is
    empty. ``corrected`` says whether estimates are to use those rows, or take predictions for the
    variables themselves.
    """

    rows: Mapping[str, FloatArray]
    known: Mapping[str, FloatArray]
    places: FloatArray
    measured: frozenset[str]
    corrected: bool


def tables_of(shown: ShownScene, whole: ShownScene, *, corrected: bool) -> Tables:
    """Tables of a scene as it is released and as ``calibration`` completes it."""
    measured = frozenset(name for name in shown.calibration if name not in shown.data)
    if not measured:
        return Tables(whole.data, {}, np.zeros(0, dtype=np.int64), measured, corrected)
    known = {name: shown.calibration[name] for name in whole.data if name in shown.calibration}
    return Tables(whole.data, known, _places(shown), measured, corrected)


def _places(shown: ShownScene) -> FloatArray:
    """Where each calibration row stands among the rows, shape (m,), found by its contents."""
    names = sorted(set(shown.data) & set(shown.calibration))
    rows, known = (
        np.column_stack([np.asarray(table[name], dtype=np.float64) for name in names])
        for table in (shown.data, shown.calibration)
    )
    index = {row.tobytes(): place for place, row in enumerate(rows)}
    return np.array([index.get(row.tobytes(), 0) for row in known], dtype=np.int64)


def draws(
    tables: Tables, names: frozenset[str], estimator: Estimator, weights: FloatArray
) -> FloatArray:
    """Draws (B, ...) of ``estimator``, which reads the variables ``names``.

    ``weights`` has shape (B, n). Components of the estimate are adjusted one by one. Predictions
    hide interactions, so the honest estimator chooses its own models; the other two, which must
    differ by sampling error alone, share theirs.
    """
    chosen: Chosen = {}
    everywhere = estimator(tables.rows, weights, chosen)
    if not (tables.corrected and names & tables.measured):
        return everywhere
    part = weights[:, tables.places]
    part = part / part.mean(axis=1, keepdims=True)
    predicted = {name: values[tables.places] for name, values in tables.rows.items()}
    honest = estimator(tables.known, part, {})
    noise = estimator(predicted, part, chosen) - everywhere
    return np.asarray(honest - _slope(honest[1:], noise[1:]) * noise)


def _slope(honest: FloatArray, noise: FloatArray) -> FloatArray:
    """How far the honest estimate goes along with the noise, by component."""
    centred = noise - noise.mean(axis=0)
    variance = (centred**2).mean(axis=0)
    covariance = ((honest - honest.mean(axis=0)) * centred).mean(axis=0)
    slope = covariance / np.where(variance > 1e-18, variance, 1.0)
    return np.asarray(np.clip(slope, 0.0, _MOST_SHIFT))
