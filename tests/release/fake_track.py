"""A small track that builds in microseconds, to test the release machinery by itself."""

import json
import os
import signal
import time

from pydantic import Field

from builder.release.rows import TrueValue, task_row, truth_row, world_row
from builder.splits.seeds import attempt_key, instance_key, public_id, stream
from builder.splits.settings import TomlModel, TomlTable, check
from builder.splits.track import BuiltInstance, InstanceSpec, TaskPlan, Track
from builder.tracks.causalds.rows import PRIVATE_CONFIGS
from builder.tracks.causalds.rows import SCHEMAS as TABLES
from grader.io.jsonio import canonical_json
from grader.tracks import TRACKS as GRADED
from grader.tracks.causalds import TRACK as GRADER

VARIANTS = ("effect_estimate.ate_point", "association.sign_only", "causal_sketch.edges_only")
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
        levels = tuple((axis, level) for axis, level in settings.items() if level is not None)
        specs.append(
            InstanceSpec(
                NAME, split, index, instance_key(count_root, NAME, split, index),
                public_id("scene", ids, "scene"), private, ids, canonical_json(settings),
                TaskPlan((1, 1 if private else 33), levels=levels),
            )
        )  # fmt: skip
    return specs


def build(spec: InstanceSpec) -> BuiltInstance:
    """Misbehaves where a test asks for it, through variables so that no fingerprint changes."""
    time.sleep(float(os.environ.get("FAKE_SLOW", "0")))
    if os.environ.get("FAKE_KILL_AT") == str(spec.index):
        os.kill(os.getpid(), signal.SIGKILL)
    if os.environ.get("FAKE_FAIL_AT") == str(spec.index):
        raise ArithmeticError("the matrix is singular")
    settings = json.loads(spec.config_json)
    motif, scene = settings["motif"], spec.instance_id
    values = stream(attempt_key(spec.key, 0), "data").normal(size=(2, 50))
    tasks, truths = [], []
    for key in VARIANTS if settings["variant"] is None else (settings["variant"],):
        task_id, asked = public_id("cds", spec.id_key, key), GRADER.variant(key)
        prompt = f"Wie groß ist es? {values[0, 0]:.4f}"
        tasks.append(task_row(task_id, scene, asked, prompt, {}, input_mode="data"))
        number = TrueValue(float(values.mean()), 0.001234567891, 512, "rqmc")
        told = None if asked.family == "association" else number
        truths.append(truth_row(task_id, scene, motif, TARGETS.get(asked.family, {}), told))
    shown = {
        "instance_id": scene, "view": "clean", "story": "Es war einmal.",
        "columns": [{"name": name, "kind": "continuous"} for name in "XY"],
        "data": [{"name": n, "values": column} for n, column in zip("XY", values, strict=True)],
        "test_features": [], "calibration": [],
    }  # fmt: skip
    labels = {"instance_id": scene, "outcome": "Y", "kind": "continuous", "values": values[1]}
    world = world_row(spec, 0, motif, {}, motif=motif, treatment="X", outcome="Y")
    return BuiltInstance(
        {
            "causalds": tasks, "causalds_truth": truths, "causalds_scenes": [shown],
            "causalds_labels": [labels] if spec.index % 2 else [], "causalds_worlds": [world],
        },
        {"bound not met": 1} if spec.index % 5 == 0 else {},
    )  # fmt: skip


TRACK = Track(
    name=NAME,
    grader=GRADED[NAME],
    tables=TABLES,
    private=PRIVATE_CONFIGS,
    parse=parse,
    plan=plan,
    build=build,
    audit=lambda world, truths, labels, shown: [],
    inputs=lambda variant: frozenset(),
    scenes=True,
)
