"""The settings of a split, and what each context is for: sizes, kinds, operators, theme.

Sizes, kinds and operators are drawn; themes and variants take turns. Which index receives which
plan is a permutation seeded by the split's root, so the index carries no
information about the context.
Direct, deductive and linear tasks have contexts of their own in every split: a value given in one
task is never another's answer."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Annotated, Any, Final, Self

import numpy as np
from pydantic import Field, model_validator

from builder.splits.instance_keys import keyed_specs, plan_stream
from builder.splits.seeds import shuffled
from builder.splits.settings import Fault, TomlModel, TomlTable, check
from builder.splits.track import Asked, InstanceSpec
from builder.splits.values import Ordered, one_of, some_of
from builder.tracks.ccr.graph import KINDS, PAPER_GRAPHS
from builder.tracks.ccr.questions import VERDICTS
from builder.tracks.ccr.sampling import BOUNDS, OPERATORS, Bounds, Design, check_design, draw_kinds
from builder.tracks.ccr.themes import MAX_NODES, THEMES
from grader.io.jsonio import canonical

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


TRACK_NAME: Final = "ccr"
LINEAR_VARIANTS: Final = ("direct.linear", "deductive.linear", "direct.trap")
VARIANTS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "simulation": ("simulation.pair",),
    "long": ("simulation.pair",),
    "direct": ("direct.boolean",),
    "deductive": ("deductive.boolean",),
    "linear": LINEAR_VARIANTS,
    "inductive": ("inductive.boolean",),
    "stated": ("inductive.stated",),
}
"""The variants that contexts of each purpose are asked."""

_VERDICT_TURNS: Final = ("value", "inconsistent", "value", "insufficient")


@dataclass(frozen=True, slots=True)
class ContextPlan:
    """What one context is for. ``variant`` is set where the context has exactly one task.

    ``verdict`` is the wanted answer of a deductive or inductive task; ``tasks`` the least and most
    tasks; ``pns`` are bounds other than the usual ones (:attr:`Config.pns`).
    """

    purpose: str
    variant: str | None
    verdict: str | None
    sizes: tuple[int, ...]
    kinds: tuple[str, ...]
    operators: str
    tenths: tuple[int, int]
    theme: str
    tasks: tuple[int, int]
    pns: tuple[float, float, float] | None = None

    @property
    def asked(self) -> Asked:
        """What the release machinery reads of the plan."""
        levels = () if self.variant is None else (("variant", self.variant),)
        return Asked(self.tasks, levels=levels)

    @property
    def design(self) -> Design:
        """The Boolean design of the context."""
        return Design(self.sizes, self.kinds, self.operators, self.tenths, bounds_of(self.pns))

    def to_json(self) -> str:
        """Canonical JSON; bounds are left out where they are the usual ones."""
        fields = asdict(self)
        if self.pns is None:
            del fields["pns"]
        return canonical(fields)

    @classmethod
    def from_json(cls, text: str) -> "ContextPlan":
        """The plan that ``to_json`` wrote."""
        fields: dict[str, Any] = json.loads(text)
        for name in {"sizes", "kinds", "tenths", "tasks", "pns"} & fields.keys():
            fields[name] = tuple(fields[name])
        return cls(**fields)


def plan_contexts(
    config: Config, split: str, count_root: bytes, private: bool
) -> list[InstanceSpec]:
    """The instance specs of a split, in index order.

    Instances of the ``LATER`` purposes come after all others, so that these are the same without
    them.
    """
    rng = plan_stream(count_root, TRACK_NAME, split, "plan")
    counts = dict(config.counts)
    plans = [
        _plan(config, purpose, turn, rng) for purpose in PURPOSES for turn in range(counts[purpose])
    ]
    plans = shuffled(rng, plans)
    for purpose in LATER:
        own = plan_stream(count_root, TRACK_NAME, split, purpose)
        turns = range(counts.get(purpose, 0))
        plans += shuffled(own, [_plan(config, purpose, turn, own) for turn in turns])
    return keyed_specs(plans, (TRACK_NAME, split), ("ctx", "context"), count_root, private)


def _plan(config: Config, purpose: str, turn: int, rng: np.random.Generator) -> ContextPlan:
    low, high = config.components
    spread = high - low + 1
    # Verdicts turn faster than sizes, so that every size meets every verdict.
    turning = purpose in ("deductive", "inductive")
    size_turn = turn // len(_VERDICT_TURNS) if turning else turn
    count = LONG_COMPONENTS if purpose == "long" else low + size_turn % spread
    verdict: str | None = _VERDICT_TURNS[turn % 4] if turning else None
    if purpose == "inductive":
        # All of them: in smaller ones nothing contradicts, and the number of givens would tell.
        count = max(count, INCONSISTENT)
    sizes = tuple(rng.integers(config.nodes[0], config.nodes[1] + 1, count).tolist())
    variant: str | None = None
    if purpose in ("direct", "deductive", *LATER):
        (variant,) = VARIANTS_OF[purpose]
    elif purpose == "linear":
        variant = LINEAR_VARIANTS[turn % 3]
        sizes = (4, 4) if variant == "direct.trap" else (3, 4, 3)[: 2 + turn % 2]
        if variant == "deductive.linear":
            sizes, verdict = (3, 4, 3), VERDICTS[(turn // 3) % 3]
    if config.graph is not None:
        sizes = tuple(size for _, size in PAPER_GRAPHS[config.graph])
    if purpose == "long":
        tasks = (len(sizes), len(sizes) * (len(sizes) + 1) // 2)
    else:
        pairs = len(sizes) * (len(sizes) + 1) // 2 if variant is None else 1
        tasks = (pairs, pairs)
    kinds = draw_kinds(KINDS if purpose == "linear" else config.kinds, len(sizes), rng)
    if config.graph is not None:
        kinds = tuple(kind for kind, _ in PAPER_GRAPHS[config.graph])
    operators = config.operators[int(rng.integers(len(config.operators)))]
    theme = config.themes[turn % len(config.themes)]
    plan = (purpose, variant, verdict, sizes, kinds, operators, config.tenths, theme, tasks)
    return ContextPlan(*plan, config.pns)
