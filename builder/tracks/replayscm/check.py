"""The second derivation of every truth, and what the leak test looks at.

Formulas and replay are implemented again, plainly: text and dictionaries, row by row. This shares
nothing with ``grader.tracks.replayscm.boolean`` and ``grader.tracks.replayscm.replay``.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, cast

from builder.splits.track import LeakFacts, TaskRow
from grader.tracks.replayscm.shapes import LEVELS

Row = Mapping[str, Any]
Tree = str | list[Any]
_LABEL: Final = re.compile(r"X\d+")


def read(text: str) -> Tree:
    """Return a formula as nested lists, ``["and", "X1", ["not", "X2"]]``."""
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()
    stack: list[list[Any]] = [[]]
    for token in tokens:
        if token == "(":
            stack.append([])
        elif token == ")":
            inner = stack.pop()
            stack[-1].append(inner)
        else:
            stack[-1].append(token)
    (tree,) = stack[0]
    return cast(Tree, tree)


def value(tree: Tree, row: Mapping[str, int]) -> int:
    """Return the value, 0 or 1, of a formula in one row of values by label."""
    if isinstance(tree, str):
        return row[tree]
    operator, values = tree[0], [value(child, row) for child in tree[1:]]
    if operator == "not":
        return 1 - values[0]
    if operator == "and":
        return min(values)
    if operator == "or":
        return max(values)
    if operator == "xor":
        return sum(values) % 2
    return int(len(set(values)) == 1)


def audit_instance(
    world: Row, truths: Sequence[Row], _label: Row | None, tasks: Mapping[str, Any]
) -> list[str]:
    """Return the problems of one program's records, one line each; ``tasks`` holds its task rows.

    Worlds must be the instance's, the hidden program give their cells, each level begin with the
    one before. Certificates and counterexamples are proved by the grader's checker.
    """
    record = json.loads(world["world_json"])
    rows = {row["task_id"]: row for row in tasks["tasks"]}
    problems = list[str]()
    for less, more in pairwise(level for level in LEVELS if level in record["levels"]):
        before, after = record["levels"][less], record["levels"][more]
        if len(after) <= len(before) or after[: len(before)] != before:
            told = f"the worlds of {more} do not begin with those of {less}, with others added"
            problems.append(told)
    for truth in truths:
        target = json.loads(truth["target_json"])
        inputs = json.loads(rows[truth["task_id"]]["inputs_json"])
        found = _record_problems(record, inputs, target)
        problems += [f"{truth['task_id']} ({target['pool']}): {problem}" for problem in found]
    return problems


def _record_problems(record: Row, inputs: Row, target: Row) -> Iterator[str]:
    """Yield cells that the hidden program does not give, and worlds that are not the instance's."""
    names, gold = tuple(inputs["variables"]), tuple(sorted(target["gold"].items()))
    for label, worlds in (
        ("training", inputs["worlds"]),
        ("held-out", target["heldout"]),
        ("shifted", target.get("shifted", {"worlds": []})["worlds"]),
    ):
        cells = [(tuple(world["targets"]), tuple(world["rows"])) for world in worlds]
        if not all(_reproduces(gold, names, *world) for world in cells):
            yield f"the interpreter does not reproduce the {label} worlds"
    if target["heldout"] != record["heldout"] or target["gold"] != record["program"]["mechanisms"]:
        yield "the held-out worlds or the hidden program are not those of the instance"
    if inputs["worlds"] != record["levels"][target["level"]]:
        yield "the training worlds are not those of the record's level"


@lru_cache(maxsize=4096)
def _reproduces(
    gold: tuple[tuple[str, str], ...],
    names: tuple[str, ...],
    targets: tuple[str, ...],
    rows: tuple[str, ...],
) -> bool:
    """Return whether each unset cell is what its mechanism makes of its row. Tasks share worlds."""
    trees = [(name, read(text)) for name, text in gold if name not in targets]
    shown = (dict(zip(names, map(int, cells), strict=True)) for cells in rows)
    return all(value(tree, row) == row[name] for row in shown for name, tree in trees)


def leak_facts(task: TaskRow, truth: Row, world: Row) -> LeakFacts:
    """Return a task's facts for the leak test. The number of worlds nearly tells the level, but it
    is data. What the prompt prints of a program is no secret."""
    inputs, target = task.inputs, json.loads(truth["target_json"])
    record = json.loads(world["world_json"])
    program = record["program"]
    variables, blocks = tuple(inputs["variables"]), inputs.get("blocks") or []
    assigned = sum(one["mode"] == "hard_assigned" for one in target["heldout"])
    facts = {
        "evidence": str(target["pool"]),
        "determined": str(target["determined"]),
        "stratum": record["stratum"],
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
        of_task=(len(variables), len(inputs["worlds"]), inputs.get("determined")),
        orders=(variables, tuple(inputs.get("roots") or ())),
        shown={
            "first listed": variables[0],
            "variables ascending": str(_ascending(variables)),
            "blocks ascending": " ".join(str(_ascending(block)) for block in blocks),
            "targets ascending": str(all(_ascending(one["targets"]) for one in inputs["worlds"])),
        },
    )


def _hidden_program(inputs: Row, program: Row) -> dict[str, str]:
    """Return facts of a program that the prompt does not print, such as hidden order and roots."""
    mechanisms, order = program["mechanisms"], program["order"]
    facts = {
        "edges": str(sum(len(set(_LABEL.findall(text))) for text in mechanisms.values())),
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
