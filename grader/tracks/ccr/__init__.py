"""Scorers of the ccr track, one per variant; see ``docs/ccr.md``."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from grader.model import Content, Task, Truth
from grader.tracks.ccr.numbers import score_deduction, score_quantities
from grader.tracks.ccr.simulation import score_pair

SCORERS: Final[Mapping[str, Callable[[Task, Truth, Any], Content]]] = {
    "simulation.pair": score_pair,
    "direct.boolean": score_quantities,
    "direct.linear": score_quantities,
    "direct.trap": score_quantities,
    "deductive.boolean": score_deduction,
    "deductive.linear": score_deduction,
}
