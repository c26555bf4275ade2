"""What nothing public may give away of an episode, for the leak test.

Readings are evidence: no value of them, and nothing whose size counts their digits, is a feature.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from builder.gate.tables import TaskRow
from builder.track import LeakFacts

Row = Mapping[str, Any]
_DISCLOSED: Final = (
    "budget", "family", "frequency_may_be_parent", "mode", "reactor_range", "shifts", "tolerance",
)  # fmt: skip


def leak_facts(task: TaskRow, truth: Row, _world: Row) -> LeakFacts:
    """Return the facts of a task: of the mechanism as a whole, then of the property that the list
    names first, of the one that is first by its letters, and of a barred one."""
    inputs, target = task.inputs, json.loads(truth["target_json"])
    names = tuple(one["name"] for one in inputs["variables"])
    barred = tuple(one["name"] for one in inputs["variables"] if not one["controllable"])
    parents = {
        name: [term["parent"] for term in terms] for name, terms in target["equations"].items()
    }
    causes = parents[inputs["target"]["name"]]
    shifted = (target["disturbance"] or {"nodes": ()})["nodes"]
    facts = {
        "suite": target["suite"],
        "edges": str(sum(map(len, parents.values()))),
        "causes of frequency": str(len(causes)),
        "roots": str(sum(not parents[name] for name in names)),
        "disturbed": str(len(shifted)),
        "the barred is a cause": str(barred[0] in causes) if len(barred) == 1 else "",
    }
    for which, name in (("first listed", names[0]), ("first by name", min(names))):
        facts[f"{which} is a cause"] = str(name in causes)
        facts[f"{which} is a root"] = str(not parents[name])
        facts[f"{which} is disturbed"] = str(name in shifted)
    return LeakFacts(
        facts=facts,
        of_task=(
            *(repr(inputs.get(name)) for name in _DISCLOSED), len(names), len(barred),
            len(inputs["records"]), len(inputs["chain"]), inputs["opening"] is None,
        ),
        ends=barred[:1],
        orders=(names, *(tuple(one) for one in (inputs["reactor"], *inputs["records"][:1]))),
        shown={"first": names[0], "last": names[-1], "barred": " ".join(sorted(barred))},
    )  # fmt: skip
