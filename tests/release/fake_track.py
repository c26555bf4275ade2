"""A small track that builds in microseconds, to test the release machinery by itself."""

import json
import os
import signal
import time

from pydantic import Field

from builder.splits.seeds import attempt_key, instance_key, public_id, stream
from builder.splits.settings import TomlModel, TomlTable, check
from builder.splits.track import BuiltInstance, InstanceSpec, TaskPlan, Track
from builder.tracks.causalds.rows import PRIVATE_CONFIGS
from builder.tracks.causalds.rows import SCHEMAS as TABLES
from grader.io.jsonio import canonical_json
from grader.tracks import TRACKS as GRADED

FORMS = {
    "effect_estimate.ate_point": "ate", "association.sign_only": "sign",
    "causal_sketch.edges_only": "edges",
}  # fmt: skip
VARIANTS = tuple(FORMS)
MOTIFS = ("chain", "fork")
TARGETS = {"association": {"accepted": ["+"]}, "causal_sketch": {"nodes": ["X"], "edges": []}}

NAME = "causalds"


class Settings(TomlModel):
    scenes: int = Field(ge=1, le=1000)


def parse(table: TomlTable) -> int:
    return check(Settings, table).scenes


def plan(config: int, split: str, count_root: bytes, private: bool) -> list[InstanceSpec]:
    specs = []
    for index in range(config):
        ids = instance_key(count_root, NAME, split, index, "id")
        settings = {"motif": MOTIFS[index % 2], "variant": VARIANTS[index % 3] if private else None}
        specs.append(
            InstanceSpec(
                NAME, split, index, instance_key(count_root, NAME, split, index),
                public_id("scene", ids, "scene"), private, ids, canonical_json(settings),
                _asked(settings),
            )
        )  # fmt: skip
    return specs


def build(spec: InstanceSpec) -> BuiltInstance:
    _obey(spec)
    settings = json.loads(spec.config_json)
    key = attempt_key(spec.key, 0)
    values = stream(key, "data").normal(size=(2, 50))
    asked = VARIANTS if settings["variant"] is None else (settings["variant"],)
    tasks, truths = [], []
    for name in asked:
        family, _, variant = name.partition(".")
        task_id = public_id("cds", spec.id_key, name)
        tasks.append(
            {
                "task_id": task_id, "instance_id": spec.instance_id, "track": NAME,
                "rung": 2, "family": family, "variant": variant, "view": "clean",
                "input_mode": "data", "prompt": f"Wie groß ist es? {values[0, 0]:.4f}",
                "answer_schema": FORMS[name], "answer_file": f"{task_id}.json",
                "inputs_json": "{}",
            }
        )  # fmt: skip
        truths.append(
            {
                "task_id": task_id, "instance_id": spec.instance_id,
                "should_abstain": False, "structure": settings["motif"],
                "value": None if family == "association" else float(values.mean()),
                "value_se": 0.001234567891, "value_draws": 512, "value_source": "rqmc",
                "target_json": canonical_json(TARGETS.get(family, {})),
            }
        )  # fmt: skip
    tables = [{"name": name, "values": column} for name, column in zip("XY", values, strict=True)]
    return BuiltInstance(
        {
            "causalds": tasks,
            "causalds_truth": truths,
            "causalds_scenes": [
                {
                    "instance_id": spec.instance_id, "view": "clean", "story": "Es war einmal.",
                    "columns": [{"name": name, "kind": "continuous"} for name in "XY"],
                    "data": tables, "test_features": [], "calibration": [],
                }
            ],
            "causalds_labels": [
                {
                    "instance_id": spec.instance_id, "outcome": "Y", "kind": "continuous",
                    "values": values[1],
                }
            ] if spec.index % 2 else [],
            "causalds_worlds": [
                {
                    "instance_id": spec.instance_id, "index": spec.index, "attempt": 0,
                    "world_key": spec.key.hex(), "structure": settings["motif"],
                    "motif": settings["motif"], "treatment": "X", "outcome": "Y",
                    "world_json": "{}",
                }
            ],
        },
        {"bound not met": 1} if spec.index % 5 == 0 else {},
    )  # fmt: skip


def _obey(spec: InstanceSpec) -> None:
    """Misbehaves where a test asks for it, through variables so that no fingerprint changes."""
    time.sleep(float(os.environ.get("FAKE_SLOW", "0")))
    if os.environ.get("FAKE_KILL_AT") == str(spec.index):
        os.kill(os.getpid(), signal.SIGKILL)
    if os.environ.get("FAKE_FAIL_AT") == str(spec.index):
        raise ArithmeticError("the matrix is singular")


def _asked(settings: dict[str, str | None]) -> TaskPlan:
    levels = tuple((axis, level) for axis, level in settings.items() if level is not None)
    return TaskPlan((1, 33) if settings["variant"] is None else (1, 1), levels=levels)


TRACK = Track(
    name=NAME,
    grader=GRADED[NAME],
    tables=TABLES,
    private=PRIVATE_CONFIGS,
    parse=parse,
    plan=plan,
    build=build,
    audit=lambda world, truths, labels, shown: [],
    inputs=lambda variant, inputs: frozenset(),
    scenes=True,
)
