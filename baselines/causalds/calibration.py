"""Measured variables put back into a scene's tables, by regression calibration.

The calibration rows show a variable beside its measurements; a regression there predicts it in all
other rows (Carroll, Ruppert, Stefanski & Crainiceanu 2006, chapter 4). What is left of the error
biases whatever is estimated from the predictions; ``double_sampling`` takes it out.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from baselines.causalds.regression import is_binary
from baselines.release import FloatArray, ShownScene

RIDGE = 1e-3
"""Penalty per calibration row on standardised measurements: bundles can be collinear."""


def completed(scene: ShownScene) -> ShownScene:
    """``scene`` with a predicted column for each measured variable in place of its measurements."""
    measured = [name for name in scene.calibration if name not in scene.data]
    if not measured:
        return scene
    kinds, data, test = dict(scene.kinds), dict(scene.data), dict(scene.test)
    for name in measured:
        bundle = [column for column in scene.data if column.startswith(f"{name}_meas_")]
        truth = scene.calibration[name]
        binary = is_binary(truth)
        kinds[name] = "binary" if binary else "continuous"
        inputs = _stacked(scene.calibration, bundle)
        for table in (data, test):
            if all(column in table for column in bundle) and bundle:
                values = _predicted(inputs, truth, _stacked(table, bundle))
                table[name] = (values > 0.5).astype(np.float64) if binary else values
        for column in bundle:
            for mapping in (kinds, data, test):
                mapping.pop(column, None)
    return replace(scene, kinds=kinds, data=data, test=test)


def _stacked(table: Mapping[str, FloatArray], names: list[str]) -> FloatArray:
    """Columns side by side, shape (rows, names)."""
    return np.column_stack([table[name] for name in names])


def _predicted(inputs: FloatArray, truth: FloatArray, rows: FloatArray) -> FloatArray:
    """Ridge regression of ``truth``, shape (calibrated,), applied to ``rows``; shape (rows,)."""
    centre, scale = inputs.mean(axis=0), np.maximum(inputs.std(axis=0), 1e-9)
    known = (inputs - centre) / scale
    penalty = RIDGE * len(known) * np.eye(known.shape[1])
    beta = np.linalg.solve(known.T @ known + penalty, known.T @ (truth - truth.mean()))
    return np.asarray(truth.mean() + (rows - centre) / scale @ beta)
