"""The causalds track as the release machinery sees it: parse, plan, build."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Final

import pyarrow as pa

from builder.causalds import rows
from builder.causalds.ask import ASKERS, Question
from builder.causalds.config import Config, parse_config
from builder.causalds.observe import Observation, observe
from builder.causalds.plan import TRACK_NAME, can_host, plan_scenes
from builder.causalds.realised import Table, composition_table
from builder.causalds.scene import (
    Rejected,
    Scene,
    column_order,
    draw_tables,
    narrate,
    sample_hidden_world,
)
from builder.causalds.types import ScenePlan
from builder.causalds.views import CLEAN
from builder.release.types import Built, InstanceSpec, Row
from builder.seeds import attempt_key, stream
from grader.errors import UsageError
from grader.spec import variant as variant_of

MAX_ATTEMPTS: Final = 60
"""Tries at one scene before its plan is declared infeasible."""


@dataclass(frozen=True, slots=True)
class CausalDS:
    """Scenes with up to one task per variant; see :class:`builder.release.types.Track`."""

    name: str = TRACK_NAME
    schemas: Mapping[str, pa.Schema] = field(default_factory=lambda: rows.SCHEMAS)
    private_configs: frozenset[str] = rows.PRIVATE_CONFIGS

    def parse(self, table: Mapping[str, object], where: str) -> Config:
        """The checked TOML table; raises ``UsageError`` naming the key."""
        return parse_config(table, where)

    def plan(
        self, config: Config, split: str, count_root: bytes, private: bool
    ) -> list[InstanceSpec]:
        """The scenes of a split, in index order."""
        return plan_scenes(config, split, count_root, private)

    def composition(self, config: Config, specs: Sequence[InstanceSpec]) -> Table:
        """Requested beside realised numbers of scenes, by axis, for the manifest."""
        return composition_table(config, [ScenePlan.from_json(s.config_json) for s in specs])

    def build(self, spec: InstanceSpec) -> Built:
        """One scene with its tasks, as rows.

        An attempt whose numbers miss their bounds, or that cannot be asked the planned variant, is
        replaced by the next one. Raises ``UsageError`` when none of ``MAX_ATTEMPTS`` will do.
        """
        rejections: Counter[str] = Counter()
        clock = _Clock()
        for attempt in range(MAX_ATTEMPTS):
            try:
                built = _try(spec, attempt, clock)
            except Rejected as rejected:
                rejections[rejected.reason] += 1
                continue
            return Built(built, tuple(sorted(rejections.items())), clock.seconds())
        reasons = ", ".join(f"{reason} ({n}x)" for reason, n in sorted(rejections.items()))
        raise UsageError(
            f"{spec.label}: no scene in {MAX_ATTEMPTS} attempts: {reasons}; "
            "change the motifs or kinds of this split, or its seed"
        )


def _try(spec: InstanceSpec, attempt: int, clock: "_Clock") -> dict[str, list[Row]]:
    """One attempt at a scene; raises :class:`Rejected`."""
    plan = ScenePlan.from_json(spec.config_json)
    key = attempt_key(spec.key, attempt)
    with clock("world and truths"):
        world, truths = sample_hidden_world(plan, key)
    with clock("story"):
        narration = narrate(plan, key)
    with clock("data"):
        columns = column_order(plan, key)
        tables = draw_tables(plan, key, world, columns)
    scene = Scene(plan, plan.query, world, truths, narration, columns, tables)
    with clock("views"):
        views = [observe(scene, view, key) for view in plan.views]
    with clock("tasks"):
        asked = [
            (shown, _questions(replace(scene, measured=shown.measured), key, shown.view.name))
            for shown in views
        ]
        if not all(questions for _, questions in asked):
            raise Rejected("planned task not eligible")
        return _rows(spec, scene, attempt, asked)


def _questions(scene: Scene, key: bytes, view: str) -> dict[str, Question]:
    """The tasks of a view by variant: all that are eligible, or only the planned one."""
    plan = scene.plan
    suffix = "" if view == CLEAN.name else f"/{view}"
    keys = ASKERS if plan.variant is None else (plan.variant,)
    asked = {
        name: ASKERS[name].ask(scene, stream(key, f"order/{name}{suffix}"))
        for name in keys
        if can_host(name, plan)
    }
    return {name: question for name, question in asked.items() if question is not None}


def _rows(
    spec: InstanceSpec,
    scene: Scene,
    attempt: int,
    asked: Sequence[tuple[Observation, Mapping[str, Question]]],
) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {config: [] for config in rows.SCHEMAS}
    tasks: dict[str, tuple[str, str]] = {}
    predictions = False
    for shown, questions in asked:
        variants = {key: variant_of(TRACK_NAME, key) for key in questions}
        # A private scene shows what its one task needs and no more.
        data = not spec.private or any(v.input_mode == "data" for v in variants.values())
        predicted = not spec.private or any(v.family == "prediction" for v in variants.values())
        predictions |= predicted
        for key, question in questions.items():
            variant = variants[key]
            tasks[rows.task_id(spec, variant, shown.view.name)] = (key, shown.view.name)
            found["causalds"].append(rows.task_row(spec, scene, shown, variant, question))
            found["causalds_truth"].append(
                rows.truth_row(spec, scene, shown, variant, question.truth)
            )
        found["causalds_scenes"].append(
            rows.scene_row(spec, scene, shown, data=data, test_features=predicted)
        )
    if predictions:
        found["causalds_labels"].append(rows.label_row(spec, scene))
    views = [shown for shown, _ in asked]
    found["causalds_worlds"].append(rows.world_row(spec, scene, views, attempt, tasks))
    return found


class _Clock:
    """Adds up the seconds of named stages."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        start = perf_counter()
        try:
            yield
        finally:
            self._seconds[stage] = self._seconds.get(stage, 0.0) + perf_counter() - start

    def seconds(self) -> tuple[tuple[str, float], ...]:
        return tuple(self._seconds.items())


TRACK: Final = CausalDS()
