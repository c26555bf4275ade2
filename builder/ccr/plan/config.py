"""The ``[splits.<name>.ccr]`` table of a split file, checked before any work starts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from builder.ccr.ask.themes import MAX_NODES, THEMES
from builder.ccr.make.graph import KINDS
from builder.ccr.make.sampling import OPERATORS, Design, check_design
from grader.errors import UsageError
from grader.names import did_you_mean

LONG_COMPONENTS: Final = 9
"""Components of a long context."""

PURPOSES: Final = ("simulation", "long", "direct", "deductive", "linear")
_OTHERS: Final = ("components", "nodes", "kinds", "operators", "probability", "themes")
_MOST: Final = 1_000_000
_LARGEST: Final = 12


@dataclass(frozen=True, slots=True)
class Config:
    """How many contexts of each purpose, and what they are made of.

    ``components``, ``nodes`` (of one component) and ``tenths`` (ten times an exogenous
    probability) are inclusive ranges.
    """

    counts: tuple[tuple[str, int], ...]
    components: tuple[int, int]
    nodes: tuple[int, int]
    kinds: tuple[str, ...]
    operators: tuple[str, ...]
    tenths: tuple[int, int]
    themes: tuple[str, ...]


def parse_config(table: Mapping[str, object], where: str) -> Config:
    """The checked table; ``where`` is its place in the split file.

    Raises ``UsageError`` naming the key and the fix for an unknown key, a wrong type or range, and
    for sizes and operators that cannot reach a measurable PNS, with the bound.
    """
    for key in table:
        if key not in (*PURPOSES, *_OTHERS):
            raise UsageError(
                f"{where}.{key}: unknown key{did_you_mean(key, (*PURPOSES, *_OTHERS))}"
            )
    counts = tuple(
        (name, _whole(table.get(name, 0), 0, _MOST, f"{where}.{name}")) for name in PURPOSES
    )
    if not any(count for _, count in counts):
        raise UsageError(f"{where}.simulation: no context is asked for; write simulation = 6")
    config = Config(
        counts,
        _range(table.get("components", [2, 5]), 2, 5, f"{where}.components"),
        _range(table.get("nodes", [3, 4]), 2, _LARGEST, f"{where}.nodes"),
        _choice(table.get("kinds", list(KINDS)), KINDS, f"{where}.kinds"),
        _choice(table.get("operators", ["random", "mixed"]), OPERATORS, f"{where}.operators"),
        _tenths(table.get("probability", [0.2, 0.8]), f"{where}.probability"),
        _choice(table.get("themes", list(THEMES)), tuple(THEMES), f"{where}.themes"),
    )
    _check_attainable(config, where)
    return config


def _check_attainable(config: Config, where: str) -> None:
    """The largest contexts are the hardest: what they can reach, all can."""
    longest = LONG_COMPONENTS if dict(config.counts)["long"] else config.components[1]
    if longest * (config.nodes[1] - 1) + 1 > MAX_NODES:
        raise UsageError(
            f"{where}.nodes: {longest} components of {config.nodes[1]} nodes have more than the "
            f"{MAX_NODES} variables that stories have names for; use fewer"
        )
    most = config.components[1]
    for operators in config.operators:
        for kind in config.kinds:
            design = Design((config.nodes[1],) * most, (kind,) * most, operators, config.tenths)
            check_design(design, where)


def _whole(value: object, low: int, high: int, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise UsageError(f"{where}: {value!r} does not do; write a whole number, {low} to {high}")
    return value


def _range(value: object, low: int, high: int, where: str) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2:
        raise UsageError(f"{where}: must be the least and the most, such as [{low}, {high}]")
    first, last = (_whole(number, low, high, where) for number in value)
    if first > last:
        raise UsageError(f"{where}: {first} is more than {last}; swap them")
    return first, last


def _tenths(value: object, where: str) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2:
        raise UsageError(f"{where}: must be the least and the greatest, such as [0.2, 0.8]")
    found = []
    for number in value:
        tenth = round(number * 10) if isinstance(number, int | float) else 0
        if isinstance(number, bool) or not 2 <= tenth <= 8 or abs(tenth / 10 - number) > 1e-9:
            raise UsageError(f"{where}: {number!r} does not do; write tenths from 0.2 to 0.8")
        found.append(tenth)
    if found[0] > found[1]:
        raise UsageError(f"{where}: {value[0]} is more than {value[1]}; swap them")
    return found[0], found[1]


def _choice(value: object, known: tuple[str, ...], where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
        raise UsageError(f"{where}: must be a list of names, such as {list(known[:2])}")
    for name in value:
        if name not in known:
            raise UsageError(f"{where}: unknown name '{name}'{did_you_mean(name, known)}")
    return tuple(name for name in known if name in value)
