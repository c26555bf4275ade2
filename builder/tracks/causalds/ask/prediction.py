"""Prediction of held-out outcomes (rung 1; paper A.9)."""

from collections.abc import Iterator

import numpy as np

from builder.release.arrow import round_truth
from builder.tracks.causalds.ask.wording import (
    Question,
    Truth,
    asks,
    bold,
    fenced,
    number,
    percent,
)
from builder.tracks.causalds.make.scene import Scene
from grader.tracks.causalds.shapes import PREDICTION_ALPHA


@asks("prediction.point_predictor")
def point_predictor(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """A number for every held-out row: the outcome, or its probability of being 1."""
    if scene.outcome.kind == "binary":
        wanted = (
            f"For each row, give the probability that {bold(scene.outcome)} is 1: a number from 0 "
            "to 1."
        )
        scoring = (
            "Scored by the root of the Brier score (the mean squared difference between your "
            "probability and the true 0 or 1), relative to 1 + the standard deviation of the "
            "held-out values. Numbers below 0 count as 0, numbers above 1 as 1."
        )
        rows = ["0.31", "0.87"]
    else:
        wanted = f"For each row, give one number: your prediction of {bold(scene.outcome)}."
        scoring = (
            "Scored by the root mean squared error over the held-out rows, relative to 1 + the "
            "standard deviation of the held-out values."
        )
        rows = ["0.42", "-1.05"]
    yield Question(
        question=f"{_task(scene)}\n\n{wanted}",
        answer=f"{_csv(scene, 'prediction', rows)}\n\n{scoring}",
        inputs=_inputs(scene),
        truth=_truth(scene),
    )


@asks("prediction.prediction_interval")
def prediction_interval(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """A number and a central 90% interval for every held-out row."""
    level = percent(1 - PREDICTION_ALPHA)
    penalty = number(2 / PREDICTION_ALPHA)
    wanted = (
        f"For each row, give your prediction of {bold(scene.outcome)} and a **central {level} "
        "prediction interval**: the new value should fall below `lower` in "
        f"{percent(PREDICTION_ALPHA / 2)} of cases and above `upper` in as many."
    )
    scoring = (
        f"Scored by the mean interval score over the held-out rows, (upper - lower) plus {penalty} "
        "times the distance by which the true value misses the interval, relative to 1 + the "
        "standard deviation of the held-out values. `lower` must not exceed `upper` in any row. "
        "The column `prediction` must be there but does not enter the score."
    )
    rows = ["0.42,-0.90,1.74", "-1.05,-2.37,0.27"]
    yield Question(
        question=f"{_task(scene)}\n\n{wanted}",
        answer=f"{_csv(scene, 'prediction,lower,upper', rows)}\n\n{scoring}",
        inputs={**_inputs(scene), "alpha": PREDICTION_ALPHA},
        truth=_truth(scene),
    )


def _task(scene: Scene) -> str:
    outcome, rows = bold(scene.outcome), f"{scene.plan.equations.test:,}"
    measured = scene.motif.outcome in scene.measured
    sources = "`data.parquet` and `calibration.parquet`" if measured else "`data.parquet`"
    but = f"the measurements of {outcome}" if measured else "that one"
    return (
        f"Learn from {sources} to predict {outcome}. `test_features.parquet` has "
        f"{rows} further rows of the same kind with every column of `data.parquet` "
        f"but {but}; predict {outcome} itself for each of them. Any method will do, and no causal "
        "reading is asked for."
    )


def _csv(scene: Scene, header: str, rows: list[str]) -> str:
    count = f"{scene.plan.equations.test:,}"
    return (
        f"A CSV file with the header `{header}` and then {count} lines of numbers, one "
        "for each row of `test_features.parquet` and in the same order:\n\n"
        f"{fenced('csv', chr(10).join([header, *rows, '...']))}"
    )


def _inputs(scene: Scene) -> dict[str, object]:
    return {
        "outcome": scene.outcome.name,
        "outcome_kind": scene.outcome.kind,
        "columns": scene.observed_names,
        "rows": scene.plan.equations.test,
    }


def _truth(scene: Scene) -> Truth:
    """The labels themselves are in ``causalds_labels``; here, what normalises the error."""
    labels = scene.held_out.astype(np.float64)
    return Truth(
        target={
            "kind": scene.outcome.kind,
            "sd": round_truth(float(labels.std())),
            "rows": scene.plan.equations.test,
        }
    )
