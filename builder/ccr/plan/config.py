"""The ``[splits.<name>.ccr]`` table of a split file, checked before any work starts."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from builder.ccr.ask.themes import MAX_NODES, THEMES
from builder.ccr.make.graph import KINDS, PAPER_GRAPHS
from builder.ccr.make.sampling import BOUNDS, OPERATORS, Bounds, Design, check_design
from builder.settings import TomlTable

LONG_COMPONENTS: Final = 9
"""Components of a long context."""

PURPOSES: Final = ("simulation", "long", "direct", "deductive", "linear")
LATER: Final = ("inductive", "stated")
"""Purposes that came later: contexts of theirs follow all others, which do not depend on them."""
INCONSISTENT: Final = 3
"""The fewest components whose local values can contradict each other."""

COMPONENTS: Final = (2, 5)
NODES: Final = (3, 4)
RULES: Final = ("random", "mixed")
"""Ranges of sizes and kinds of rules where a split file does not say."""

_SHAPES: Final = ("components", "nodes", "kinds")
_OTHERS: Final = (
    *_SHAPES,
    "graph",
    "operators",
    "probability",
    "local_pns",
    "global_pns",
    "themes",
)
_MOST: Final = 1_000_000
_LARGEST: Final = 12


@dataclass(frozen=True, slots=True)
class Config:
    """How many contexts of each purpose, and what they are made of.

    ``components``, ``nodes`` (of one component) and ``tenths`` (ten times an exogenous
    probability) are inclusive ranges. ``graph`` is one of the paper's own, for all contexts;
    ``pns`` are the least and the most of an adjacent pair and the least of the whole, where the
    file says so. Of the ``LATER`` purposes only those asked for are among the ``counts``.
    """

    counts: tuple[tuple[str, int], ...]
    components: tuple[int, int]
    nodes: tuple[int, int]
    kinds: tuple[str, ...]
    operators: tuple[str, ...]
    tenths: tuple[int, int]
    themes: tuple[str, ...]
    graph: str | None = None
    pns: tuple[float, float, float] | None = None

    @property
    def bounds(self) -> Bounds:
        """What the contexts' quantities must keep."""
        return bounds_of(self.pns)


def bounds_of(pns: tuple[float, float, float] | None) -> Bounds:
    """The bounds that a split file states, as the decimal numbers that stand there."""
    return BOUNDS if pns is None else Bounds(*(Fraction(repr(value)) for value in pns))


def parse_config(table: TomlTable) -> Config:
    """The checked table.

    Raises ``UsageError`` naming the key and the fix for an unknown key, a wrong type or range, and
    for sizes and operators that cannot reach a measurable PNS, with the bound.
    """
    table.only(*PURPOSES, *LATER, *_OTHERS)
    names = (*PURPOSES, *(name for name in LATER if table.values.get(name)))
    counts = tuple((name, table.whole(name, 0, _MOST, 0)) for name in names)
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
        _graph(table),
        _pns(table),
    )
    _check_attainable(config, table)
    return config


def _graph(table: TomlTable) -> str | None:
    if "graph" not in table:
        return None
    graph = table.choice("graph", tuple(PAPER_GRAPHS))
    for key in (*_SHAPES, "long", "linear"):
        if table.values.get(key):
            raise table.problem(key, f'cannot be had with graph = "{graph}"; leave one of them out')
    return graph


def _pns(table: TomlTable) -> tuple[float, float, float] | None:
    if "local_pns" not in table and "global_pns" not in table:
        return None
    usual = float(BOUNDS.low), float(BOUNDS.high)
    local = table.number_range("local_pns", 1e-4, 1, usual)
    return *local, table.number("global_pns", 1e-6, 1, float(BOUNDS.whole))


def _check_attainable(config: Config, table: TomlTable) -> None:
    """The largest contexts are the hardest: what they can reach, all can."""
    counts = dict(config.counts)
    if config.graph is None:
        longest = LONG_COMPONENTS if counts["long"] else config.components[1]
        if longest * (config.nodes[1] - 1) + 1 > MAX_NODES:
            raise table.problem(
                "nodes",
                f"{longest} components of {config.nodes[1]} nodes have more than the {MAX_NODES} "
                "variables that stories have names for; use fewer",
            )
    for operators in config.operators:
        for sizes, kinds in _largest(config, "inductive" in counts):
            design = Design(sizes, kinds, operators, config.tenths, config.bounds)
            check_design(design, table.where.rstrip("."))


def _largest(config: Config, inductive: bool) -> Iterator[tuple[tuple[int, ...], tuple[str, ...]]]:
    """Sizes and kinds of the components of the largest contexts."""
    if config.graph is not None:
        kinds, sizes = zip(*PAPER_GRAPHS[config.graph], strict=True)
        yield sizes, kinds
        return
    most = max(config.components[1], INCONSISTENT if inductive else 0)
    for kind in config.kinds:
        yield (config.nodes[1],) * most, (kind,) * most


def _tenths(table: TomlTable) -> tuple[int, int]:
    first, last = table.number_range("probability", 0.2, 0.8, (0.2, 0.8))
    tenths = round(first * 10), round(last * 10)
    if abs(tenths[0] / 10 - first) > 1e-9 or abs(tenths[1] / 10 - last) > 1e-9:
        raise table.wrong("probability", "tenths, such as [0.2, 0.8]")
    return tenths
