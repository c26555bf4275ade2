"""Scenes told four ways, for the matched verbalisation-swap ablation (paper A.12).

The members of a bundle are instances of their own with one world, one table and one order of
columns; names and story differ: two domains of the knowledge graph, invented names, letters. A
scene that a language model told has three tellings by rule beside it: a domain, invented names,
letters. Only splits with public truth have them, since each member tells what the others ask.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from builder.causalds.scene_plan import ScenePlan, Wording
from builder.causalds.views import CLEAN
from builder.seeds import hmac_key
from builder.words.knowledge import domains
from builder.words.naming import Namer, Naming
from builder.words.verbalise import BY_MODEL, LLM
from builder.words.verbalise import DEFAULT as KNOWLEDGE
from grader.errors import UsageError

FIRST: Final = frozenset({KNOWLEDGE, LLM})
"""Tellings of a scene as planned; the others are added."""

_TRIES: Final = 20


def told_again(
    plans: Sequence[ScenePlan], count: int, rng: np.random.Generator, root: bytes, where: str
) -> list[ScenePlan]:
    """The plans, ``count`` of them made the first of a bundle, and three further members of each.

    ``where`` names the key of the split file. Raises ``UsageError`` when too few scenes have names
    in a further domain.
    """
    found = list(plans)
    namer = Namer(rng, count, "second")
    added: list[ScenePlan] = []
    for place in rng.permutation(len(plans)).tolist():
        if len(added) == 3 * count:
            break
        second = _second(plans[place], namer, rng)
        if second is None:
            continue
        number = len(added) // 3
        key = hmac_key(root, f"{where}/{number}").hex()
        plan = plans[place]
        arm = LLM if plan.telling.words in BY_MODEL else plan.telling.words
        first = replace(
            plan,
            equations=replace(plan.equations, world_key=key),
            telling=replace(plan.telling, bundle=f"told-{number:03d}", arm=arm),
        )
        found[place] = first
        added += _others(first, second)
    if len(added) < 3 * count:
        raise UsageError(
            f"{where}: {count} scenes are to be told four ways but only {len(added) // 3} have "
            "names in a further domain of the knowledge graph; ask for fewer"
        )
    return found + added


def retold(plan: ScenePlan) -> bool:
    """Whether a scene only tells another one again."""
    return plan.telling.arm is not None and plan.telling.arm not in FIRST


def _second(plan: ScenePlan, namer: Namer, rng: np.random.Generator) -> Naming | None:
    """Names for the scene in another domain than its own."""
    for _ in range(_TRIES):
        first = int(rng.integers(len(domains())))
        if domains()[first].key != plan.telling.domain:
            naming = namer.name(plan.structure.query.graph, plan.structure.kinds, first)
            if naming is None or naming.domain != plan.telling.domain:
                return naming
    return None


def _others(first: ScenePlan, second: Naming) -> Iterator[ScenePlan]:
    clear = replace(first.questions, views=(CLEAN,), outcome_measured=False)
    bundle = first.telling.bundle
    arm = "rules" if first.telling.arm == LLM else "knowledge_second"
    for telling in (
        Wording(KNOWLEDGE, second.domain, second.names, bundle, arm),
        *(Wording(words, bundle=bundle, arm=words) for words in ("fictional", "anonymous")),
    ):
        yield replace(first, telling=telling, questions=clear)
