"""Give scenes names from the knowledge graph, and plan scenes that are told four ways.

A scene whose graph occurs in no domain with names that are still free gets another graph of the
same motif, with as many grafts, the same verdict and the same kind of injected variable.

For the matched verbalisation-swap ablation (paper A.12) a scene is told again. The members of a
bundle have one world, one table and one order of columns. Names and story differ: two domains of
the knowledge graph (or a model's story and one domain), invented names, letters. Or a model tells
all four, each from another causal pair. Each member tells what the others ask, so only splits with
public truth have them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

import numpy as np

from builder.graphs.identification import is_identifiable
from builder.graphs.motifs import add_confounder, harmless_latent, random_graft
from builder.splits.seeds import hmac_key
from builder.stories.knowledge import domains
from builder.stories.naming import Namer, Naming, Part
from builder.stories.verbalise import BY_MODEL, LLM
from builder.stories.verbalise import DEFAULT as KNOWLEDGE
from builder.tracks.causalds.design.eligibility import hosted_variants
from builder.tracks.causalds.design.scene_plan import (
    CLEAN,
    Questions,
    ScenePlan,
    Structure,
    Wording,
)
from builder.tracks.causalds.exams.compose import ALIKE
from builder.tracks.causalds.plan.blueprint import CATALOGUE
from builder.tracks.causalds.plan.config import SceneSettings
from grader.errors import UsageError

NAMED_TOGETHER: Final = 2000
"""Scenes that get names without repeats; then they begin anew, as there are only so many."""

_REDRAWS: Final = 200
"""Graphs that are tried for a scene whose own graph has no names."""


def name_scenes(
    plans: Sequence[ScenePlan],
    config: SceneSettings,
    streams: Callable[[str], np.random.Generator],
    split: str,
    private: bool,
) -> list[ScenePlan]:
    """Return the plans with names from the ``private`` or public part of the knowledge graph.

    No two of ``NAMED_TOGETHER`` have the same set of names while there are others. A redrawn graph
    still hosts the planned variant. Scenes of an exam are named together, each domain at most
    ``ALIKE`` times if it can be. Raises :class:`UsageError` without names."""
    part: Part = "private" if private else "public"
    named = list(plans)
    for start in range(0, len(plans), NAMED_TOGETHER):
        places = range(start, min(start + NAMED_TOGETHER, len(plans)))
        rng = streams(f"names/{start}" if start else "names")
        namer = Namer(rng, len(places), part)
        for exam in dict.fromkeys(plans[place].questions.exam for place in places):
            own = [place for place in places if plans[place].questions.exam == exam]
            if exam is not None:
                namer.begin(len(own), max(ALIKE, -(-len(own) // len(domains()))))
            found = _name_together([plans[place] for place in own], config, rng, namer, split)
            for place, plan in zip(own, found, strict=True):
                named[place] = plan
    return named


def _name_together(
    plans: Sequence[ScenePlan],
    config: SceneSettings,
    rng: np.random.Generator,
    namer: Namer,
    split: str,
) -> Iterator[ScenePlan]:
    """Yield each plan with names, and another graph if need be; at last names of another scene."""
    for plan in plans:
        first, structure = namer.deal(), plan.structure
        graph, kinds = structure.query.graph, structure.kinds
        is_random = structure.label.startswith("grafted_") or _has_added_latent(plan)
        found, naming = plan, namer.name(graph, kinds, first)
        for _ in range(_REDRAWS if is_random else 0):
            if naming is not None:
                break
            found = _redraw_graph(plan, config, rng)
            if plan.questions.variant in (None, *hosted_variants(found)):
                naming = namer.name(found.structure.query.graph, found.structure.kinds, first)
        if naming is None:
            found, naming = plan, namer.name(graph, kinds, first, ("yes",))
        if naming is None:
            raise UsageError(
                f"splits.{split}.causalds.words: the knowledge graph has no names for "
                f"a {structure.label} scene of {structure.motif} (treatment "
                f"{structure.treatment_kind}, outcome {structure.outcome_kind}); "
                'give it less weight, or set words = "fictional"'
            )
        telling = replace(found.telling, domain=naming.domain, names=naming.names)
        yield replace(found, telling=telling)


def _has_added_latent(plan: ScenePlan) -> bool:
    """Tell whether the graph has a latent variable that its motif lacks."""
    return not CATALOGUE[plan.structure.motif].graph.latent.issuperset(plan.structure.latent)


def _redraw_graph(plan: ScenePlan, config: SceneSettings, rng: np.random.Generator) -> ScenePlan:
    """Return the plan with a graph drawn anew: as many grafts, the same kind of added latent."""
    structure, label = plan.structure, plan.structure.label
    origin = motif = CATALOGUE[structure.motif]
    grafts = int(label.removeprefix("grafted_")) if label.startswith("grafted_") else 0
    for number in range(1, grafts + 1):
        motif = random_graft(rng, motif, config.auxiliary, number)
    if _has_added_latent(plan):
        before, after = (is_identifiable(*one.effect, "ate") for one in (origin, structure.query))
        spoiled = before and not after
        motif = (add_confounder(motif) if spoiled else harmless_latent(rng, motif)) or motif
    x_kind, y_kind = structure.treatment_kind, structure.outcome_kind
    return replace(plan, structure=Structure.from_motif(motif, label, x_kind, y_kind, redrawn=True))


FIRST: Final = frozenset({KNOWLEDGE, LLM})
"""Tellings of a scene as planned. The others are added."""

_TRIES: Final = 20
"""Domains that are tried for a second telling."""


def add_tellings(
    plans: Sequence[ScenePlan], count: int, rng: np.random.Generator, root: bytes, where: str
) -> list[ScenePlan]:
    """Return the plans, ``count`` random ones made the first of a bundle, three further members
    last. Raises ``UsageError`` at ``where`` when too few scenes have names in a further domain."""
    found = list(plans)
    namer = Namer(rng, count, "second")
    order = rng.permutation(len(plans)).tolist()
    named = ((place, _name_elsewhere(plans[place], namer, rng)) for place in order)
    chosen = list(islice(((place, second) for place, second in named if second), count))
    if len(chosen) < count:
        raise UsageError(
            f"{where}: {count} scenes are to be told four ways but only {len(chosen)} have "
            "names in a further domain of the knowledge graph; ask for fewer"
        )
    for number, (place, second) in enumerate(chosen):
        plan = plans[place]
        arm = LLM if plan.telling.words in BY_MODEL else plan.telling.words
        key = hmac_key(root, f"{where}/{number}").hex()
        found[place] = replace(
            plan,
            equations=replace(plan.equations, world_key=key),
            telling=replace(plan.telling, bundle=f"told-{number:03d}", arm=arm),
        )
        found += _further_members(found[place], second)
    return found


_BY_MODEL_ARMS: Final = (LLM, f"{LLM}_second", f"{LLM}_third", f"{LLM}_fourth")
"""Arms of a problem that a model tells four times."""


def add_model_tellings(plans: Sequence[ScenePlan], root: bytes, where: str) -> list[ScenePlan]:
    """Return four tellings by a model of every plan's problem, the first in the split's views, the
    others clean; first ones come first. Stored tellings of one structure are of one problem. Raises
    ``UsageError`` at ``where`` where these are not four."""
    problems: dict[object, list[ScenePlan]] = {}
    for place, plan in enumerate(plans):
        if plan.telling.words == LLM:
            problems[place] = [plan] * len(_BY_MODEL_ARMS)
        else:
            problems.setdefault(plan.structure, []).append(plan)
    found: list[ScenePlan] = []
    for number, tellings in enumerate(problems.values()):
        first = tellings[0]
        if len(tellings) != len(_BY_MODEL_ARMS):
            raise UsageError(
                f"{where}: the stored file tells its problem of {first.structure.motif} "
                f"{len(tellings)} times; tell each problem four times, or give a number of scenes"
            )
        key = hmac_key(root, f"{where}/{number}").hex()
        for arm, plan in zip(_BY_MODEL_ARMS, tellings, strict=True):
            telling = replace(plan.telling, bundle=f"told-{number:03d}", arm=arm)
            equations = replace(first.equations, world_key=key)
            questions = first.questions if arm in FIRST else _in_clean_view(first)
            found.append(replace(plan, telling=telling, equations=equations, questions=questions))
    return sorted(found, key=is_retelling)


def _in_clean_view(plan: ScenePlan) -> Questions:
    """Return a scene's questions in the clean view, as its retellings are asked."""
    return replace(plan.questions, views=(CLEAN,), outcome_measured=False)


def is_retelling(plan: ScenePlan) -> bool:
    """Tell whether a scene only tells another one again, with another story of the same world."""
    return plan.telling.arm is not None and plan.telling.arm not in FIRST


def _name_elsewhere(plan: ScenePlan, namer: Namer, rng: np.random.Generator) -> Naming | None:
    """Return names for the scene in another domain than its own, None if none was found."""
    for _ in range(_TRIES):
        first = int(rng.integers(len(domains())))
        if domains()[first].key != plan.telling.domain:
            naming = namer.name(plan.structure.query.graph, plan.structure.kinds, first)
            if naming is None or naming.domain != plan.telling.domain:
                return naming
    return None


def _further_members(first: ScenePlan, second: Naming) -> Iterator[ScenePlan]:
    """Yield three retellings in the clean view: by ``second``'s domain, invented names, letters."""
    bundle = first.telling.bundle
    arm = "rules" if first.telling.arm == LLM else "knowledge_second"
    for telling in (
        Wording(KNOWLEDGE, second.domain, second.names, bundle, arm),
        *(Wording(words, bundle=bundle, arm=words) for words in ("fictional", "anonymous")),
    ):
        yield replace(first, telling=telling, questions=_in_clean_view(first))
