"""Plan which structure, kinds, profiles and, in a private-truth split, variant each scene gets.

Structures (``blueprint``), mechanism profiles, and the numbers of binary treatments and outcomes,
meet their requested shares by largest remainder. The kinds are spread evenly over the motifs. The
plans then get their indices in a random order seeded by the split's root, so the index carries no
information about the plan.

The composition table, requested beside realised numbers of scenes, follows from the plan alone.
Attempts that are replaced keep the plan of their scene, so that no rejection moves it.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from builder.equations.mechanisms import STRAIGHT
from builder.graphs.identification import is_identifiable
from builder.graphs.motifs import Motif
from builder.splits.seeds import hmac_key, keyed_specs, pick, plan_stream, random_order, stream
from builder.splits.settings import Fault
from builder.splits.track import InstanceSpec
from builder.stories.llm.seeding import Dealer
from builder.stories.types import Kind
from builder.stories.verbalise import DEFAULT as KNOWLEDGE
from builder.stories.verbalise import LLM
from builder.tracks.causalds.design.eligibility import association_vanishes
from builder.tracks.causalds.design.scene_plan import (
    PlannedEquations,
    Questions,
    ScenePlan,
    Structure,
    Wording,
)
from builder.tracks.causalds.design.shares import (
    ByAxis,
    ByName,
    count_of,
    deal_names,
    requested_and_realised,
    spread,
)
from builder.tracks.causalds.exams.candidates import planned_candidates
from builder.tracks.causalds.exams.compose import Classes, classes_of, compose
from builder.tracks.causalds.exams.model import ExamModel
from builder.tracks.causalds.plan.blueprint import CATALOGUE, PLANTED_FROM, Composition, draw_motifs
from builder.tracks.causalds.plan.config import SceneSettings
from builder.tracks.causalds.plan.names import (
    add_model_tellings,
    add_tellings,
    is_retelling,
    name_scenes,
)
from grader.errors import UsageError

TRACK_NAME: Final = "causalds"

SPARE: Final = 4
"""Scenes planned for each task of a balanced exam, which chooses among them."""

FEWEST_PLANNED: Final = 400
"""The fewest scenes that a balanced exam chooses among: so many show each class of answers."""

MOST_TIMES: Final = 10
"""Times that a balanced exam that needs more scenes of a class gets as many again."""

CONTINUOUS_ONLY: Final = "napkin"
"""The planted structure whose treatment is always continuous."""


def plan_scenes(
    config: SceneSettings, split: str, count_root: bytes, private: bool
) -> Sequence[InstanceSpec]:
    """Return the instance specs of a split, in index order. ``count_root`` is its root. Raises
    ``UsageError`` that names the key of a quota that no scenes can meet."""
    streams = partial(plan_stream, count_root, TRACK_NAME, split)
    rng = streams("plan")
    where = f"splits.{split}.{TRACK_NAME}"
    if config.stored_scenes and private:
        what = "stored stories are public; use other words in a private split"
        raise UsageError(f"{where}.words: {what}")
    try:
        plans = _for_exams(config, rng, split, count_root) or _plans(config, rng)
    except Fault as problem:
        raise UsageError(f"{where}.{problem.key}: {problem}") from None
    if not config.exams:
        plans = _with_vanishing_association(rng, plans)
    if private and not config.exams:
        even = ExamModel(kind="balanced", tasks=len(plans))
        key = hmac_key(count_root, f"{TRACK_NAME}/{split}/plan/variants")
        plans = _compose_private(None, even, plans, key, where)
    plans = random_order(rng, plans)
    if config.words == KNOWLEDGE:
        plans = name_scenes(plans, config, streams, split, private)
    if config.tellings and not private:
        at_key = f"{where}.tellings"
        if isinstance(config.tellings, str):
            plans = add_model_tellings(plans, count_root, at_key)
        else:
            plans = add_tellings(plans, config.tellings, streams("tellings"), count_root, at_key)
    if config.llm is not None:
        dealer = Dealer(config.llm, streams("llm"))
        for place, plan in enumerate(plans):
            if plan.telling.words == LLM:
                own = plan.structure
                seeds = dealer.deal(own.query.graph, own.kinds, own.outcome)
                telling = replace(plan.telling, llm=config.llm, seeds=seeds)
                plans[place] = replace(plan, telling=telling)
    return keyed_specs(plans, (TRACK_NAME, split), ("scene", "scene"), count_root, private)


def _for_exams(
    config: SceneSettings, rng: np.random.Generator, split: str, count_root: bytes
) -> list[ScenePlan]:
    """Return scenes of their own for every exam, in the split's composition; none without exams.

    A balanced exam chooses among ``SPARE`` times as many, and more until each class drawn has its
    scenes. Raises ``UsageError`` that names the exam."""
    found: list[ScenePlan] = []
    for name, model in config.exams:
        key = hmac_key(count_root, f"{TRACK_NAME}/{split}/exam/{name}")
        where = f"splits.{split}.exams.{name}.{TRACK_NAME}"
        if model.kind != "balanced":
            plans = random_order(rng, _plans(_with_scenes(config, model.tasks), rng))
            found += _compose_private(name, model, plans, key, where)
            continue
        # The classes, and a refusal, follow from scenes of a seed that everybody knows, so that
        # they tell nothing of the secret.
        known = _plans(_with_scenes(config, FEWEST_PLANNED), stream(b"", "classes of answers"))
        classes = classes_of(planned_candidates(_plans_by_place(known)), where)
        many, plans = _with_scenes(config, max(SPARE * model.tasks, FEWEST_PLANNED)), []
        chosen: list[ScenePlan] = []
        while not chosen:
            plans += random_order(rng, _plans(many, rng))
            try:
                chosen = _compose_private(name, model, plans, key, where, classes)
            except UsageError:
                if len(plans) >= MOST_TIMES * many.scenes:
                    raise
        found += chosen
    return found


def _with_scenes(config: SceneSettings, count: int) -> SceneSettings:
    return config.model_copy(update={"scenes": count})


def _plans_by_place(plans: Sequence[ScenePlan]) -> Iterator[tuple[str, ScenePlan]]:
    return ((str(place), plan) for place, plan in enumerate(plans))


def _compose_private(
    exam: str | None,
    model: ExamModel,
    plans: Sequence[ScenePlan],
    key: bytes,
    where: str,
    classes: Classes | None = None,
) -> list[ScenePlan]:
    """Return an exam's plans, each with variant, one view and, if balanced, a class."""
    candidates = planned_candidates(_plans_by_place(plans))
    composed = compose(model, candidates, key, where, private=True, classes=classes)
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


def _plans(config: SceneSettings, rng: np.random.Generator) -> list[ScenePlan]:
    """Return one unnamed plan per scene: its structure, equations, telling and questions."""
    found = config.stored_scenes or tuple(
        (one, Wording(config.words)) for one in _drawn_structures(config, rng)
    )
    measured = spread(rng, config.outcome_measured, config.scenes)
    continuous = deal_names(rng, config.profiles.continuous, config.scenes)
    binary = deal_names(rng, config.profiles.binary, config.scenes)
    views = config.changed_views
    return [
        ScenePlan(
            structure,
            PlannedEquations(continuous[turn], binary[turn], config.rows.train, config.rows.test),
            telling,
            Questions(views, measured[turn], config.diagnostics),
        )
        for turn, (structure, telling) in enumerate(found)
    ]


def _drawn_structures(config: SceneSettings, rng: np.random.Generator) -> list[Structure]:
    """Return structures by motif, continuous treatments first, binary outcomes spread evenly."""
    found = draw_motifs(config, config.scenes, rng)
    names = [motif.name for motif, _ in found]
    treatments = _binary_treatments(rng, config.treatment_binary, names)
    order = list(dict.fromkeys(names))
    slots = sorted(range(len(found)), key=lambda i: (order.index(names[i]), treatments[i]))
    outcomes = spread(rng, config.outcome_binary, config.scenes)
    kinds: tuple[Kind, Kind] = ("continuous", "binary")
    return [
        Structure.from_motif(*found[place], kinds[treatments[place]], kinds[outcome])
        for place, outcome in zip(slots, outcomes, strict=True)
    ]


def _binary_treatments(rng: np.random.Generator, share: float, motifs: Sequence[str]) -> list[bool]:
    """Return whether each treatment is binary, never a napkin's: its ETT would follow its ATE."""
    free = [place for place, name in enumerate(motifs) if name != CONTINUOUS_ONLY]
    total = count_of(share, len(motifs))
    if total > len(free):
        raise Fault(
            f"{total} binary treatments are wanted, but the {len(motifs) - len(free)} scenes of "
            f"{CONTINUOUS_ONLY} have a continuous one; ask for at most "
            f"{math.floor(100 * len(free) / len(motifs)) / 100:g}, or plant no {CONTINUOUS_ONLY}",
            "treatment_binary",
        )
    flags = [False] * len(motifs)
    if free:
        among_free = spread(rng, min(share * len(motifs) / len(free), 1.0), len(free))
        for place, flag in zip(free, among_free, strict=True):
            flags[place] = flag
    return flags


def _with_vanishing_association(
    rng: np.random.Generator, plans: list[ScenePlan]
) -> list[ScenePlan]:
    """Return the plans, if possible with one whose association vanishes given a third variable.

    For that a scene may swap profiles with one whose equations are lines: all quotas stay met."""
    if any(association_vanishes(plan) for plan in plans):
        return plans
    straight = [i for i, plan in enumerate(plans) if plan.equations.continuous in STRAIGHT]
    line = min(STRAIGHT)  # all are alike here
    able = [i for i, plan in enumerate(plans) if association_vanishes(_with_profile(plan, line))]
    if not (straight and able):
        return plans
    one, other = pick(rng, able), pick(rng, straight)
    found = list(plans)
    found[one] = _with_profile(plans[one], plans[other].equations.continuous)
    found[other] = _with_profile(plans[other], plans[one].equations.continuous)
    return found


def _with_profile(plan: ScenePlan, continuous: str) -> ScenePlan:
    return replace(plan, equations=replace(plan.equations, continuous=continuous))


_FOUND: Final = "identifiable"
_LOST: Final = "not identifiable"


def composition_table(config: SceneSettings, plans: Sequence[ScenePlan]) -> ByAxis:
    """Return requested and realised numbers of scenes by axis. A scene told several times counts
    once. With stored scenes there are the axes of the profiles alone."""
    plans = [plan for plan in plans if not is_retelling(plan)]
    structures = [plan.structure for plan in plans]
    equations = [plan.equations for plan in plans]
    profiles = {
        "continuous profile": _axis(config.profiles.continuous, [x.continuous for x in equations]),
        "binary profile": _axis(config.profiles.binary, [x.binary for x in equations]),
    }
    if config.stored_scenes:
        return profiles
    verdicts = [_verdict(one.query) for one in structures]
    hidden = [_verdict(one.query) for one in structures if one.latent]
    harmless = {_FOUND: config.harmless, _LOST: 1.0 - config.harmless}
    grafted = {
        ("not grafted" if k == 0 else f"grafted_{k}"): share
        for k, share in enumerate(config.grafts)
        if share > 0.0
    }
    labels = ["not grafted" if x.label == x.motif else x.label for x in structures]
    return {
        "motif": _axis(_motif_shares(config), [x.motif for x in structures]),
        "grafts": _axis(grafted, labels),
        "verdict": _axis(_verdict_shares(config), verdicts),
        "unmeasured variable": _axis(harmless, hidden),
        **profiles,
        "treatment": _axis(_kinds(config.treatment_binary), [x.treatment_kind for x in structures]),
        "outcome": _axis(_kinds(config.outcome_binary), [x.outcome_kind for x in structures]),
    }


def _verdict(motif: Motif) -> str:
    return _FOUND if is_identifiable(*motif.effect, "ate") else _LOST


def _axis(shares: Mapping[str, float], found: Sequence[str]) -> ByName:
    """Return numbers of scenes by name: requested as ``shares``, realised as in ``found``."""
    mass = sum(shares.values())
    wanted = {name: len(found) * share / mass for name, share in shares.items()}
    return requested_and_realised(wanted, Counter(found))


def _kinds(share: float) -> dict[str, float]:
    return {"binary": share, "continuous": 1.0 - share}


def _motif_shares(parts: Composition) -> dict[str, float]:
    """Return the share of every motif and planted structure, these taken from ``PLANTED_FROM``."""
    mass = sum(parts.motifs.values())
    shares = {name: weight / mass for name, weight in parts.motifs.items()}
    for name, share in parts.planted.items():
        shares[name] = share
        shares[PLANTED_FROM] -= share
    return shares


def _verdict_shares(parts: Composition) -> dict[str, float]:
    """Return the shares of verdicts: by nature of the motif, and by an injected confounder."""
    spoiled = parts.confounded + sum(
        share for name, share in _motif_shares(parts).items() if _verdict(CATALOGUE[name]) == _LOST
    )
    return {_FOUND: 1.0 - spoiled, _LOST: spoiled}
