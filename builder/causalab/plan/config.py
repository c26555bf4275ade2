"""The ``[splits.<name>.causalab]`` table of a split file, checked before any work starts."""

from typing import Annotated, Final, Self

from pydantic import BeforeValidator, Field, model_validator

from builder.causalab.plan.suites import PAPER, SETTINGS, SUITES, Setting, Suite, suite_of
from builder.settings import Fault, TomlModel, TomlTable, check
from builder.values import some, some_of
from grader.laboratory.model import Mode

_MOST: Final = 2_000
_FEWEST_NAMED: Final = 100
"""More three-node graphs than this are near the number there is under eight names."""


def _suites(stated: object) -> tuple[str, ...]:
    """The names of suites, the paper's first, then those with regimes of one's own."""
    own = []
    for name in stated if isinstance(stated, list | tuple) else ():
        try:
            if isinstance(name, str) and suite_of(name) is not None and name not in SUITES:
                own.append(name)
        except ValueError as error:
            raise Fault(f'"{name}" {error}') from None
    return some(stated, (*SUITES, *dict.fromkeys(own)))


class Config(TomlModel):
    """Which suites, and how many episodes of each.

    Either ``graphs`` topologies a size that matched suites share, or ``per_suite`` episodes a
    suite, each with a graph of its own; 0 for the other. ``mode`` says what an intervention does.
    """

    graphs: int = Field(default=0, ge=1, le=_MOST)
    per_suite: int = Field(default=0, ge=1, le=_MOST)
    suites: Annotated[tuple[str, ...], BeforeValidator(_suites)] = tuple(SUITES)
    settings: Annotated[tuple[Setting, ...], some_of(SETTINGS)] = SETTINGS
    mode: Mode = "shift"

    @property
    def episodes(self) -> tuple[tuple[Suite, Setting], ...]:
        """The suites of the paper in its order, then the others, each in its settings."""
        papers = [*SUITES.values()]
        found = [suite for suite in dict.fromkeys(map(suite_of, self.suites)) if suite]
        found.sort(key=lambda own: papers.index(own) if own in papers else len(papers))
        return tuple((own, one) for own in found for one in self.settings if one in own.settings)

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if bool(self.graphs) == bool(self.per_suite):
            raise Fault(
                "write either graphs = 50 (matched suites share their graphs) or per_suite = 20 "
                "(every episode has a graph of its own)",
                "graphs",
            )
        if not self.episodes:
            wide = ", ".join(suite.name for suite in PAPER if "wide" in suite.settings)
            raise Fault(f"no suite named exists in this setting; wide has {wide}", "settings")
        smallest = sum(suite.size == 3 for suite, _ in self.episodes)
        if smallest and max(self.graphs, self.per_suite * smallest) > _FEWEST_NAMED:
            raise Fault(
                f"more than {_FEWEST_NAMED} different graphs of three named nodes are too many; "
                "use fewer, or leave main-3 out",
                "graphs" if self.graphs else "per_suite",
            )
        return self


def parse_config(table: TomlTable) -> Config:
    """The checked table; raises :class:`UsageError` naming the key and the fix."""
    return check(Config, table)
