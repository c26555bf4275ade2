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
_COUNT: Final = "(0|[1-9][0-9]*)"
_VIEW: Final = re.compile(f"{_COUNT}o{_COUNT}i-{_COUNT}")
_VARIED: Final = re.compile(rf"(\S+) {_COUNT}o{_COUNT}i")


def _view(name: str) -> Suite | None:
    """Return the regime of a main suite that such a name (``4o8i-5``) states, or None."""
    if (found := _VIEW.fullmatch(name)) is None:
        return None
    observations, budget, size = map(int, found.groups())
    return Suite(name, size, observations, budget, regime=True)


_TABLE: Final = tomllib.loads(Path(__file__).with_name("suites.toml").read_text(encoding="utf-8"))

PAPER: Final = TypeAdapter(tuple[Suite, ...]).validate_python(_TABLE["paper"])
"""The 19 suites."""

REGIMES: Final = tuple(filter(None, map(_view, _TABLE["regimes"])))
"""The 21 regimes of Tables 9-12."""

SUITES: Final = {suite.name: suite for suite in (*PAPER, *REGIMES)}
"""The paper's suites and regimes by name."""

MOST_EVIDENCE: Final = 100
"""Records that a regime may show, and interventions that it may allow."""


def suite_of(text: str) -> Suite | None:
    """Return the suite that a split file or a label names, or None for no name of one.

    Beside :data:`SUITES`, ``4o8i-5`` is ``main-5`` with four records and eight interventions, and
    ``quad-hard 2o6i`` another regime of a suite: in the reference setting only, since fewer records
    need not pin down a fixed property. Raises ``ValueError`` saying what to write.
    """
    if text in SUITES:
        return SUITES[text]
    if own := _view(text):
        if own.size not in SIZES:
            raise ValueError(f"has {own.size} nodes; end it with -{SIZES[0]} to -{SIZES[-1]}")
    elif (varied := _VARIED.fullmatch(text)) and varied.group(1) in SUITES:
        base = SUITES[varied.group(1)]
        seen, allowed = int(varied.group(2)), int(varied.group(3))
        if (seen, allowed) == (base.observations, base.budget):
            return base
        own = replace(base, observations=seen, budget=allowed, settings=SETTINGS[:1])
        if base.regime:
            raise ValueError(f"names two regimes; write {seen}o{allowed}i-{base.size}")
        if base.golden:
            raise ValueError("has a trace of experiments for a regime; leave its regime out")
        if base.hidden and not own.budget:
            raise ValueError("is about disturbed experiments; allow at least one, such as 2o1i")
    else:
        return None
    if not 0 < own.observations + own.budget <= MOST_EVIDENCE:
        raise ValueError(
            f"has {own.observations} records and {own.budget} interventions; use 1 to "
            f"{MOST_EVIDENCE} together"
        )
    return own


def label(suite: Suite, setting: SuiteSetting) -> str:
    """Return the name of an episode inside its instance: ``setting/suite``, and the numbers of
    records and interventions ("4o8i") where these are not the usual ones of the suite."""
    usual = SUITES.get(suite.name, suite)
    if (usual.observations, usual.budget) == (suite.observations, suite.budget):
        return f"{setting}/{suite.title}"
    return f"{setting}/{suite.title} {suite.observations}o{suite.budget}i"


def read_label(text: str) -> tuple[Suite, SuiteSetting]:
    """Return the suite and the setting that :func:`label` wrote."""
    setting, _, name = text.partition("/")
    suite = suite_of(name.replace(_DISCLOSED, ""))
    assert suite is not None, name
    suite = replace(suite, disclosed=_DISCLOSED in name)
    return suite, "wide" if setting == "wide" else "reference"
