"""Tasks that are already built, as the draw of an exam sees them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from builder.causal.graph import LatentDAG
from builder.causal.motifs import Motif
from builder.causalds.exams.cells import Cell, label_class
from builder.track import Read


@dataclass(frozen=True, slots=True)
class BuiltTask:
    """A task with what an exam's composition looks at.

    ``question`` is the same for the tasks of a scene that differ in their view only; ``bundle``
    names the scenes that tell one formal problem, "" for most, and ``telling`` how this one tells
    it; ``world`` is the key of their hidden world. ``abstains``: abstaining is right.
    """

    task_id: str
    instance_id: str
    key: str
    view: str
    structure: str
    label: str
    question: str
    bundle: str = ""
    telling: str = ""
    world: str = ""
    abstains: bool = False

    @property
    def cell(self) -> Cell:
        """What its scene is asked, and in which view."""
        return Cell.of(self.key, self.view)


@dataclass(frozen=True, slots=True)
class _Scene:
    """A world row as far as draws look at it."""

    key: str
    record: Mapping[str, Any]
    query: Motif

    @staticmethod
    def read(key: str, text: str) -> "_Scene":
        record = json.loads(text)
        graph = LatentDAG(
            tuple(node["name"] for node in record["world"]["nodes"]),
            tuple((a, b) for a, b in record["world"]["edges"]),
            frozenset(record["world"]["latent"]),
        )
        motif = record["plan"]["motif"]
        return _Scene(key, record, Motif(motif, graph, record["treatment"], record["outcome"]))

    def reversed(self) -> bool | None:
        """Whether effect and association have different signs."""
        ate, r = (self.record["quantities"][key] for key in ("ate", "association"))
        return None if not ate or not ate["value"] * r["value"] else ate["value"] * r["value"] < 0

    def turned(self, node: str) -> bool | None:
        """Whether the association changes sign given a node."""
        told = self.record["quantities"]
        if node not in told["partial"]:
            return None
        product = told["association"]["value"] * told["partial"][node]["value"]
        return product < 0 if product else None


def built_tasks(read: Read) -> list[BuiltTask]:
    """Every task with its structure, the class of its answer and what its question names."""
    scenes = {
        row["instance_id"]: _Scene.read(row["key"], row["world_json"])
        for row in read("causalds_worlds", ("instance_id", "key", "world_json"))
    }
    columns = ("task_id", "structure", "should_abstain", "value", "target_json")
    truths = {row["task_id"]: row for row in read("causalds_truth", columns)}
    found = []
    for row in read("causalds", ("task_id", "instance_id", "family", "variant", "view")):
        truth, scene = truths[row["task_id"]], scenes[row["instance_id"]]
        key, plan = f"{row['family']}.{row['variant']}", scene.record["plan"]
        detail = scene.record["task_details"].get(row["task_id"], "")
        target = json.loads(truth["target_json"])
        found.append(
            BuiltTask(
                row["task_id"],
                row["instance_id"],
                key,
                row["view"],
                truth["structure"],
                label_class(target, truth["value"], truth["should_abstain"]),
                detail,
                plan.get("bundle") or "",
                plan.get("telling") or "",
                scene.key,
                truth["should_abstain"],
            )
        )
    return found
