"""What nothing public may give away of a hidden program, for the leak test."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from builder.gate.tables import TaskRow
from builder.track import AskedFacts, HiddenFacts, LeakFacts

_NAME: Final = re.compile(r"X\d+")


def _asked(task: TaskRow, truth: Mapping[str, Any], world: Mapping[str, Any]) -> AskedFacts:
    """The number of worlds tells the level of evidence nearly, and is data."""
    inputs, target = task.inputs, json.loads(truth["target_json"])
    variables = list(inputs["variables"])
    blocks = inputs.get("blocks") or []
    shown: dict[str, float | str] = {
        "first listed": variables[0],
        "last listed": variables[-1],
        "variables ascending": str(_ascending(variables)),
        "roots ascending": str(_ascending(inputs.get("roots") or [])),
        "blocks ascending": " ".join(str(_ascending(block)) for block in blocks),
        "targets ascending": str(all(_ascending(one["targets"]) for one in inputs["worlds"])),
    }
    program = json.loads(world["world_json"])["program"]
    facts = {
        "evidence": str(target["pool"]),
        "determined": str(target["determined"]),
        "assigned worlds held out": str(
            sum(one["mode"] == "hard_assigned" for one in target["heldout"])
        ),
        **(_program_facts(inputs, program) if task.family != "alternative" else {}),
        **(_alternative_facts(target) if target["alternative"] else {}),
    }
    return AskedFacts((len(variables), len(inputs["worlds"])), facts, shown)


def _program_facts(inputs: Mapping[str, Any], program: Mapping[str, Any]) -> dict[str, str]:
    """Of a program that the prompt does not print; its order only where that is not told."""
    mechanisms, order = program["mechanisms"], program["order"]
    facts = {
        "edges": str(sum(len(set(_NAME.findall(text))) for text in mechanisms.values())),
        "has xor or iff": str(any("(xor" in m or "(iff" in m for m in mechanisms.values())),
        "parents of the first mechanism": str(len(set(_NAME.findall(mechanisms[min(mechanisms)])))),
    }
    if inputs["order"] is None and not inputs["blocks"]:
        facts["last in order"] = order[-1]
        facts["first mechanism in order"] = next(name for name in order if name in mechanisms)
    for block in (inputs["blocks"] or [])[1:]:
        if len(block) > 1:
            facts["first in its block"] = str(min(block, key=order.index) == block[0])
            break
    if inputs["roots"] is None:
        facts["lowest label is a root"] = str(inputs["variables"][0] not in mechanisms)
        facts["highest label is a root"] = str(inputs["variables"][-1] not in mechanisms)
    return facts


def _alternative_facts(target: Mapping[str, Any]) -> dict[str, str]:
    """Where the stored alternative differs from the program, and which intervention shows it."""
    other = target["alternative"]
    changed = [name for name, text in target["gold"].items() if other["mechanisms"][name] != text]
    return {
        "changed mechanism": min(changed, default=""),
        "intervened on": other["intervention"]["variable"],
    }


def _ascending(names: Sequence[str]) -> bool:
    return list(names) == sorted(names, key=lambda name: int(name[1:]))


LEAK_FACTS: Final = LeakFacts(
    hidden=lambda _world: HiddenFacts((0, 0, 0), {}),
    asked=_asked,
    untested=(
        ("the program as an answer", "nearly every task has another one, so there is no class; "
         "constant and random answers earn nothing"),
        ("held-out cells", "the program and the rows shown decide them: they are data"),
        ("what the shown worlds set", "worlds are added with the program in view, as the paper "
         "does: that is evidence, the same under every disclosure"),
        ("the formulas of a reference", "their spelling is the data of the task"),
    ),
)  # fmt: skip
