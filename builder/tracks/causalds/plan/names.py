"""Names from the knowledge graph for the scenes of a split, and scenes told four ways.

A scene whose graph occurs in no domain with names that are still free gets another graph of the
same motif, with as many grafts, the same verdict and the same kind of injected variable; how often
that happened is in the manifest.

For the matched verbalisation-swap ablation (paper A.12) a scene is told again. The members of a
bundle are instances of their own with one world, one table and one order of columns; names and
story differ: two domains of the knowledge graph, invented names, letters. A scene that a language
model told has three tellings by rule beside it: a domain, invented names, letters. Only splits with
public truth have them, since each member tells what the others ask.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from builder.graphs.growth import confounded, harmless_latent, random_graft
from builder.graphs.identification import is_identifiable
from builder.graphs.motifs import MOTIFS, PLANTED, Motif
from builder.splits.seeds import hmac_key
from builder.stories.knowledge import domains
from builder.stories.naming import Namer, Naming, Part
from builder.stories.verbalise import BY_MODEL, LLM
from builder.stories.verbalise import DEFAULT as KNOWLEDGE
from builder.tracks.causalds.design.eligibility import hosted
from builder.tracks.causalds.design.scene_plan import CLEAN, ScenePlan, Wording
from builder.tracks.causalds.plan.config import Config
from grader.errors import UsageError

NAMED_TOGETHER: Final = 2000
"""Scenes among which names are given out: beyond, they begin anew, for the knowledge graph has only
so many."""

_REDRAWS: Final = 200


def name_scenes(
    plans: Sequence[ScenePlan],
    config: Config,
    drawn: Callable[[str], np.random.Generator],
    split: str,
    private: bool,
) -> list[ScenePlan]:
    """The plans with their names, no two of ``NAMED_TOGETHER`` with the same set of them while the
    knowledge graph has others.

    ``drawn(purpose)`` gives random numbers. A graph that is drawn again must still be able to host
    the planned variant. Raises :class:`UsageError` when the knowledge graph has no such names.
    """
    part: Part = "private" if private else "public"
    named: list[ScenePlan] = []
    for start in range(0, len(plans), NAMED_TOGETHER):
        some = plans[start : start + NAMED_TOGETHER]
        rng = drawn(f"names/{start}" if start else "names")
        named += _named(some, config, rng, Namer(rng, len(some), part), split)
    return named


def _named(
    plans: Sequence[ScenePlan], config: Config, rng: np.random.Generator, namer: Namer, split: str
) -> Iterator[ScenePlan]:
    for plan in plans:
        first = namer.deal()
        found, naming = plan, _name(namer, plan, first)
        for _ in range(_REDRAWS if _is_drawn(plan) else 0):
            if naming is not None:
                break
            found = _drawn_again(plan, config, rng)
            if plan.questions.variant in (None, *hosted(found)):
                naming = _name(namer, found, first)
        if naming is None:
            found, naming = (
                plan,
                namer.name_once_more(plan.structure.query.graph, plan.structure.kinds, first),
            )
        if naming is None:
            structure = plan.structure
            raise UsageError(
                f"splits.{split}.causalds.words: the knowledge graph has no names for "
                f"a {structure.label} scene of {structure.motif} (treatment "
                f"{structure.treatment_kind}, outcome {structure.outcome_kind}); "
                'give it less weight, or set words = "fictional"'
            )
        telling = replace(found.telling, domain=naming.domain, names=naming.names)
        yield replace(found, telling=telling)


def _name(namer: Namer, plan: ScenePlan, first: int) -> Naming | None:
    return namer.name(plan.structure.query.graph, plan.structure.kinds, first)


def _is_drawn(plan: ScenePlan) -> bool:
    """Whether chance had a part in the plan's graph: a graft, or a harmless variable."""
    return plan.structure.label.startswith("grafted_") or _injected(plan) is not None


def _base(plan: ScenePlan) -> Motif:
    return {**MOTIFS, **PLANTED}[plan.structure.motif]


def _injected(plan: ScenePlan) -> str | None:
    """The unmeasured variable that was added to motif and grafts."""
    added = set(plan.structure.latent) - _base(plan).graph.latent
    return min(added) if added else None


def _drawn_again(plan: ScenePlan, config: Config, rng: np.random.Generator) -> ScenePlan:
    """Another graph for a plan: other grafts, another place for a harmless variable."""
    motif, label = _base(plan), plan.structure.label
    grafts = int(label.removeprefix("grafted_")) if label.startswith("grafted_") else 0
    for number in range(1, grafts + 1):
        motif = random_graft(rng, motif, config.auxiliary, number)
    if _injected(plan) is not None:
        spoiled = is_identifiable(*_base(plan).effect, "ate") and not is_identifiable(
            *plan.structure.query.effect, "ate"
        )
        grown = confounded(motif) if spoiled else harmless_latent(rng, motif)
        motif = motif if grown is None else grown
    structure = replace(plan.structure.with_graph(motif.graph), redrawn=True)
    return replace(plan, structure=structure)


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
