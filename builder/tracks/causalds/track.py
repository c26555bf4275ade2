"""Hand the causalds track to the release machinery: parse, plan, build."""

import fnmatch
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from builder.release.attempts import Rejection, first_accepted
from builder.splits.seeds import attempt_key, pick, stream
from builder.splits.settings import TomlTable
from builder.splits.track import BuiltInstance, ExamFiles, Floors, InstanceSpec, Row, Track
from builder.stories.llm.settings import table_without_places
from builder.tracks.causalds import rows
from builder.tracks.causalds.ask import ASKERS
from builder.tracks.causalds.ask.constants import constants, twin, variants_of
from builder.tracks.causalds.ask.wording import Question, refuse_unwritten
from builder.tracks.causalds.check.audit import audit_instance, read_scene_story
from builder.tracks.causalds.check.public import leak_facts, lends, shown_problems
from builder.tracks.causalds.design.eligibility import ELIGIBILITY, MOST_NAMED, hosted_variants
from builder.tracks.causalds.design.scene_plan import CLEAN, ScenePlan
from builder.tracks.causalds.design.shares import ByAxis
from builder.tracks.causalds.exams.candidates import (
    built_candidates,
    label_class,
    planned_candidates,
)
from builder.tracks.causalds.exams.compose import compose, composition_of
from builder.tracks.causalds.exams.model import parse_exam
from builder.tracks.causalds.exams.priors import Cell
from builder.tracks.causalds.make.observe import Observation, check_recoverability, observe
from builder.tracks.causalds.make.scene import Scene, draw_rows, narrate, sample_hidden_world
from builder.tracks.causalds.plan.config import SceneSettings, parse_config, with_exams
from builder.tracks.causalds.plan.scenes import TRACK_NAME, composition_table, plan_scenes
from builder.tracks.causalds.show.page import inspect_scene
from builder.tracks.causalds.show.scaffold import write_scaffold
from grader.tracks.causalds import TRACK as GRADER

MAX_ATTEMPTS: Final = 60
"""Tries at one scene before its plan is declared infeasible."""

WANTED_ATTEMPTS: Final = 30
"""Tries at an answer of the planned class, before any will do."""

PROFILE_ATTEMPTS: Final = 30
"""Tries at the planned mechanisms before the plainest ones: a few dense graphs allow no others."""

PLAINEST: Final = ("linear_additive", "single_regulator_logistic")
"""Continuous and binary profile that find a world in range for any graph."""

VARIANT_ATTEMPTS: Final = 45
"""Tries at the planned variant, before any of its family will do (and at last any at all)."""

FAMILY_ATTEMPTS: Final = 55
"""Tries at a variant of the planned family."""


def composition(config: SceneSettings, specs: Sequence[InstanceSpec]) -> ByAxis:
    """Return requested and realised numbers of scenes by axis and level, for the manifest. Of a
    private split it adds the same of each exam's planned tasks, as ``<exam>: <axis>``."""
    plans = [ScenePlan.from_json(s.config_json) for s in specs]
    found, views = composition_table(config, plans), config.views
    for name, model in config.exams:
        asked = [
            (plan.structure.label, Cell(plan.questions.variant, plan.questions.views[0].name))
            for plan in plans
            if plan.questions.exam == name and plan.questions.variant is not None
        ]
        for axis, levels in composition_of(model, asked, views).items():
            found[f"{name}: {axis}"] = levels
    return found


def parse(table: TomlTable) -> SceneSettings:
    """Return the checked ``causalds`` table. Raises ``UsageError`` with the key and the remedy, and
    for a variant that is not written yet."""
    refuse_unwritten()
    config = parse_config(table)
    check_recoverability(config.changed_views, config.diagnostics, table)
    return config


def build(spec: InstanceSpec) -> BuiltInstance:
    """Return one scene with its tasks, as rows, of the first attempt that is accepted. Raises
    ``UsageError`` when none of ``MAX_ATTEMPTS`` will do."""
    return first_accepted(
        spec,
        partial(_try, spec),
        MAX_ATTEMPTS,
        "scene",
        "change the motifs, kinds or thresholds of this split, or its seed",
    )


def _try(spec: InstanceSpec, attempt: int, wordless: int) -> dict[str, list[Row]]:
    """Return the rows of an attempt. ``wordless`` counts earlier ones that had no story."""
    plan = ScenePlan.from_json(spec.config_json)
    world_key = plan.equations.world_key
    # A story does not depend on the world, so what a language model wrote serves every attempt.
    words = attempt_key(spec.key, attempt if plan.telling.llm is None else wordless)
    # Nor does a world on the story: tellings of one problem keep it, whoever lacked words.
    attempt -= wordless * (world_key is not None)
    if attempt >= PROFILE_ATTEMPTS:
        plain = replace(plan.equations, continuous=PLAINEST[0], binary=PLAINEST[1])
        plan = replace(plan, equations=plain)
    key = attempt_key(spec.key if world_key is None else bytes.fromhex(world_key), attempt)
    world, truths = sample_hidden_world(plan, key)
    narration = narrate(plan, words)
    scene = Scene(plan, world, truths, narration, draw_rows(plan, key, world), key)
    views = [observe(scene, view, key) for view in plan.questions.views]
    asked = [(shown, _questions(scene, shown, attempt)) for shown in views]
    if not all(questions for _, questions in asked):
        raise Rejection("planned task not eligible")
    return rows.instance_rows(spec, scene, attempt, asked)


def _questions(scene: Scene, shown: Observation, attempt: int) -> list[tuple[str, Question]]:
    """Return (variant, question) of all eligible tasks, of a private scene one at random."""
    scene = replace(scene, replaced=frozenset(shown.bundles))
    variant, wanted = scene.plan.questions.variant, scene.plan.questions.wanted
    able = hosted_variants(scene.plan)
    if variant is not None and attempt < FAMILY_ATTEMPTS:
        family = f"{variant.partition('.')[0]}.*"
        able = fnmatch.filter(able, variant if attempt < VARIANT_ATTEMPTS else family)
    suffix = "" if shown.view.name == CLEAN.name else f"/{shown.view.name}"
    found = [
        (name, question)
        for name in able
        for question in ASKERS[name](scene, stream(scene.key, f"order/{name}{suffix}"))
    ]
    if variant is None:
        return found
    if wanted is not None and attempt < WANTED_ATTEMPTS:
        found = [(name, question) for name, question in found if _class(question) == wanted]
    return found and [pick(stream(scene.key, "pick"), found)]


def _class(question: Question) -> str:
    truth = question.truth
    value = None if truth.quantity is None else truth.quantity.value
    return label_class(truth.target, value, truth.should_abstain)


TRACK: Final = Track(
    name=TRACK_NAME,
    grader=GRADER,
    tables=rows.SCHEMAS,
    private=rows.PRIVATE_CONFIGS,
    parse=parse,
    plan=plan_scenes,
    build=build,
    audit=audit_instance,
    read=read_scene_story,
    floors=Floors(constants=constants, twin=twin, variants_of=variants_of),
    inputs=lambda variant: ELIGIBILITY[variant.key].inputs,
    scenes=True,
    exams=ExamFiles(
        parse=parse_exam,
        plan_for=with_exams,
        built=built_candidates,
        planned=lambda specs: planned_candidates(
            ((s.instance_id, ScenePlan.from_json(s.config_json)) for s in specs), MOST_NAMED
        ),
        compose=compose,
    ),
    published=table_without_places,
    composition=composition,
    leak_facts=leak_facts,
    scene_page=inspect_scene,
    new_variant=write_scaffold,
    shown=shown_problems,
    lends=lends,
)
