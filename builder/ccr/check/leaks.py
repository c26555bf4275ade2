"""What nothing public may give away of a context and its tasks, for the leak test.

The rules tell graph and functions: they are meaning. Answers must not show in names, orders or ids.
"""

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from builder.gate.tables import TaskRow
from builder.track import LeakFacts

Row = Mapping[str, Any]
_GIVEN: Final = re.compile(r"^- \w+\(.*\) = ", re.MULTILINE)
_RULE: Final = re.compile(r"^- (.*?)(?: exactly when | = )", re.MULTILINE)


def leak_facts(task: TaskRow, truth: Row, world: Row) -> LeakFacts:
    """Return the facts of a task; the theme, and where rules stand that name what is asked about,
    are shown."""
    inputs, record = task.inputs, json.loads(world["world_json"])
    target = json.loads(truth["target_json"])
    ends = tuple(inputs[end] for end in ("cause", "effect") if end in inputs)
    heads = _RULE.findall(task.prompt)
    shown: dict[str, float | str] = {
        "theme": record["theme"],
        "ends by name": str(ends == tuple(sorted(ends))),
    }
    for k, name in enumerate(ends):
        places = [place for place, head in enumerate(heads) if re.search(rf"\b{name}\b", head)]
        shown[f"rule of end {k}"] = float(places[0]) if places else -1.0
    return LeakFacts(
        facts=_answers(target),
        of_task=(
            inputs.get("units"), inputs.get("measure"), len(target.get("quantities", ())),
            len(inputs.get("cut_tree", ())), len(_GIVEN.findall(task.prompt)),
            None if "cut_tree" in inputs else len(record["context"]["names"]),
        ),
        ends=ends,
        orders=(tuple(inputs.get("cut_tree", ())),),
        shown=shown,
    )  # fmt: skip


def _answers(target: Row) -> dict[str, str]:
    """Return of each question's cases whether most are yes, the first and the last; of quantities
    the largest, the smallest and a sign; of deductions the verdict."""
    facts = {"verdict": target.get("verdict", "")}
    for question, bits in target.get("answers", {}).items():
        facts[f"{question}, mostly yes"] = str(2 * bits.count("1") > len(bits))
        facts[f"{question}, first case"] = bits[:1]
        facts[f"{question}, last case"] = bits[-1:]
    values = {name: Fraction(one["exact"]) for name, one in target.get("quantities", {}).items()}
    if values:
        facts["largest"] = max(values, key=lambda name: values[name])
        facts["smallest"] = min(values, key=lambda name: values[name])
        facts["sign of the last"] = str(values[list(values)[-1]] > 0)
    return facts
