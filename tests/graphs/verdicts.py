"""How far identification verdicts agree with checks that share no code with them.

All four effects are asked. A positive verdict must return the value that enumerating a random model
gives (to 1e-9), a negative one must come with two models that share the observed distribution (to
1e-12) and differ in the effect. y0 joins in on the ATE where it is installed.
"""

from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
from finite_models import joint_distribution, random_scm, true_effect
from functionals import identified_effect
from oracles import y0_identifies
from twin_models import twins_differ

from builder.graphs.graph import LatentDAG
from builder.graphs.identification import Effect, is_identifiable

Query = tuple[LatentDAG, str, str]

QUESTIONS: tuple[tuple[Effect, int], ...] = (
    ("ate", 2), ("ett", 2), ("ett", 3), ("nde", 2), ("nie", 2)
)  # fmt: skip
"""An effect, and how many levels the treatment has."""


def refuted(query: Query, question: tuple[Effect, int], rng: np.random.Generator) -> str:
    """What speaks against the verdict on one question, or nothing."""
    (graph, x, y), (effect, levels) = query, question
    verdict = is_identifiable(graph, x, y, effect, binary_treatment=levels == 2)
    if effect == "ate" and find_spec("y0") and y0_identifies(graph, x, y) != verdict:
        return "y0 disagrees"
    if not verdict:
        return "" if twins_differ(rng, graph, x, y, effect, levels) else "no twin models"
    scm = random_scm(rng, graph, dict.fromkeys(graph.nodes, 2) | {x: levels}, noise_levels=3)
    found = identified_effect(joint_distribution(scm), graph, x, y, effect, levels == 2)
    truth = true_effect(scm, x, y, effect)
    return "" if abs(found - truth) <= 1e-9 else f"{found} is not {truth}"


def check(queries: Sequence[Query], seed: int) -> Counter[tuple[Effect, int, bool]]:
    """Refute no verdict; return how often each question got which."""
    counts: Counter[tuple[Effect, int, bool]] = Counter()
    for place, (graph, x, y) in enumerate(queries):
        rng = np.random.default_rng([seed, place])
        for effect, levels in QUESTIONS:
            assert not refuted((graph, x, y), (effect, levels), rng), (graph, x, y, effect, levels)
            verdict = is_identifiable(graph, x, y, effect, binary_treatment=levels == 2)
            counts[effect, levels, verdict] += 1
    return counts
