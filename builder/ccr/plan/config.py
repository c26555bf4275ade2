"""The ``[splits.<name>.ccr]`` table of a split file, checked before any work starts."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from builder.ccr.ask.themes import MAX_NODES, THEMES
from builder.ccr.make.graph import KINDS, PAPER_GRAPHS
from builder.ccr.make.sampling import BOUNDS, OPERATORS, Bounds, Design, check_design
from builder.settings import Fault, TomlModel, TomlTable, check
from builder.values import Ordered, one_of, some_of

LONG_COMPONENTS: Final = 9
"""Components of a long context."""

PURPOSES: Final = ("simulation", "long", "direct", "deductive", "linear")
LATER: Final = ("inductive", "stated")
"""Purposes that came later: contexts of theirs follow all others, which do not depend on them."""
INCONSISTENT: Final = 3
"""The fewest components whose local values can contradict each other."""

_Count = Annotated[int, Field(ge=0, le=1_000_000)]
_Components = Annotated[int, Field(ge=2, le=5)]
_Nodes = Annotated[int, Field(ge=2, le=12)]
_Local = Annotated[float, Field(ge=1e-4, le=1)]
_Probability = Annotated[float, Field(ge=0.2, le=0.8)]


class Config(TomlModel):
    """How many contexts of each purpose, and what they are made of.

    ``components``, ``nodes`` (of one component) and ``probability`` (of an exogenous variable, in
    tenths) are inclusive ranges. ``graph`` is one of the paper's own, for all contexts;
    ``local_pns`` are the least and the most of an adjacent pair, ``global_pns`` is the least of the
    whole.
    """

    simulation: _Count = 0
    long: _Count = 0
    direct: _Count = 0
    deductive: _Count = 0
    linear: _Count = 0
    inductive: _Count = 0
    stated: _Count = 0
    components: Annotated[tuple[_Components, _Components], Ordered] = (2, 5)
    nodes: Annotated[tuple[_Nodes, _Nodes], Ordered] = (3, 4)
    kinds: Annotated[tuple[str, ...], some_of(KINDS)] = KINDS
    graph: Annotated[str, one_of(PAPER_GRAPHS)] | None = None
    operators: Annotated[tuple[str, ...], some_of(OPERATORS)] = ("random", "mixed")
    probability: Annotated[tuple[_Probability, _Probability], Ordered] = (0.2, 0.8)
    local_pns: Annotated[tuple[_Local, _Local], Ordered] | None = None
    global_pns: float | None = Field(default=None, ge=1e-6, le=1)
    themes: Annotated[tuple[str, ...], some_of(tuple(THEMES))] = tuple(THEMES)

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """Contexts by purpose; of the ``LATER`` purposes only those asked for."""
        counts = {name: getattr(self, name) for name in (*PURPOSES, *LATER)}
        return tuple((name, n) for name, n in counts.items() if n or name in PURPOSES)

    @property
    def tenths(self) -> tuple[int, int]:
        """Ten times the probabilities."""
        return round(self.probability[0] * 10), round(self.probability[1] * 10)

    @property
    def pns(self) -> tuple[float, float, float] | None:
        """The bounds of the quantities, where the file says some."""
        if self.local_pns is None and self.global_pns is None:
            return None
        local = self.local_pns or (float(BOUNDS.low), float(BOUNDS.high))
        return *local, float(BOUNDS.whole) if self.global_pns is None else self.global_pns

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if not any(count for _, count in self.counts):
            raise Fault("no context is asked for; write simulation = 6", "simulation")
        tenths = [tenth / 10 for tenth in self.tenths]
        if any(abs(a - b) > 1e-9 for a, b in zip(tenths, self.probability, strict=True)):
            stated = list(self.probability)
            raise Fault(f"must be tenths, such as [0.2, 0.8], not {stated}", "probability")
        for key in ("components", "nodes", "kinds", "long", "linear") if self.graph else ():
            if key in self.model_fields_set and getattr(self, key):
                what = f'cannot be had with graph = "{self.graph}"; leave one of them out'
                raise Fault(what, key)
        longest = LONG_COMPONENTS if self.long else self.components[1]
        if self.graph is None and longest * (self.nodes[1] - 1) + 1 > MAX_NODES:
            raise Fault(
                f"{longest} components of {self.nodes[1]} nodes have more than the {MAX_NODES} "
                "variables that stories have names for; use fewer",
                "nodes",
            )
        return self

    def largest(self) -> Iterator[tuple[tuple[int, ...], tuple[str, ...]]]:
        """Sizes and kinds of the components of the largest contexts."""
        if self.graph is not None:
            kinds, sizes = zip(*PAPER_GRAPHS[self.graph], strict=True)
            yield sizes, kinds
            return
        most = max(self.components[1], INCONSISTENT if self.inductive else 0)
        for kind in self.kinds:
            yield (self.nodes[1],) * most, (kind,) * most


def bounds_of(pns: tuple[float, float, float] | None) -> Bounds:
    """The bounds that a split file states, as the decimal numbers that stand there."""
    return BOUNDS if pns is None else Bounds(*(Fraction(repr(value)) for value in pns))


def parse_config(table: TomlTable) -> Config:
    """The checked table; raises ``UsageError`` naming the key and the fix.

    Of sizes and operators that cannot reach a measurable PNS it names the bound. The largest
    contexts are the hardest: what they can reach, all can.
    """
    config = check(Config, table)
    for operators in config.operators:
        for sizes, kinds in config.largest():
            design = Design(sizes, kinds, operators, config.tenths, bounds_of(config.pns))
            check_design(design, table.where.rstrip("."))
    return config
