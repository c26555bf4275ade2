"""The settings of a split, and the plan of each context: design, theme, question.

Sizes, kinds and operators are drawn; themes and variants take turns, and verdicts unless the truth
is private. Which index receives which plan is a permutation seeded by the split's root. All but
simulation tasks have contexts of their own: a value given in one task is never another's answer."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Annotated, Final, Literal, Self

import numpy as np
from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from builder.splits.seeds import InstancePlan, keyed_specs, pick, plan_stream, random_order
from builder.splits.settings import Fault, Ordered, TomlModel, TomlTable, check, one_of, some_of
from builder.splits.track import InstanceSpec, TaskPlan
from builder.tracks.ccr.model import KINDS, PAPER_GRAPHS
from builder.tracks.ccr.themes import MAX_NODES, THEMES
from grader.errors import UsageError

TRACK_NAME: Final = "ccr"

VARIANTS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "simulation": ("simulation.pair",),
    "long": ("simulation.pair",),
    "direct": ("direct.boolean",),
    "deductive": ("deductive.boolean",),
    "linear": ("direct.linear", "deductive.linear", "direct.trap"),
    "inductive": ("inductive.boolean",),
    "stated": ("inductive.stated",),
    "additive": ("direct.additive", "inductive.additive", "deductive.additive"),
}

LATER: Final = ("inductive", "stated", "additive")
"""Purposes that came later: contexts of theirs follow all others, which do not depend on them."""

LINEAR: Final = ("linear", "additive")
"""Purposes whose contexts are linear, with graphs of their own."""

Verdict = Literal["value", "inconsistent", "insufficient"]
VERDICTS: Final[tuple[Verdict, ...]] = ("value", "inconsistent", "insufficient")
_TURNS: Final[tuple[Verdict, ...]] = ("value", "inconsistent", "value", "insufficient")

OPERATORS: Final = ("or", "and", "random", "mixed")
"""All nodes *or*, all *and*, one operator drawn for each node, or two for each node."""

LONG_COMPONENTS: Final = 9
MEASURED_SPAN: Final = 5
"""The most components that a pair may span to be asked about."""
INCONSISTENT: Final = 3
"""The fewest components whose local values can contradict each other."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of the PNS: from ``low`` to ``high`` of an adjacent pair, at least ``whole`` of
    the global pair, or of a pair that takes its place in a long context."""

    low: Fraction = Fraction(15, 100)
    high: Fraction = Fraction(85, 100)
    whole: Fraction = Fraction(2, 100)


BOUNDS: Final = Bounds()


@dataclass(frozen=True, slots=True)
class Design:
    """How a context is drawn: numbers of nodes and kinds of graph by component, one of
    :data:`OPERATORS`, the least and the greatest probability in ``tenths``, and bounds."""

    sizes: tuple[int, ...]
    kinds: tuple[str, ...]
    operators: str
    tenths: tuple[int, int] = (2, 8)
    bounds: Bounds = BOUNDS


_Count = Annotated[int, Field(ge=0, le=1_000_000)]
_Components = Annotated[int, Field(ge=2, le=5)]
_Nodes = Annotated[int, Field(ge=2, le=12)]
_Local = Annotated[float, Field(ge=1e-4, le=1)]
_Probability = Annotated[float, Field(ge=0.2, le=0.8)]


class ContextSettings(TomlModel):
    """The numbers of contexts of each purpose, and what their components are drawn from.

    ``components``, ``nodes`` (of one component), ``probability`` (of an exogenous variable) and
    ``local_pns`` (of an adjacent pair) are inclusive ranges, ``global_pns`` is the least of the
    global pair. ``graph`` names one of the paper's own graphs, for all contexts.
    """

    simulation: _Count = 0
    long: _Count = 0
    direct: _Count = 0
    deductive: _Count = 0
    linear: _Count = 0
    inductive: _Count = 0
    stated: _Count = 0
    additive: _Count = 0
    components: Annotated[tuple[_Components, _Components], Ordered] = (2, 5)
    nodes: Annotated[tuple[_Nodes, _Nodes], Ordered] = (3, 4)
    kinds: Annotated[tuple[str, ...], some_of(KINDS)] = KINDS
    graph: Annotated[str, one_of(PAPER_GRAPHS)] | None = None
    operators: Annotated[tuple[str, ...], some_of(OPERATORS)] = ("random", "mixed")
    probability: Annotated[tuple[_Probability, _Probability], Ordered] = (0.2, 0.8)
    local_pns: Annotated[tuple[_Local, _Local], Ordered] = (0.15, 0.85)
    global_pns: float = Field(default=0.02, ge=1e-6, le=1)
    themes: Annotated[tuple[str, ...], some_of(tuple(THEMES))] = tuple(THEMES)

    @property
    def counts(self) -> dict[str, int]:
        """Return the numbers of contexts by purpose."""
        return {purpose: getattr(self, purpose) for purpose in VARIANTS_OF}

    def design(self, sizes: tuple[int, ...], kinds: tuple[str, ...], operators: str) -> Design:
        """Return the design of these components with the table's exact decimal bounds."""
        tenths = round(self.probability[0] * 10), round(self.probability[1] * 10)
        bounds = (Fraction(repr(value)) for value in (*self.local_pns, self.global_pns))
        return Design(sizes, kinds, operators, tenths, Bounds(*bounds))

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        """Return the settings. Raise Fault, naming the key, where they contradict each other."""
        if not any(self.counts.values()):
            raise Fault("no context is asked for; write simulation = 6", "simulation")
        if any(abs(10 * value - round(10 * value)) > 1e-8 for value in self.probability):
            stated = list(self.probability)
            raise Fault(f"must be tenths, such as [0.2, 0.8], not {stated}", "probability")
        for key in ("components", "nodes", "kinds", "long", *LINEAR) if self.graph else ():
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


def parse_settings(table: TomlTable) -> ContextSettings:
    """Return the checked settings, or raise ``UsageError`` with the key or unreachable bound."""
    config = check(ContextSettings, table)
    most = max(config.components[1], INCONSISTENT if config.inductive else 0)
    graphs = [((kind, config.nodes[1]),) * most for kind in config.kinds]
    if config.graph is not None:
        graphs = [PAPER_GRAPHS[config.graph]]
    # If the largest designs reach the bounds, all do.
    for operators, graph in product(config.operators, graphs):
        kinds, sizes = zip(*graph, strict=True)
        check_design(config.design(sizes, kinds, operators), table.where.rstrip("."))
    return config


def best_component(size: int, operators: str, tenths: tuple[int, int]) -> Fraction:
    """Return the largest PNS that a component of ``size`` nodes can have. A PNS is linear in each
    probability, so its maximum lies at the ends of the range. With one operator throughout every
    bit must stay out of the way. With drawn operators the leaf's own bit alone is the limit, which
    an *or* leaf behind *and* nodes reaches through its edge from the root."""
    off, on = 1 - Fraction(tenths[0], 10), Fraction(tenths[1], 10)
    one_operator = {"or": off ** (size - 1), "and": on ** (size - 1)}
    return one_operator.get(operators, max(off, on))


def check_design(design: Design, where: str) -> None:
    """Raise ``UsageError``, begun by ``where``, for a bound that a design cannot reach."""
    best = [best_component(size, design.operators, design.tenths) for size in design.sizes]
    bounds, (least, most) = design.bounds, design.tenths
    what = f"operators = '{design.operators}', probability {least / 10} to {most / 10}"
    for size, kind, value in zip(design.sizes, design.kinds, best, strict=True):
        if value < bounds.low:
            raise UsageError(
                f"{where}: a {kind} of {size} nodes with {what} reaches a PNS of at most "
                f"{float(value):.4g}, below {float(bounds.low):g}; use fewer nodes or other "
                "operators, or a lower bound"
            )
    most_whole = prod(min(value, bounds.high) for value in best)
    if len(best) <= MEASURED_SPAN and most_whole < bounds.whole:
        raise UsageError(
            f"{where}: components of {list(design.sizes)} nodes with {what} reach a global PNS of "
            f"at most {float(most_whole):.4g}, below {float(bounds.whole):g}; use fewer or smaller "
            "ones, or a lower bound"
        )


@dataclass(frozen=True, slots=True)
class ContextPlan(InstancePlan):
    """The plan of one context. ``variant`` is that of its only task, None where each measurable
    pair has one. ``verdict`` is the right answer's kind of a deductive or inductive task."""

    purpose: str
    variant: str | None
    verdict: Verdict | None
    design: Design
    theme: str

    @property
    def task_plan(self) -> TaskPlan:
        """The planned tasks: one of a known variant, or least and greatest number of pairs."""
        if self.variant is not None:
            return TaskPlan(levels=(("variant", self.variant),))
        count = len(self.design.sizes)
        pairs = count * (count + 1) // 2
        return TaskPlan((count if self.purpose == "long" else pairs, pairs))


def plan_contexts(
    config: ContextSettings, split: str, count_root: bytes, private: bool
) -> list[InstanceSpec]:
    """Return a split's instance specs, in index order, those of ``LATER`` purposes last. With
    private truth each verdict is drawn by itself, so that none tells another."""
    rng = plan_stream(count_root, TRACK_NAME, split, "plan")
    coins = plan_stream(count_root, TRACK_NAME, split, "verdicts") if private else None
    early = [purpose for purpose in VARIANTS_OF if purpose not in LATER]
    plans = random_order(
        rng, [plan for purpose in early for plan in _plans(config, purpose, rng, coins)]
    )
    for purpose in LATER:
        own = plan_stream(count_root, TRACK_NAME, split, purpose)
        plans += random_order(own, [*_plans(config, purpose, own, coins)])
    return keyed_specs(plans, (TRACK_NAME, split), ("ctx", "context"), count_root, private)


def _plans(
    config: ContextSettings,
    purpose: str,
    rng: np.random.Generator,
    coins: np.random.Generator | None,
) -> Iterator[ContextPlan]:
    """Yield the plans of all contexts of a purpose, before their order is drawn. Verdicts come in
    turn, or with the same shares by ``coins`` where there are some."""
    low, high = config.components
    turning, variants = purpose in ("deductive", "inductive"), VARIANTS_OF[purpose]
    for turn in range(config.counts[purpose]):
        variant = None if "simulation.pair" in variants else variants[turn % len(variants)]
        verdict = _verdict(_TURNS, turn, coins) if turning else None
        # Verdicts turn faster than sizes, so that every size meets every verdict.
        count = low + (turn // len(_TURNS) if turning else turn) % (high - low + 1)
        if purpose == "long":
            count = LONG_COMPONENTS
        elif purpose == "inductive":
            # In smaller ones nothing contradicts, and the number of givens would tell.
            count = max(count, INCONSISTENT)
        sizes = tuple(rng.integers(config.nodes[0], config.nodes[1] + 1, count).tolist())
        if variant == "deductive.linear":
            sizes, verdict = (3, 4, 3), _verdict(VERDICTS, turn // len(variants), coins)
        elif purpose == "linear":
            sizes = (4, 4) if variant == "direct.trap" else (3, 4, 3)[: 2 + turn % 2]
        elif purpose == "additive":
            sizes = (4, 4)
            if variant != "direct.additive":
                verdict = _verdict(_TURNS, turn // len(variants), coins)
        if config.graph is not None:
            sizes = tuple(size for _, size in PAPER_GRAPHS[config.graph])
        kinds = draw_kinds(KINDS if purpose in LINEAR else config.kinds, len(sizes), rng)
        if config.graph is not None:
            kinds = tuple(kind for kind, _ in PAPER_GRAPHS[config.graph])
        operators = config.operators[int(rng.integers(len(config.operators)))]
        theme = config.themes[turn % len(config.themes)]
        design = config.design(sizes, kinds, operators)
        yield ContextPlan(purpose, variant, verdict, design, theme)


def _verdict(verdicts: Sequence[Verdict], turn: int, coins: np.random.Generator | None) -> Verdict:
    return verdicts[turn % len(verdicts)] if coins is None else pick(coins, verdicts)


def draw_kinds(kinds: Sequence[str], count: int, rng: np.random.Generator) -> tuple[str, ...]:
    """Draw ``count`` kinds of component from ``kinds``, independently and uniformly."""
    return tuple(kinds[k] for k in rng.integers(0, len(kinds), count).tolist())
