"""What the equations of a scene on a wild graph are to bring about, planned scene by scene."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

PREFIX: Final = "wild_"
"""How the structure labels of wild graphs begin; the stratum follows."""

WILD: Final = "wild"
"""The motif that scenes on wild graphs are listed under."""

UNIDENTIFIED: Final = ("hedge_elsewhere", "natural_kept")
"""Strata without an identifiable average effect."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Conditions on a world; None where either will do. Those on effects count where the effects
    are identifiable, and not zero by the graph.

    ``reversed``: the average effect and the correlation of treatment and outcome have different
    signs. ``misled``: who adjusts for nothing, and who adjusts for the direct causes of the
    treatment or for everything, as far as measured, where that is not valid, misses the average
    effect by much. ``opposed``: adjusting for the direct causes of the treatment, or for
    everything, as far as measured, where that is not valid, gives that effect the wrong sign.
    ``indirect``: the indirect effect outweighs the direct one. ``flipped``: the association changes
    sign given the variable that a question names.
    """

    reversed: bool | None = None
    misled: bool | None = None
    indirect: bool | None = None
    flipped: bool | None = None
    opposed: bool | None = None


@dataclass(frozen=True, slots=True)
class Wild:
    """The stratum that a wild graph was drawn for, and what its equations must do."""

    stratum: str
    wanted: Wanted = Wanted()

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> "Wild":
        """What ``dataclasses.asdict`` took apart."""
        return Wild(record["stratum"], Wanted(**record["wanted"]))
