"""What nothing public may give away of a hidden program, for the leak test."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from builder.gate.tables import TaskRow
from builder.track import LeakFacts

Row = Mapping[str, Any]
_NAME: Final = re.compile(r"X\d+")


def leak_facts(task: TaskRow, truth: Row, world: Row) -> LeakFacts:
    """Return the facts of a task. The number of worlds tells the level of evidence nearly, and is
    data; what the prompt prints of a program is no secret."""
    inputs, target = task.inputs, json.loads(truth["target_json"])
    program = json.loads(world["world_json"])["program"]
    variables, blocks = tuple(inputs["variables"]), inputs.get("blocks") or []
    assigned = sum(one["mode"] == "hard_assigned" for one in target["heldout"])
    facts = {
        "evidence": str(target["pool"]),
        "determined": str(target["determined"]),
        "assigned worlds held out": str(assigned),
        **(_hidden_program(inputs, program) if task.family != "alternative" else {}),
    }
    if other := target["alternative"]:
        gold = target["gold"].items()
        changed = [name for name, text in gold if other["mechanisms"][name] != text]
        facts["changed mechanism"] = min(changed, default="")
        facts["intervened on"] = other["intervention"]["variable"]
    return LeakFacts(
        facts=facts,
        of_task=(len(variables), len(inputs["worlds"])),
        orders=(variables, tuple(inputs.get("roots") or ())),
        shown={
            "first listed": variables[0],
            "variables ascending": str(_ascending(variables)),
            "blocks ascending": " ".join(str(_ascending(block)) for block in blocks),
            "targets ascending": str(all(_ascending(one["targets"]) for one in inputs["worlds"])),
        },
    )


def _hidden_program(inputs: Row, program: Row) -> dict[str, str]:
    """Return facts about a program that the prompt does not print, of its order and its roots where
    these are not told."""
    mechanisms, order = program["mechanisms"], program["order"]
    facts = {
        "edges": str(sum(len(set(_NAME.findall(text))) for text in mechanisms.values())),
        "has xor or iff": str(any("(xor" in m or "(iff" in m for m in mechanisms.values())),
    }
    if inputs["order"] is None and not inputs["blocks"]:
        facts["last in order"] = order[-1]
        facts["first mechanism in order"] = next(name for name in order if name in mechanisms)
    if inputs["roots"] is None:
        facts["lowest label is a root"] = str(inputs["variables"][0] not in mechanisms)
        facts["highest label is a root"] = str(inputs["variables"][-1] not in mechanisms)
    return facts


def _ascending(names: Sequence[str]) -> bool:
    return list(names) == sorted(names, key=lambda name: int(name[1:]))
