"""The ``[splits.<name>.causalab]`` table of a split file, checked before any work starts."""

from dataclasses import dataclass
from typing import Final

from builder.causalab.plan.suites import PAPER, SETTINGS, SUITES, Setting, Suite, suite_of
from builder.settings import TomlTable
from grader.laboratory.model import MODES, Mode

_MOST: Final = 2_000
_FEWEST_NAMED: Final = 100
"""More three-node graphs than this are near the number there is under eight names."""


@dataclass(frozen=True, slots=True)
class Config:
    """Which suites, and how many episodes of each.

    Either ``graphs`` topologies a size that matched suites share, or ``per_suite`` episodes a
    suite, each with a graph of its own. ``mode`` says what an intervention does.
    """

    graphs: int
    per_suite: int
    episodes: tuple[tuple[Suite, Setting], ...]
    mode: Mode


def parse_config(table: TomlTable) -> Config:
    """The checked table; raises :class:`UsageError` naming the key and the fix."""
    table.only("graphs", "per_suite", "suites", "settings", "mode")
    if ("graphs" in table) == ("per_suite" in table):
        raise table.problem(
            "graphs",
            "write either graphs = 50 (matched suites share their graphs) or per_suite = 20 "
            "(every episode has a graph of its own)",
        )
    suites = _suites(table)
    settings = table.names("settings", SETTINGS, SETTINGS)
    episodes = tuple(
        (suite, setting) for suite in suites for setting in settings if setting in suite.settings
    )
    if not episodes:
        wide = [suite.name for suite in PAPER if "wide" in suite.settings]
        raise table.problem(
            "settings", f"no suite named exists in this setting; wide has {', '.join(wide)}"
        )
    graphs = table.whole("graphs", 1, _MOST) if "graphs" in table else 0
    per_suite = table.whole("per_suite", 1, _MOST) if "per_suite" in table else 0
    smallest = sum(suite.size == 3 for suite, _ in episodes)
    if smallest and max(graphs, per_suite * smallest) > _FEWEST_NAMED:
        raise table.problem(
            "graphs" if graphs else "per_suite",
            f"more than {_FEWEST_NAMED} different graphs of three named nodes are too many; use "
            "fewer, or leave main-3 out",
        )
    return Config(graphs, per_suite, episodes, table.choice("mode", MODES, "shift"))


def _suites(table: TomlTable) -> tuple[Suite, ...]:
    """The suites that are named, the paper's first, then those with regimes of one's own; without
    any, all of the paper's."""
    known = dict(SUITES)
    stated = table.values.get("suites", ())
    for name in stated if isinstance(stated, list) else ():
        try:
            own = suite_of(name) if isinstance(name, str) else None
        except ValueError as error:
            raise table.problem("suites", f'"{name}" {error}') from None
        if own is not None:
            known.setdefault(name, own)
    names = table.names("suites", tuple(known), tuple(SUITES))
    papers = [*SUITES.values()]
    found = dict.fromkeys(known[name] for name in names)
    return tuple(sorted(found, key=lambda own: papers.index(own) if own in papers else len(papers)))
