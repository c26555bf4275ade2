"""Small causalds scenes for the tests of this folder."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from builder.graphs.motifs import MOTIFS
from builder.splits.settings import TomlTable
from builder.splits.track import BuiltInstance, InstanceSpec
from builder.tracks.causalds.design.scene_plan import VIEWS
from builder.tracks.causalds.exams.model import ExamModel, parse_exam
from builder.tracks.causalds.plan.scenes import plan_scenes
from builder.tracks.causalds.track import TRACK

ROOT = b"a root of a test, 32 bytes long."
SEVEN = ("chain", "confounding", "fork", "collider", "mediation", "frontdoor", "iv")


def table(**changes: object) -> dict[str, object]:
    """A causalds table of a split file, with some keys changed."""
    return {
        "scenes": 28,
        "rows": {"train": 400, "test": 100},
        "motifs": dict.fromkeys(SEVEN, 1),
        "treatment_binary": 0.5,
        "outcome_binary": 0.4,
        "views": ["clean"],
        **changes,
    }


def specs(
    *, private: bool = False, root: bytes = ROOT, split: str = "dev", **changes: object
) -> list[InstanceSpec]:
    return plan(table(**changes), private=private, root=root, split=split)


def model(root: Path, name: str, **changes: object) -> ExamModel:
    """A shipped exam file, with some keys changed."""
    text = (root / "splits" / "exams" / f"{name}.toml").read_text(encoding="utf-8")
    return parse_exam(TomlTable({**tomllib.loads(text), **changes}, f"{name}."))


def plan(
    settings: Mapping[str, object], *, private: bool = False, root: bytes = ROOT, split: str = "dev"
) -> list[InstanceSpec]:
    config = TRACK.parse(TomlTable(settings, "test.toml: splits.dev.causalds."))
    return list(plan_scenes(config, split, root, private))


@cache
def public() -> tuple[BuiltInstance, ...]:
    """A built public-truth split over all motifs; every variant is asked."""
    return tuple(map(TRACK.build, specs(scenes=24, motifs=dict.fromkeys(MOTIFS, 1))))


@cache
def private() -> tuple[BuiltInstance, ...]:
    return tuple(map(TRACK.build, specs(private=True, scenes=24, split="test")))


def rows(built: BuiltInstance, config: str) -> Sequence[Mapping[str, Any]]:
    return built.rows[f"causalds{config}"]


def variant_of(task: Mapping[str, Any]) -> str:
    return f"{task['family']}.{task['variant']}"


def world(built: BuiltInstance) -> dict[str, Any]:
    return _parsed(rows(built, "_worlds")[0]["world_json"])


_parsed: Any = cache(json.loads)


def asked(built: BuiltInstance) -> list[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Variant, task row and truth row of every task."""
    truth = {row["task_id"]: row for row in rows(built, "_truth")}
    return [(variant_of(row), row, truth[row["task_id"]]) for row in rows(built, "")]


def tasks(built: BuiltInstance) -> dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Task row and truth row by variant: of several questions of one variant, the last."""
    return {key: (task, truth) for key, task, truth in asked(built)}


@cache
def every_task() -> tuple[tuple[str, Mapping[str, Any], Mapping[str, Any], BuiltInstance], ...]:
    """Variant, task row, truth row and scene of every task of the public-truth split."""
    return tuple((*entry, built) for built in public() for entry in asked(built))


@cache
def in_views() -> tuple[BuiltInstance, ...]:
    """Scenes in all views that all tests look at, built once a process."""
    planned = plan(
        {
            "scenes": 12, "composition": "full", "rows": {"train": 600, "test": 100},
            "views": list(VIEWS), "outcome_measured": 0.3,
            "planted": {"napkin": 0.1, "mediation_confounded": 0.1},
        }
    )  # fmt: skip
    return tuple(map(TRACK.build, planned))


def plain(scene: Mapping[str, Any]) -> dict[str, Any]:
    """A scene row as it is read back from Parquet."""
    return {
        **scene,
        **{
            part: [{**c, "values": list(map(float, c["values"]))} for c in scene[part]]
            for part in ("data", "test_features", "calibration")
        },
    }


def by_view(one: BuiltInstance) -> dict[str, dict[str, Any]]:
    return {row["view"]: plain(row) for row in one.rows["causalds_scenes"]}


def values(row: Mapping[str, Any], part: str) -> dict[str, np.ndarray]:
    return {c["name"]: np.asarray(c["values"]) for c in row[part]}


def part(prompt: str, title: str) -> str:
    return prompt.partition(f"\n## {title}\n\n")[2].partition("\n\n## ")[0]


def has_binary(record: Mapping[str, Any]) -> bool:
    return any(record["variables"][node]["kind"] == "binary" for node in record["columns"])
