"""The ``[splits.<name>.causalab]`` table of a split file, checked before any work starts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from builder.causalab.plan.suites import PAPER, SETTINGS, SUITES, Setting, Suite
from grader.errors import UsageError
from grader.laboratory.model import MODES, Mode
from grader.names import did_you_mean

_KNOWN: Final = ("graphs", "per_suite", "suites", "settings", "mode")
Name = TypeVar("Name", bound=str)

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


def parse_config(table: Mapping[str, object], where: str) -> Config:
    """The checked table; raises :class:`UsageError` naming the key and the fix."""
    for key in table:
        if key not in _KNOWN:
            raise UsageError(f"{where}.{key}: unknown key{did_you_mean(key, _KNOWN)}")
    if ("graphs" in table) == ("per_suite" in table):
        raise UsageError(
            f"{where}.graphs: write either graphs = 50 (matched suites share their graphs) or "
            "per_suite = 20 (every episode has a graph of its own)"
        )
    suites = _choice(table.get("suites", list(SUITES)), tuple(SUITES), f"{where}.suites")
    settings = _choice(table.get("settings", list(SETTINGS)), SETTINGS, f"{where}.settings")
    episodes = tuple(
        (SUITES[name], setting)
        for name in suites
        for setting in SETTINGS
        if setting in settings and setting in SUITES[name].settings
    )
    if not episodes:
        wide = [suite.name for suite in PAPER if "wide" in suite.settings]
        raise UsageError(
            f"{where}.settings: no suite named exists in this setting; wide has {', '.join(wide)}"
        )
    graphs = _whole(table["graphs"], f"{where}.graphs") if "graphs" in table else 0
    per_suite = _whole(table["per_suite"], f"{where}.per_suite") if "per_suite" in table else 0
    smallest = [suite for suite, _ in episodes if suite.size == 3]
    if max(graphs, per_suite * len(smallest)) > _FEWEST_NAMED and smallest:
        key = "graphs" if graphs else "per_suite"
        raise UsageError(
            f"{where}.{key}: more than {_FEWEST_NAMED} different graphs of three named nodes are "
            "too many; use fewer, or leave main-3 out"
        )
    (mode,) = _choice([table.get("mode", "shift")], MODES, f"{where}.mode")
    return Config(graphs, per_suite, episodes, mode)


def _choice(value: object, known: tuple[Name, ...], where: str) -> tuple[Name, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
        raise UsageError(f"{where}: must be a list of names, such as {list(known[:2])}")
    for name in value:
        if name not in known:
            raise UsageError(f"{where}: unknown name '{name}'{did_you_mean(name, known)}")
    return tuple(name for name in known if name in value)


def _whole(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _MOST:
        raise UsageError(f"{where}: must be a whole number from 1 to {_MOST}, not {value!r}")
    return value
