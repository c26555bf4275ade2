"""Scorers of the causalds track: one function per variant, found by ``family.variant``.

Each takes the task, its truth and a *committed* answer (validated, not abstaining) to an
identifiable target, and returns a :class:`~grader.model.Content`. Abstentions, missing and invalid
answers never get here (:mod:`grader.route`). Formulas: CausalDS §3.7 and Tables 8-10.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from grader.model import Content, Task, Truth
from grader.tracks.causalds import labels, numbers, prediction, sets

Scorer = Callable[[Task, Truth, Any], Content]

SCORERS: Final[Mapping[str, Scorer]] = {
    "prediction.point_predictor": prediction.point_predictor,
    "prediction.prediction_interval": prediction.prediction_interval,
    "association.sign_only": labels.exact_label,
    "association.effect_size_point": numbers.point,
    "causal_sketch.edges_only": sets.edges,
    "identification.method_label": labels.exact_label,
    "identification.all_minimal_adjustment_sets": sets.adjustment_sets,
    "effect_estimate.ate_point": numbers.point,
    "effect_estimate.ate_uq_95": numbers.effect_interval,
    "counterfactual_effect.effect_point": numbers.point,
}
