"""What nothing public may give away of an episode, for the leak test.

Readings are evidence: no value of them, and nothing whose size counts their digits, is a feature.
"""

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

from builder.gate.tables import TaskRow
from builder.track import AskedFacts, HiddenFacts, LeakFacts

_DISCLOSED: Final = (
    "budget", "family", "frequency_may_be_parent", "mode", "reactor_range", "shifts",
    "tolerance",
)  # fmt: skip


def _asked(task: TaskRow, truth: Mapping[str, Any], _world: Mapping[str, Any]) -> AskedFacts:
    inputs, target = task.inputs, json.loads(truth["target_json"])
    names = [variable["name"] for variable in inputs["variables"]]
    barred = [one["name"] for one in inputs["variables"] if not one["controllable"]]
    orders = [inputs["reactor"], *inputs["records"]]
    disclosed = (
        *(repr(inputs[name]) for name in _DISCLOSED),
        len(names), len(barred), len(inputs["records"]), len(inputs["chain"]),
        inputs["opening"] is None,
    )  # fmt: skip
    shown: dict[str, float | str] = {
        "first": names[0],
        "last": names[-1],
        "barred": " ".join(sorted(barred)),
        "barred places": " ".join(str(names.index(name)) for name in barred),
        "alphabetical": sum(a < b for a, b in pairwise(names)),
        "table order": repr([sorted(names).index(n) for n in list(orders[0]) if n in names]),
    }
    return AskedFacts(disclosed, _facts(names, barred, inputs["target"]["name"], target), shown)


def _facts(
    names: list[str], barred: list[str], asked: str, target: Mapping[str, Any]
) -> dict[str, str]:
    """Of the mechanism as a whole, then of the property that the list names first, the one that is
    first by its letters, and a barred one."""
    parents = {
        name: [term["parent"] for term in terms] for name, terms in target["equations"].items()
    }
    shifted = target["disturbance"] or {"nodes": (), "sequence": (0.0,)}
    facts = {
        "edges": str(sum(map(len, parents.values()))),
        "causes of frequency": str(len(parents[asked])),
        "roots": str(sum(not parents[name] for name in names)),
        "frequency acts": str(any(asked in causes for causes in parents.values())),
        "suite": target["suite"],
        "disturbed": str(len(shifted["nodes"])),
        "frequency disturbed": str(asked in shifted["nodes"]),
        "first shift": str(shifted["sequence"][0] > 0),
    }
    for which, name in (("first listed", names[0]), ("first by name", min(names))):
        facts[f"{which} is a cause"] = str(name in parents[asked])
        facts[f"{which} is a root"] = str(not parents[name])
        facts[f"{which} is disturbed"] = str(name in shifted["nodes"])
    facts["the barred is a cause"] = str(barred[0] in parents[asked]) if len(barred) == 1 else ""
    return facts


LEAK_FACTS: Final = LeakFacts(
    hidden=lambda _world: HiddenFacts((0, 0, 0), {}),
    asked=_asked,
    untested=(
        ("coefficients, bases and the frequency from readings", "readings are the evidence, and "
         "what they cannot tell is derived twice"),
        ("what a session says beyond readings", "it is in no file: tests look at every reply"),
        ("sizes in bytes", "they count the digits of the readings, which are meaning"),
        ("episodes of one graph from each other", "public truth shares graphs on purpose; private "
         "splits have one episode a graph"),
    ),
)  # fmt: skip
