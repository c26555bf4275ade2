"""Tasks that are built, as the draw of an exam looks at them: from rows, staged or released."""

import json

from builder.causalds.exams.draw import BuiltTask
from builder.causalds.exams.labels import label_class
from builder.track import Read


def built_tasks(read: Read) -> list[BuiltTask]:
    """Every task with its structure, the class of its answer and what its question names."""
    details: dict[str, str] = {}
    told: dict[str, tuple[str, str]] = {}
    for row in read("causalds_worlds", ("instance_id", "world_json")):
        world = json.loads(row["world_json"])
        details.update(world["task_details"])
        plan = world["plan"]
        told[row["instance_id"]] = (plan.get("bundle") or "", plan.get("telling") or "")
    columns = ("task_id", "structure", "should_abstain", "value", "target_json")
    truths = {row["task_id"]: row for row in read("causalds_truth", columns)}
    found = []
    for row in read("causalds", ("task_id", "instance_id", "family", "variant", "view")):
        truth, (bundle, telling) = truths[row["task_id"]], told[row["instance_id"]]
        target = json.loads(truth["target_json"])
        found.append(
            BuiltTask(
                row["task_id"],
                row["instance_id"],
                f"{row['family']}.{row['variant']}",
                row["view"],
                truth["structure"],
                label_class(target, truth["value"], truth["should_abstain"]),
                details.get(row["task_id"], ""),
                bundle,
                telling,
            )
        )
    return found
