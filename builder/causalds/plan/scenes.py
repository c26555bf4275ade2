"""Planning: which structure, kinds, profiles and, in a private-truth split, variant a scene gets.

Structures (``blueprint``), mechanism profiles, and the numbers of binary treatments and outcomes,
meet their requested shares by largest remainder; the kinds are spread evenly over the motifs. The
plans then get their indices in a random order seeded by the split's root, so the index carries no
information about the plan.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from builder.causalds.ask import ASKERS
from builder.causalds.ask.eligible import association_vanishes
from builder.causalds.exams.assign import assign
from builder.causalds.plan.blueprint import Impossible, Structure, largest_remainder, structures
from builder.causalds.plan.config import Config
from builder.causalds.plan.deal import dealt, kind_of, spread
from builder.causalds.plan.names import KNOWLEDGE, name_scenes
from builder.causalds.plan.tellings import told_again
from builder.causalds.plan.types import ScenePlan, graph_members
from builder.release.instance_keys import keyed_specs, plan_stream
from builder.scm.profiles import STRAIGHT
from builder.seeds import pick, shuffled
from builder.track import InstanceSpec
from builder.words.llm.seeding import Dealer
from builder.words.verbalise import LLM
from grader.errors import UsageError

TRACK_NAME: Final = "causalds"

NAMING: Final = ("scene", "scene")
"""Prefix of the public ids, and what they name."""

CONTINUOUS_ONLY: Final = "napkin"
"""The planted structure whose treatment is always continuous."""


def plan_scenes(
    config: Config, split: str, count_root: bytes, private: bool
) -> Sequence[InstanceSpec]:
    """The instance specs of a split, in index order.

    Raises ``UsageError`` that names the key of a quota that no scenes can meet.
    """
    plans = _planned(config, split, count_root, private)
    return keyed_specs(plans, (TRACK_NAME, split), NAMING, count_root, private)


def _planned(config: Config, split: str, count_root: bytes, private: bool) -> list[ScenePlan]:
    """The plans of a split, in index order."""

    def drawn(purpose: str) -> np.random.Generator:
        return plan_stream(count_root, TRACK_NAME, split, purpose)

    rng = drawn("plan")
    if config.stored and private:
        where = f"splits.{split}.{TRACK_NAME}.words"
        raise UsageError(f"{where}: stored stories are public; use other words in a private split")
    try:
        if config.stored:
            plans = _stored_plans(config, rng)
        else:
            plans = _for_exams(config, rng) if config.exams else _plans(config, rng)
    except Impossible as problem:
        where = f"splits.{split}.{TRACK_NAME}.{problem.key}"
        raise UsageError(f"{where}: {problem.fix}") from None
    if not config.exams:
        plans = _both_answers(rng, plans)
    if private and not config.exams:
        plans = _with_views(rng, _with_variants(rng, plans))
    plans = shuffled(rng, plans)
    if config.words == KNOWLEDGE:
        plans = name_scenes(plans, config, drawn, split, private)
    if config.tellings and not private:
        where = f"splits.{split}.causalds.tellings"
        plans = told_again(plans, config.tellings, drawn("tellings"), count_root, where)
    if config.llm is not None:
        dealer = Dealer(config.llm, f"{TRACK_NAME}.llm", drawn("llm"))
        plans = [
            replace(p, llm=config.llm, seeds=dealer.deal(p.query.graph, p.kinds, p.outcome))
            if p.words == LLM
            else p
            for p in plans
        ]
    return plans


def _for_exams(config: Config, rng: np.random.Generator) -> list[ScenePlan]:
    """Scenes of their own for every exam, each of the split's composition."""

    def draw(scenes: int) -> list[ScenePlan]:
        plans = _plans(replace(config, scenes=scenes), rng)
        return shuffled(rng, plans)

    return [plan for name, model in config.exams for plan in assign(name, model, draw, rng)]


def _stored_plans(config: Config, rng: np.random.Generator) -> list[ScenePlan]:
    """One plan per stored scene: only its equations, and what is measured, are drawn."""
    measured = spread(rng, config.outcome_measured, config.scenes)
    continuous = dealt(rng, config.continuous, config.scenes)
    binary = dealt(rng, config.binary, config.scenes)
    return [
        ScenePlan(
            motif=scene.motif,
            structure=scene.structure,
            nodes=scene.nodes,
            edges=scene.edges,
            latent=scene.latent,
            treatment=scene.treatment,
            outcome=scene.outcome,
            continuous=continuous[turn],
            binary=binary[turn],
            treatment_kind=scene.kind(scene.treatment),
            outcome_kind=scene.kind(scene.outcome),
            variant=None,
            train=config.train,
            test=config.test,
            views=config.views,
            outcome_measured=measured[turn],
            diagnostics=config.diagnostics,
            words=config.words,
            stored=scene,
            seeds=() if scene.seed is None else (scene.seed,),
        )
        for turn, scene in enumerate(config.stored)
    ]


def _plans(config: Config, rng: np.random.Generator) -> list[ScenePlan]:
    """One plan per scene, sorted by motif, grafts and kinds."""
    found = structures(config.composition, config.scenes, rng)
    place_of = {name: i for i, name in reversed(list(enumerate(s.motif.name for s in found)))}
    treatments = _treatments(rng, config.treatment_binary, found)
    slots = sorted(enumerate(found), key=lambda s: (place_of[s[1].motif.name], treatments[s[0]]))
    outcomes = spread(rng, config.outcome_binary, config.scenes)
    measured = spread(rng, config.outcome_measured, config.scenes)
    continuous = dealt(rng, config.continuous, config.scenes)
    binary = dealt(rng, config.binary, config.scenes)
    return [
        ScenePlan(
            motif=structure.motif.name,
            structure=structure.label,
            **graph_members(structure.motif.graph),
            treatment=structure.motif.treatment,
            outcome=structure.motif.outcome,
            continuous=continuous[turn],
            binary=binary[turn],
            treatment_kind=kind_of(treatments[place]),
            outcome_kind=kind_of(outcomes[turn]),
            variant=None,
            train=config.train,
            test=config.test,
            views=config.views,
            outcome_measured=measured[turn],
            diagnostics=config.diagnostics,
            words=config.words,
        )
        for turn, (place, structure) in enumerate(slots)
    ]


def _treatments(rng: np.random.Generator, share: float, found: Sequence[Structure]) -> list[bool]:
    """Which treatments are binary: the share of all scenes, but never a napkin's.

    The napkin is planted because its average effect is identifiable and its effect on the treated
    is not; with a binary treatment both would be. Raises :class:`Impossible` where too many are
    wanted.
    """
    free = [i for i, structure in enumerate(found) if structure.motif.name != CONTINUOUS_ONLY]
    total = largest_remainder({"yes": share, "no": 1.0 - share}, len(found))["yes"]
    if total > len(free):
        raise Impossible(
            "treatment_binary",
            f"{total} binary treatments are wanted, but the {len(found) - len(free)} scenes of "
            f"{CONTINUOUS_ONLY} have a continuous one; ask for at most "
            f"{math.floor(100 * len(free) / len(found)) / 100:g}, or plant no {CONTINUOUS_ONLY}",
        )
    wanted = min(share * len(found) / len(free), 1.0) if free else 0.0
    flags = dict(zip(free, spread(rng, wanted, len(free)), strict=True)) if free else {}
    return [flags.get(i, False) for i in range(len(found))]


def _both_answers(rng: np.random.Generator, plans: list[ScenePlan]) -> list[ScenePlan]:
    """The plans with a scene where some third variable leaves treatment and outcome unassociated.

    Without one, "are they associated, given it?" would always be answered by yes. Hardly any graph
    does it alone; with equations that are lines some more do. So where it takes that, such a scene
    swaps its profile for that of another: all quotas stay met.
    """
    if any(association_vanishes(plan.query, plan) for plan in plans):
        return plans
    straight = [i for i, plan in enumerate(plans) if plan.continuous in STRAIGHT]
    able = [
        i
        for i, plan in enumerate(plans)
        for line in straight[:1]
        if association_vanishes(plan.query, replace(plan, continuous=plans[line].continuous))
    ]
    if not able:
        return plans
    one, other = pick(rng, able), pick(rng, straight)
    found = list(plans)
    found[one] = replace(plans[one], continuous=plans[other].continuous)
    found[other] = replace(plans[other], continuous=plans[one].continuous)
    return found


def _with_variants(rng: np.random.Generator, plans: Sequence[ScenePlan]) -> list[ScenePlan]:
    """One variant for every plan: equal shares by largest remainder, where the plan can host it.

    Variants that few plans can host choose first; what they cannot use goes to the others.
    """
    hosts = {
        key: [i for i, plan in enumerate(plans) if asker.can_host(plan)]
        for key, asker in ASKERS.items()
    }
    keys = sorted((key for key in hosts if hosts[key]), key=lambda key: len(hosts[key]))
    free = set(range(len(plans)))
    chosen: dict[int, str] = {}
    for position, key in enumerate(keys):
        equal = dict.fromkeys(keys[position:], 1.0)
        wanted = largest_remainder(equal, len(free))[key]
        taken = [i for i in shuffled(rng, hosts[key]) if i in free][:wanted]
        free.difference_update(taken)
        chosen.update(dict.fromkeys(taken, key))
    for i in sorted(free):  # the last variant could not take them all: any that fits
        fitting = [key for key in keys if ASKERS[key].can_host(plans[i])]
        chosen[i] = pick(rng, fitting)
    return [replace(plan, variant=chosen[i]) for i, plan in enumerate(plans)]


def _with_views(rng: np.random.Generator, plans: Sequence[ScenePlan]) -> list[ScenePlan]:
    """One view for every plan: equal shares by largest remainder, in a random order."""
    views = plans[0].views
    counts = largest_remainder({view.name: 1.0 for view in views}, len(plans))
    dealt = [view for view in views for _ in range(counts[view.name])]
    order = rng.permutation(len(plans))
    return [replace(p, views=(dealt[int(i)],)) for p, i in zip(plans, order, strict=True)]
