"""Which figures of the track a redacted report keeps: shares over enough contexts or pairs."""

from collections.abc import Mapping
from typing import Any

from grader.report.coarse import FEWEST, FEWEST_PAIRS, LOSS_DIGITS, redact_points, rounded
from grader.tracks.ccr.figures import FIGURES, About


def redact(part: Mapping[str, Any], _shown: Mapping[str, Any]) -> dict[str, Any]:
    """The figures beside the headline that enough contexts, compositions or pairs are behind."""
    metrics = part["metrics"]
    simulation = part["slices"].get("family", {}).get("simulation", {})
    pairs = simulation.get("tasks", 0)
    answered = pairs - simulation.get("missing", 0) - simulation.get("invalid", 0)
    enough: dict[About, bool] = {
        "tasks": part["tasks"] >= FEWEST_PAIRS,
        "contexts": metrics.get("contexts", 0) >= FEWEST,
        "compositions": metrics.get("compositions", 0) >= FEWEST_PAIRS,
        "pairs": pairs >= FEWEST_PAIRS,
        "answered pairs": answered >= FEWEST_PAIRS,
        "anything": True,
        "truth": False,
    }
    kept = {
        figure.name: redact_points(metrics[figure.name], FEWEST_PAIRS)
        if figure.about == "tasks"
        else rounded(metrics[figure.name], LOSS_DIGITS)
        for figure in FIGURES
        if enough[figure.about] and figure.name in metrics
    }
    return {"metrics": kept}
