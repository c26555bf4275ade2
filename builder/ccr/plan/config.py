"""The ``[splits.<name>.ccr]`` table of a split file, checked before any work starts."""

from dataclasses import dataclass
from typing import Final

from builder.ccr.ask.themes import MAX_NODES, THEMES
from builder.ccr.make.graph import KINDS
from builder.ccr.make.sampling import OPERATORS, Design, check_design
from builder.settings import TomlTable

LONG_COMPONENTS: Final = 9
"""Components of a long context."""

PURPOSES: Final = ("simulation", "long", "direct", "deductive", "linear")
FRONTIER: Final = "frontier"
"""The purpose of instances of the frontier exam."""

COMPONENTS: Final = (2, 5)
NODES: Final = (3, 4)
RULES: Final = ("random", "mixed")
"""Ranges of sizes and kinds of rules where a split file does not say."""

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


def parse_config(table: TomlTable) -> Config:
    """The checked table.

    Raises ``UsageError`` naming the key and the fix for an unknown key, a wrong type or range, and
    for sizes and operators that cannot reach a measurable PNS, with the bound.
    """
    table.only(*PURPOSES, FRONTIER, *_OTHERS)
    counts = tuple((name, table.whole(name, 0, _MOST, 0)) for name in (*PURPOSES, FRONTIER))
    if not any(count for _, count in counts):
        raise table.problem("simulation", "no context is asked for; write simulation = 6")
    config = Config(
        counts,
        table.whole_range("components", 2, 5, COMPONENTS),
        table.whole_range("nodes", 2, _LARGEST, NODES),
        table.names("kinds", KINDS, KINDS),
        table.names("operators", OPERATORS, RULES),
        _tenths(table),
        table.names("themes", tuple(THEMES), tuple(THEMES)),
    )
    _check_attainable(config, table)
    return config


def _check_attainable(config: Config, table: TomlTable) -> None:
    """The largest contexts are the hardest: what they can reach, all can."""
    longest = LONG_COMPONENTS if dict(config.counts)["long"] else config.components[1]
    if longest * (config.nodes[1] - 1) + 1 > MAX_NODES:
        raise table.problem(
            "nodes",
            f"{longest} components of {config.nodes[1]} nodes have more than the {MAX_NODES} "
            "variables that stories have names for; use fewer",
        )
    most = config.components[1]
    for operators in config.operators:
        for kind in config.kinds:
            design = Design((config.nodes[1],) * most, (kind,) * most, operators, config.tenths)
            check_design(design, table.where.rstrip("."))


def _tenths(table: TomlTable) -> tuple[int, int]:
    first, last = table.number_range("probability", 0.2, 0.8, (0.2, 0.8))
    tenths = round(first * 10), round(last * 10)
    if abs(tenths[0] / 10 - first) > 1e-9 or abs(tenths[1] / 10 - last) > 1e-9:
        raise table.wrong("probability", "tenths, such as [0.2, 0.8]")
    return tenths
