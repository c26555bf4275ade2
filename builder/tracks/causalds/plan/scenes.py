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

from builder.equations.profiles import STRAIGHT
from builder.splits.instance_keys import keyed_specs, plan_stream
from builder.splits.seeds import hmac_key, pick, shuffled
from builder.splits.settings import Fault
from builder.splits.track import InstanceSpec
from builder.stories.llm.seeding import Dealer
from builder.stories.llm.settings import Settings
from builder.stories.types import Kind
from builder.stories.verbalise import DEFAULT as KNOWLEDGE
from builder.stories.verbalise import LLM
from builder.tracks.causalds.design.eligibility import KEYS, association_vanishes
from builder.tracks.causalds.design.scene_plan import (
    Equations,
    Questions,
    ScenePlan,
    Structure,
    Wording,
)
from builder.tracks.causalds.design.shares import count_of, deal_names, spread
from builder.tracks.causalds.exams.candidates import planned_candidates
from builder.tracks.causalds.exams.compose import compose
from builder.tracks.causalds.exams.model import ExamModel
from builder.tracks.causalds.plan.blueprint import Blueprint, blueprints
from builder.tracks.causalds.plan.config import Config
from builder.tracks.causalds.plan.names import name_scenes, told_again
from grader.errors import UsageError

TRACK_NAME: Final = "causalds"

NAMING: Final = ("scene", "scene")
"""Prefix of the public ids, and what they name."""

SPARE: Final = 4
"""A balanced exam chooses among so many times the scenes that it needs."""

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
    if config.told and private:
        where = f"splits.{split}.{TRACK_NAME}.words"
        raise UsageError(f"{where}: stored stories are public; use other words in a private split")
    try:
        plans = _for_exams(config, rng, split, count_root) or _plans(config, rng)
    except Fault as problem:
        where = f"splits.{split}.{TRACK_NAME}.{problem.key}"
        raise UsageError(f"{where}: {problem}") from None
    if not config.exams:
        plans = _both_answers(rng, plans)
    if private and not config.exams:
        even = ExamModel(kind="balanced", tasks=len(plans))
        key = hmac_key(count_root, f"{TRACK_NAME}/{split}/plan/variants")
        plans = _asked_once(None, even, plans, key, f"splits.{split}.{TRACK_NAME}")
    plans = shuffled(rng, plans)
    if config.words == KNOWLEDGE:
        plans = name_scenes(plans, config, drawn, split, private)
    if config.tellings and not private:
        where = f"splits.{split}.causalds.tellings"
        plans = told_again(plans, config.tellings, drawn("tellings"), count_root, where)
    if config.llm is not None:
        dealer = Dealer(config.llm, drawn("llm"))
        plans = [_with_seeds(plan, config.llm, dealer) for plan in plans]
    return plans


def _with_seeds(plan: ScenePlan, llm: Settings, dealer: Dealer) -> ScenePlan:
    """The plan with pairs to start from, if a language model tells it."""
    if plan.telling.words != LLM:
        return plan
    structure = plan.structure
    seeds = dealer.deal(structure.query.graph, structure.kinds, structure.outcome)
    return replace(plan, telling=replace(plan.telling, llm=llm, seeds=seeds))


def _for_exams(
    config: Config, rng: np.random.Generator, split: str, count_root: bytes
) -> list[ScenePlan]:
    """Scenes of their own for every exam, of the split's composition. A balanced exam has more to
    choose among, so that every class of answers finds its scenes."""
    found: list[ScenePlan] = []
    for name, model in config.exams:
        spare = SPARE if model.kind == "balanced" else 1
        plans = shuffled(
            rng, _plans(config.model_copy(update={"scenes": spare * model.tasks}), rng)
        )
        key = hmac_key(count_root, f"{TRACK_NAME}/{split}/exam/{name}")
        where = f"splits.{split}.exams.{name}.{TRACK_NAME}"
        found += _asked_once(name, model, plans, key, where)
    return found


def _asked_once(
    exam: str | None, model: ExamModel, plans: Sequence[ScenePlan], key: bytes, where: str
) -> list[ScenePlan]:
    """The plans that an exam takes, each with its variant and view and, where the exam balances
    them, the class of its answer. ``exam`` is None for a split that names no exam file."""
    candidates = planned_candidates((str(place), plan) for place, plan in enumerate(plans))
    required = () if exam is None else KEYS
    composed = compose(model, candidates, key, where, once=True, required=required)
    picks = {task.name: (one, task) for one in candidates for task in one.tasks}
    found = []
    for name in composed.task_ids:
        scene, task = picks[name]
        plan = plans[int(scene.instance_id)]
        asked = replace(
            plan.questions,
            views=tuple(view for view in plan.questions.views if view.name == task.view),
            variant=task.variant,
            wanted=task.label if model.kind == "balanced" else None,
            exam=exam,
        )
        found.append(replace(plan, questions=asked))
    return found


def _plans(config: Config, rng: np.random.Generator) -> list[ScenePlan]:
    """One plan per scene: its structure drawn or stored, its equations dealt, and what is
    measured."""
    found = config.told or tuple(
        (one, Wording(config.words)) for one in _drawn_structures(config, rng)
    )
    measured = spread(rng, config.outcome_measured, config.scenes)
    continuous = deal_names(rng, config.profiles.continuous, config.scenes)
    binary = deal_names(rng, config.profiles.binary, config.scenes)
    views = config.shown
    return [
        ScenePlan(
            structure,
            Equations(continuous[turn], binary[turn], config.rows.train, config.rows.test),
            telling,
            Questions(views, measured[turn], config.diagnostics),
        )
        for turn, (structure, telling) in enumerate(found)
    ]


def _drawn_structures(config: Config, rng: np.random.Generator) -> list[Structure]:
    """The structures of a split, sorted by motif, grafts and kinds."""
    found = blueprints(config, config.scenes, rng)
    place_of = {name: i for i, name in reversed(list(enumerate(s.motif.name for s in found)))}
    treatments = _treatments(rng, config.treatment_binary, found)
    slots = sorted(enumerate(found), key=lambda s: (place_of[s[1].motif.name], treatments[s[0]]))
    outcomes = spread(rng, config.outcome_binary, config.scenes)
    return [
        Structure(
            one.motif.name,
            one.label,
            (),
            (),
            (),
            one.motif.treatment,
            one.motif.outcome,
            kind_of(treatments[place]),
            kind_of(outcomes[turn]),
        ).with_graph(one.motif.graph)
        for turn, (place, one) in enumerate(slots)
    ]


def kind_of(binary: bool) -> Kind:
    """The kind of a variable that is binary or not."""
    return "binary" if binary else "continuous"


def _treatments(rng: np.random.Generator, share: float, found: Sequence[Blueprint]) -> list[bool]:
    """Which treatments are binary: the share of all scenes, but never a napkin's.

    The napkin is planted because its average effect is identifiable and its effect on the treated
    is not; with a binary treatment both would be. Raises :class:`Fault` where too many are
    wanted.
    """
    free = [i for i, structure in enumerate(found) if structure.motif.name != CONTINUOUS_ONLY]
    total = count_of(share, len(found))
    if total > len(free):
        raise Fault(
            f"{total} binary treatments are wanted, but the {len(found) - len(free)} scenes of "
            f"{CONTINUOUS_ONLY} have a continuous one; ask for at most "
            f"{math.floor(100 * len(free) / len(found)) / 100:g}, or plant no {CONTINUOUS_ONLY}",
            "treatment_binary",
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
    if any(association_vanishes(plan) for plan in plans):
        return plans
    straight = [i for i, plan in enumerate(plans) if plan.equations.continuous in STRAIGHT]
    able = [
        i
        for i, plan in enumerate(plans)
        for line in straight[:1]
        if association_vanishes(_with_profile(plan, plans[line]))
    ]
    if not able:
        return plans
    one, other = pick(rng, able), pick(rng, straight)
    found = list(plans)
    found[one] = _with_profile(plans[one], plans[other])
    found[other] = _with_profile(plans[other], plans[one])
    return found


def _with_profile(plan: ScenePlan, other: ScenePlan) -> ScenePlan:
    """The plan with another one's profile of continuous mechanisms."""
    equations = replace(plan.equations, continuous=other.equations.continuous)
    return replace(plan, equations=equations)
