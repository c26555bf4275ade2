"""The scenes and tasks of the small hand-made release, with truths that are worked by hand.

:data:`TASKS` maps the short names that tests and case tables use (``ate``, ``ate_unid`` …) to tasks
and their truths. Every variant is there in every form it can take: ``_unid`` where abstaining is
right, ``_none`` where there is no adjustment set, ``_zero`` where an effect is exactly 0.
"""

from dataclasses import dataclass, field
from typing import Any

from case_files import CASE_FILES, tasks_by_name

NAMES = ("Brass density", 'Corsin "flow"', "Dusk; level", "Übel rate")
"""Story names with what breaks careless SQL, CSV and Unicode handling."""


@dataclass(frozen=True, slots=True)
class HandTask:
    """One task with its truth; ``scene`` is the short name of its scene."""

    key: str
    scene: str
    inputs: dict[str, Any]
    target: dict[str, Any] = field(default_factory=dict)
    value: float | None = None
    abstain: bool = False


@dataclass(frozen=True, slots=True)
class HandScene:
    """A scene: its motif and the held-out labels of its outcome."""

    motif: str
    kind: str
    labels: tuple[float, ...]


# Population sd of (0, 0, 2, 2) is 1, so the divisor 1 + sd is 2; of (0, 0, 1, 1) it is 0.5.
SCENES = {
    "lake": HandScene("confounding", "continuous", (0.0, 0.0, 2.0, 2.0)),
    "fog": HandScene("iv", "continuous", (0.0, 0.0, 2.0, 2.0)),
    "mill": HandScene("frontdoor", "binary", (0.0, 0.0, 1.0, 1.0)),
}
A, B, C, U = NAMES
TASKS: dict[str, HandTask] = {
    name: HandTask(key, **task) for name, (key, task) in tasks_by_name(CASE_FILES).items()
}
"""Short name to task, from the file of each variant."""
