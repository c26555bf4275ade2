"""The suites of the paper and the observation/intervention regimes, as one table.

A suite fixes everything about an episode but its graph, its numbers and its crystals (paper,
sections 3 and 5.1, appendix A; Tables 9-12 for the regimes). The k of a suite counts frequency.
"""

from dataclasses import dataclass
from typing import Final, Literal

Family = Literal["linear", "quadratic"]
Setting = Literal["reference", "wide"]

SETTINGS: Final[tuple[Setting, ...]] = ("reference", "wide")
SIZES: Final = (3, 4, 5, 6, 7)


@dataclass(frozen=True, slots=True)
class Hidden:
    """A hidden disturbance: how many nodes it shifts, by how much at most, frequency included?"""

    count: int
    reach: float
    frequency: bool


@dataclass(frozen=True, slots=True)
class Suite:
    """What all episodes of a suite have in common.

    ``observations`` and ``budget`` are the numbers of prior records and interventions; a
    ``golden`` suite has the trace of an earlier experiment instead of a budget; with ``acts``
    frequency may be a cause; a ``regime`` is a view of the main suite of its size.
    """

    name: str
    size: int
    observations: int
    budget: int
    family: Family = "linear"
    hidden: Hidden | None = None
    golden: bool = False
    acts: bool = False
    regime: bool = False
    settings: tuple[Setting, ...] = ("reference",)

    @property
    def topology(self) -> tuple[int, bool]:
        """Suites with equal values share their graphs."""
        return self.size, self.acts

    @property
    def crystals(self) -> str:
        """Suites with equal values share records and crystals: the regimes and their main suite."""
        return f"main-{self.size}" if self.regime else self.name


def _suite(name: str, size: int, **more: object) -> Suite:
    fields: dict[str, object] = {"observations": 2, "budget": 4 * (size - 1), **more}
    return Suite(name, size, **fields)  # type: ignore[arg-type]


def _hidden(name: str, count: int, reach: float, frequency: bool, wide: bool) -> Suite:
    settings = SETTINGS if wide else SETTINGS[:1]
    return _suite(name, 4, hidden=Hidden(count, reach, frequency), settings=settings)


def _regimes(
    size: int, observations: tuple[int, ...], interventions: tuple[int, ...]
) -> tuple[Suite, ...]:
    """Observation alone, intervention alone, and the fewest observations with interventions."""
    pairs = [(seen, 0) for seen in observations]
    pairs += [(0, made) for made in interventions]
    pairs += [(observations[0], made) for made in interventions]
    return tuple(
        Suite(f"{seen}o{made}i-{size}", size, seen, made, regime=True) for seen, made in pairs
    )


PAPER: Final[tuple[Suite, ...]] = (
    *(_suite(f"main-{size}", size, settings=SETTINGS) for size in SIZES),
    _suite("quad-hard", 4, family="quadratic"),
    *(_hidden(f"hidden-count-{n}", n, 5.0, False, wide=False) for n in (1, 2, 3)),
    *(_hidden(f"hidden-range-{reach:g}", 1, reach, False, wide=True) for reach in (0.5, 5.0, 50.0)),
    *(_hidden(f"hidden-frequency-{n}", n, 5.0, True, wide=False) for n in (1, 2, 3)),
    *(_suite(f"freqparent-{size}", size, acts=True, settings=SETTINGS) for size in (4, 6)),
    *(_suite(f"golden-{size}", size, budget=0, golden=True) for size in (4, 6)),
)
"""The 19 suites."""

REGIMES: Final[tuple[Suite, ...]] = (
    *_regimes(4, (3, 6, 12, 24), (3, 6, 12, 24)),
    *_regimes(6, (5, 10, 20), (5, 10, 20)),
)
"""The 21 regimes of Tables 9-12."""

IMPORTED: Final = "imported/"
"""Labels of episodes whose design is another's begin so."""

SUITES: Final = {suite.name: suite for suite in (*PAPER, *REGIMES)}


def label(suite: Suite, setting: Setting) -> str:
    """The name of an episode inside its instance."""
    return f"{setting}/{suite.name}"


def read_label(text: str) -> tuple[Suite, Setting]:
    """What :func:`label` wrote."""
    setting, _, name = text.partition("/")
    return SUITES[name], "wide" if setting == "wide" else "reference"
