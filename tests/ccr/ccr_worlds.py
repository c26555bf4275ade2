"""Contexts and graphs that several tests of the ccr track use."""

from typing import Any

import numpy as np

from builder.splits.seeds import hmac_key
from builder.splits.track import BuiltInstance, InstanceSpec
from builder.tracks.ccr.graph import KINDS, chain, sorted_graph
from builder.tracks.ccr.model import BooleanContext
from builder.tracks.ccr.plan import ContextPlan, Design, draw_kinds
from builder.tracks.ccr.track import TRACK

FIGURE_4 = ("XA", "XB", "XC", "AC", "BC", "CD", "DE", "DF", "EF", "EY", "FY")
"""The paper's running example: eight variables, three components, cutpoints C and D."""


def figure_4(tenths: int = 7) -> BooleanContext:
    """The running example with *or* throughout, as in the paper's experiment."""
    dag = sorted_graph([(edge[0], edge[1]) for edge in FIGURE_4])
    count = len(dag.nodes)
    return BooleanContext(dag, ("or",) * count, ("or",) * count, (tenths,) * count)


def random_context(rng: np.random.Generator, most: int = 16) -> BooleanContext:
    """Any Boolean context of at most ``most`` nodes: no bounds on its quantities."""
    while True:
        count = int(rng.integers(2, 6))
        sizes = rng.integers(2, 7, count).tolist()
        if sum(sizes) - count + 1 > most:
            continue
        dag = chain(draw_kinds(KINDS, count, rng), sizes, rng)
        nodes = len(dag.nodes)
        own, among = (["or" if bit else "and" for bit in rng.random(nodes) < 0.5] for _ in "ab")
        tenths = tuple(rng.integers(1, 10, nodes).tolist())
        return BooleanContext(dag, tuple(own), tuple(among), tenths)  # type: ignore[arg-type]


def spec_of(
    seed: str,
    sizes: tuple[int, ...] = (3, 3, 3),
    operators: str = "mixed",
    purpose: str = "simulation",
    variant: str | None = None,
    verdict: Any = None,
    theme: str = "CandyParty",
) -> InstanceSpec:
    design = Design(sizes, (("cycle", "wheel", "random") * 3)[: len(sizes)], operators)
    plan = ContextPlan(purpose, variant, verdict, design, theme)
    key = hmac_key(seed.encode(), "test")
    ids = hmac_key(key, "id")
    name = "ctx-" + ids.hex()[:16]
    return InstanceSpec("ccr", "dev", 0, key, name, False, ids, plan.to_json())


def built(seed: str, **changes: Any) -> BuiltInstance:
    return TRACK.build(spec_of(seed, **changes))
