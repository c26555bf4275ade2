"""Ask for predictions of held-out outcomes (rung 1; paper A.9)."""

from collections.abc import Iterator

import numpy as np

from builder.release.arrow import round_truth
from builder.tracks.causalds.ask.wording import Question, Truth, asks, bold, number, percent
from builder.tracks.causalds.make.scene import Scene
from grader.tracks.causalds.shapes import PREDICTION_ALPHA


@asks("prediction.point_predictor")
def point_predictor(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask for a number for every held-out row: the outcome, or its probability of being 1."""
    rows = "0.31\n0.87" if scene.outcome.kind == "binary" else "0.42\n-1.05"
    words = f"prediction.of_{scene.outcome.kind}"
    slots = _file_slots(scene, "prediction", rows)
    yield Question(_inputs(scene), _truth(scene), slots=slots, words=words)


@asks("prediction.prediction_interval")
def prediction_interval(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask for a number and a central 90% interval for every held-out row."""
    slots = {
        **_file_slots(scene, "prediction,lower,upper", "0.42,-0.90,1.74\n-1.05,-2.37,0.27"),
        "level": percent(1 - PREDICTION_ALPHA),
        "tail": percent(PREDICTION_ALPHA / 2),
        "penalty": number(2 / PREDICTION_ALPHA),
    }
    yield Question({**_inputs(scene), "alpha": PREDICTION_ALPHA}, _truth(scene), slots=slots)


def _file_slots(scene: Scene, header: str, example: str) -> dict[str, str]:
    """Return the slots for the files to read and the CSV to write, with header and example rows."""
    measured = scene.motif.outcome in scene.replaced
    return {
        "rows": f"{scene.plan.equations.test:,}",
        "header": header,
        "example": example,
        "sources": "`data.parquet`" + " and `calibration.parquet`" * measured,
        "held_back": f"the measurements of {bold(scene.outcome)}" if measured else "that one",
    }


def _inputs(scene: Scene) -> dict[str, object]:
    """Return the inputs of a prediction, its columns those of the clean view."""
    return {
        "outcome": scene.outcome.name,
        "outcome_kind": scene.outcome.kind,
        "columns": scene.observed_names,
        "rows": scene.plan.equations.test,
    }


def _truth(scene: Scene) -> Truth:
    """Return the truth of a prediction: kind, standard deviation and number of the held-out
    outcomes, which normalise the error. The labels themselves are in ``causalds_labels``."""
    labels = scene.held_out.astype(np.float64)
    return Truth(
        target={
            "kind": scene.outcome.kind,
            "sd": round_truth(float(labels.std())),
            "rows": scene.plan.equations.test,
        }
    )
