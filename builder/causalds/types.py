"""What one scene is planned to be."""

import json
from dataclasses import asdict, dataclass

from builder.words import Kind
from grader.jsonio import canonical


@dataclass(frozen=True, slots=True)
class ScenePlan:
    """What ``build`` needs to know besides its keys; ``variant`` is set in private splits only."""

    motif: str
    treatment_kind: Kind
    outcome_kind: Kind
    variant: str | None
    train: int
    test: int

    def to_json(self) -> str:
        """Canonical JSON, the ``config_json`` of an instance spec."""
        return canonical(asdict(self))

    @staticmethod
    def from_json(text: str) -> "ScenePlan":
        """The plan that :meth:`to_json` wrote."""
        return ScenePlan(**json.loads(text))
