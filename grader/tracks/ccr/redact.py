"""Which figures of the track a redacted report keeps: shares over enough contexts or pairs."""

from collections.abc import Mapping
from typing import Any, Final

from grader.report.coarse import FEWEST, FEWEST_PAIRS, LOSS_DIGITS, redact_points, rounded

_POINTS: Final = {"points_simulation", "points_stated", "points_direct", "points_deductive"}
_OF_CONTEXTS: Final = {"complete_share", "contexts_vc", "contexts_vi", "contexts_ic", "contexts_ii"}
_OF_COMPOSITIONS: Final = {
    *(f"compositions_{name}" for name in ("vc", "vi", "ic", "ii", "near_valid")),
    *("pn_vc", "ps_vc", "ate_vc"),
}
_OF_PAIRS: Final = {"pairs_valid", "pairs_near_valid"}
_OF_ANSWERED_PAIRS: Final = {
    *(f"accuracy_{name}" for name in ("factual", "do_true", "do_false")),
    "monotonicity_violations",
}
_OWN_COUNTS: Final = {"contexts", "unit_answers", "unit_answers_invalid"}
"""Counts that follow from the exam and the answers, not from the truth."""


def redact(part: Mapping[str, Any], _shown: Mapping[str, Any]) -> dict[str, Any]:
    """The figures beside the headline that enough contexts, compositions or pairs are behind."""
    metrics = part["metrics"]
    simulation = part["slices"].get("family", {}).get("simulation", {})
    pairs = simulation.get("tasks", 0)
    answered = pairs - simulation.get("missing", 0) - simulation.get("invalid", 0)
    shares = (
        (_POINTS, part["tasks"] >= FEWEST_PAIRS),
        (_OF_CONTEXTS, metrics.get("contexts", 0) >= FEWEST),
        (_OF_COMPOSITIONS, metrics.get("compositions", 0) >= FEWEST_PAIRS),
        (_OF_PAIRS, pairs >= FEWEST_PAIRS),
        (_OF_ANSWERED_PAIRS, answered >= FEWEST_PAIRS),
        (_OWN_COUNTS, True),
    )
    kept = {
        name: redact_points(value, FEWEST_PAIRS) if name in _POINTS else rounded(value, LOSS_DIGITS)
        for names, enough in shares
        if enough
        for name, value in metrics.items()
        if name in names
    }
    return {"metrics": kept}
