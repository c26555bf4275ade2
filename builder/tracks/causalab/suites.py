"""The suites of the paper and the observation/intervention regimes, as one table.

A suite fixes everything about an episode but its graph, its numbers and its crystals (paper,
sections 5.1 to 5.3, appendices A.1, A.7 and A.8; A.10 with Tables 9-12 for the regimes). The k of a
suite counts frequency.
"""

import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from pydantic import TypeAdapter

Family = Literal["linear", "quadratic"]
SuiteSetting = Literal["reference", "wide"]

SETTINGS: Final[tuple[SuiteSetting, ...]] = ("reference", "wide")
SIZES: Final = (3, 4, 5, 6, 7)


@dataclass(frozen=True, slots=True)
class Disturbance:
    """A hidden disturbance: after each intervention ``count`` nodes, frequency among them or not,
    shift by -``reach``, 0 or ``reach``."""

    count: int
    reach: float
    frequency: bool


@dataclass(frozen=True, slots=True)
class Suite:
    """One suite: the settings that all its episodes share.

    ``size`` counts nodes, frequency included. ``observations`` and ``budget`` are the numbers of
    records shown before and of interventions allowed. A ``golden`` suite has the trace of an
    earlier experiment instead of a budget. With ``acts`` frequency may be a cause. A ``regime`` is
    a view of the main suite of its size. With ``disclosed`` the agent is told of the disturbance.
    """

    name: str
    size: int
    observations: int
    budget: int
    family: Family = "linear"
    hidden: Disturbance | None = None
    golden: bool = False
    acts: bool = False
    regime: bool = False
    settings: tuple[SuiteSetting, ...] = ("reference",)
    disclosed: bool = False

    @property
    def title(self) -> str:
        """Return the name in labels and reports: that of a disclosed suite ends in its mark."""
        return self.name + _DISCLOSED * self.disclosed

    @property
    def variant(self) -> str:
        """Return the key of the variant that its episodes are."""
        return f"laboratory.{self.family}"

    @property
    def topology(self) -> tuple[int, bool]:
        """Return a key of what fixes the graphs. Suites with equal keys share theirs."""
        return self.size, self.acts

    @property
    def crystals(self) -> str:
        """Return a key that suites with the same crystals share: regimes and their main suite."""
        return f"main-{self.size}" if self.regime else self.name


_DISCLOSED: Final = "-disclosed"
MOST_EVIDENCE: Final = 100
"""Records that a regime may show, and interventions that it may allow."""


def read_regime(name: str) -> Suite | None:
    """Return the regime that a name states, None for another name.

    ``4o8i-5`` is ``main-5`` with four records and eight interventions, in the reference setting
    only, since fewer records need not pin down a fixed property. Raises ``ValueError`` saying what
    to write.
    """
    number = "(0|[1-9][0-9]*)"
    if (found := re.fullmatch(f"{number}o{number}i-{number}", name)) is None:
        return None
    observations, budget, size = map(int, found.groups())
    if size not in SIZES:
        raise ValueError(f"has {size} nodes; end it with -{SIZES[0]} to -{SIZES[-1]}")
    if not 0 < observations + budget <= MOST_EVIDENCE:
        raise ValueError(
            f"has {observations} records and {budget} interventions; use 1 to {MOST_EVIDENCE} "
            "together"
        )
    return Suite(name, size, observations, budget, regime=True)


_TABLE: Final = tomllib.loads(Path(__file__).with_name("suites.toml").read_text(encoding="utf-8"))

PAPER: Final = TypeAdapter(tuple[Suite, ...]).validate_python(_TABLE["paper"])
"""The 19 suites."""

REGIMES: Final = tuple(filter(None, map(read_regime, _TABLE["regimes"])))
"""The 21 regimes of Tables 9-12."""

SUITES: Final = {suite.name: suite for suite in (*PAPER, *REGIMES)}
"""The paper's suites and regimes by name."""


def label(suite: Suite, setting: SuiteSetting) -> str:
    """Return the name of an episode inside its instance: ``setting/suite``."""
    return f"{setting}/{suite.title}"


def read_label(text: str) -> tuple[Suite, SuiteSetting]:
    """Return the suite and the setting that :func:`label` wrote."""
    setting, _, title = text.partition("/")
    name = title.removesuffix(_DISCLOSED)
    suite = SUITES.get(name) or read_regime(name)
    assert suite is not None, name
    return replace(suite, disclosed=name != title), "wide" if setting == "wide" else "reference"
