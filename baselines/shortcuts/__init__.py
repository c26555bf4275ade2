"""Rules of a lazy expert: what each track's frontier exam must not reward.

A module a track; :data:`SHORTCUTS` names them all. A shortcut leaves unanswered what its rule does
not speak of.
"""

from typing import Final

from baselines.shortcuts import causalab, ccr, parrot, replayscm
from baselines.solving import Solver

SHORTCUTS: Final[tuple[tuple[str, str, str, Solver], ...]] = (
    *ccr.SHORTCUTS,
    *replayscm.SHORTCUTS,
    *causalab.SHORTCUTS,
    *parrot.SHORTCUTS,
)
"""The track, the name, what the rule is, and what answers by it."""
