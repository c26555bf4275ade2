"""What nothing public may give away of a context and its tasks, for the leak test.

The rules tell graph and functions: they are meaning. Answers must not show in names, orders or ids.
"""

import json
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from builder.gate.tables import TaskRow
from builder.track import AskedFacts, HiddenFacts, LeakFacts

_GIVEN: Final = re.compile(r"^- \w+\(.*\) = ", re.MULTILINE)
_RULE: Final = re.compile(r"^- (.*?)(?: exactly when | = )", re.MULTILINE)


def _asked(task: TaskRow, truth: Mapping[str, Any], world: Mapping[str, Any]) -> AskedFacts:
    inputs, target = task.inputs, json.loads(truth["target_json"])
    record = json.loads(world["world_json"])
    quantities = target.get("quantities", {})
    disclosed = (
        inputs.get("units"), inputs.get("measure"), len(quantities),
        len(inputs.get("cut_tree", ())), len(_GIVEN.findall(task.prompt)),
        None if "cut_tree" in inputs else len(record["context"]["names"]),
    )  # fmt: skip
    facts: dict[str, str] = {}
    if "answers" in target:
        facts = _unit_facts(target["answers"])
    elif quantities:
        facts = _quantity_facts(quantities)
    elif "verdict" in target:
        facts = {"verdict": target["verdict"]}
    return AskedFacts(disclosed, facts, _shown(task.prompt, inputs, record["theme"]))


def _unit_facts(answers: Mapping[str, str]) -> dict[str, str]:
    """Of the cases' answers under each question: more yes than no, the first case, the last one."""
    facts = {}
    for question, bits in answers.items():
        facts[f"{question}, mostly yes"] = str(2 * bits.count("1") > len(bits))
        facts[f"{question}, first case"] = bits[:1]
        facts[f"{question}, last case"] = bits[-1:]
    return facts


def _quantity_facts(quantities: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    values = {name: Fraction(one["exact"]) for name, one in quantities.items()}
    return {
        "largest": max(values, key=lambda name: values[name]),
        "smallest": min(values, key=lambda name: values[name]),
        "sign of the last": str(values[list(values)[-1]] > 0),
    }


def _shown(prompt: str, inputs: Mapping[str, Any], theme: str) -> dict[str, float | str]:
    """The theme, and where the names asked about stand: in the alphabet, among the rules, in the
    first case."""
    heads = _RULE.findall(prompt)
    names = [inputs[end] for end in ("cause", "effect") if end in inputs]
    tree: Sequence[str] = inputs.get("cut_tree", ())
    shown: dict[str, float | str] = {
        "theme": theme,
        "tree follows the alphabet": sum(a < b for a, b in pairwise(tree)),
    }
    for end, name in zip(("cause", "effect"), names, strict=False):
        places = [place for place, head in enumerate(heads) if re.search(rf"\b{name}\b", head)]
        shown[f"rule of the {end}"] = places[0] if places else -1
        shown[f"place of the {end} in the tree"] = tree.index(name) if name in tree else -1
    if len(names) == 2:
        shown["cause before effect by name"] = str(names[0] < names[1])
    return shown


LEAK_FACTS: Final = LeakFacts(
    hidden=lambda _world: HiddenFacts((0, 0, 0), {}),
    asked=_asked,
    untested=(
        ("graph, functions and thresholds", "the rules tell all of them: they are no secret, and "
         "an effect computed from them is the exam"),
        ("the other pairs of a context", "all pairs of a context are one protocol"),
        ("the digits of given values", "the verdict follows from them: they are meaning"),
        ("the pattern of cases", "units are exhaustive or drawn by the rules' own odds"),
    ),
)  # fmt: skip
