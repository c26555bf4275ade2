"""The observation views and their settings (paper 3.2 and A.6)."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Annotated, Any, Final

from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from builder.settings import STRICT

_Least = Annotated[float, Field(ge=0, le=1e6)]


@checked(frozen=True, slots=True, config=STRICT)
class Thresholds:
    """Least information of a bundle, per squared sd of the concept: over a grid, the smallest
    value, the mean, and the 10% and 25% quantiles."""

    least: _Least = 0.03
    mean: _Least = 0.12
    q10: _Least = 0.04
    q25: _Least = 0.08

    def times(self, factor: float) -> "Thresholds":
        """All of them stricter by a factor."""
        return Thresholds(*(factor * value for value in astuple(self)))


@dataclass(frozen=True, slots=True)
class View:
    """How one view shows a scene; ``clean`` shows every observed variable as it is.

    ``concepts`` and ``columns`` are the fewest and most replaced variables and measurements of
    each; ``noise`` the range of noise scales, in sds of the concept; ``calibration`` the share of
    training rows in which the replaced variables are shown; ``neural``, ``mixture`` and
    ``heteroscedastic`` are shares of continuous measurements; ``spread`` bounds the factor of a
    varying noise scale.
    """

    name: str
    concepts: tuple[int, int] = (0, 0)
    columns: tuple[int, int] = (0, 0)
    noise: tuple[float, float] = (0.0, 0.0)
    calibration: float = 0.0
    neural: float = 0.0
    mixture: float = 0.0
    heteroscedastic: float = 0.0
    spread: tuple[float, float] = (0.3, 3.0)
    thresholds: Thresholds = Thresholds()  # noqa: RUF009 (it is frozen)

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> "View":
        """The view that ``dataclasses.asdict`` took apart."""
        pairs = {key: tuple(record[key]) for key in ("concepts", "columns", "noise", "spread")}
        return View(**{**record, **pairs, "thresholds": Thresholds(**record["thresholds"])})


CLEAN: Final = View("clean")

VIEWS: Final[Mapping[str, View]] = {
    "clean": CLEAN,
    "proxy": View("proxy", (1, 3), (2, 10), (1.0, 3.0), 0.15, 0.30, 0.30, 0.30),
    "proxy_hard": View(
        "proxy_hard", (2, 5), (2, 10), (1.5, 4.0), 0.10, 0.45, 0.45, 0.60, (0.5, 4.0)
    ),
}
"""The views with their default settings, easiest first."""
