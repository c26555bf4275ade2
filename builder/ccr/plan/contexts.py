"""Planning: what each context of a split is for, its sizes, kinds, operators and theme.

Sizes, kinds and operators are drawn; themes and variants take turns. Which index receives which
plan is a permutation seeded by the split's root, so the index carries no
information about the context.
Direct, deductive and linear tasks have contexts of their own in every split: a value given in one
task is never another's answer.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from builder.ccr.ask.questions import VERDICTS
from builder.ccr.make.graph import KINDS, PAPER_GRAPHS
from builder.ccr.make.sampling import Design, draw_kinds
from builder.ccr.plan.config import (
    INCONSISTENT,
    LATER,
    LONG_COMPONENTS,
    PURPOSES,
    Config,
    bounds_of,
)
from builder.release.instance_keys import keyed_specs, plan_stream
from builder.seeds import shuffled
from builder.track import Asked, InstanceSpec
from grader.io.jsonio import canonical

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
