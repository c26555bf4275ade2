"""Tasks that are already built, as the draw of an exam sees them."""

import json
from dataclasses import dataclass

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


def built_tasks(read: Read) -> list[BuiltTask]:
    """Every task with its structure, the class of its answer and what its question names."""
    worlds = {
        row["instance_id"]: (row["key"], json.loads(row["world_json"]))
        for row in read("causalds_worlds", ("instance_id", "key", "world_json"))
    }
    columns = ("task_id", "structure", "should_abstain", "value", "target_json")
    truths = {row["task_id"]: row for row in read("causalds_truth", columns)}
    found = []
    for row in read("causalds", ("task_id", "instance_id", "family", "variant", "view")):
        truth, (world_key, world) = truths[row["task_id"]], worlds[row["instance_id"]]
        target, plan = json.loads(truth["target_json"]), world["plan"]
        found.append(
            BuiltTask(
                row["task_id"],
                row["instance_id"],
                f"{row['family']}.{row['variant']}",
                row["view"],
                truth["structure"],
                label_class(target, truth["value"], truth["should_abstain"]),
                world["task_details"].get(row["task_id"], ""),
                plan.get("bundle") or "",
                plan.get("telling") or "",
                world_key,
                truth["should_abstain"],
            )
        )
    return found
