"""The second derivation of every truth, and what the leak test looks at.

Formulas and replay are implemented again, plainly: text and dictionaries, row by row. This shares
nothing with ``grader.tracks.replayscm.boolean`` and ``grader.tracks.replayscm.replay``.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

from builder.release.tables import TaskRow
from builder.splits.track import LeakFacts
from grader.release.rows import task_of
from grader.scoring.shape import Task
from grader.tracks.replayscm.scoring import LEVELS

Row = Mapping[str, Any]
Tree = str | list[Any]
_LABEL: Final = re.compile(r"X\d+")


def read(text: str) -> Tree:
    """A formula as nested lists, ``["and", "X1", ["not", "X2"]]``."""
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
    result: Tree = tree
    return result


def value(tree: Tree, row: Mapping[str, int]) -> int:
    """The value of a formula in one row."""
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


def names_in(tree: Tree) -> set[str]:
    """The variables that a formula mentions."""
    if isinstance(tree, str):
        return {tree}
    return {name for child in tree[1:] for name in names_in(child)}


@dataclass(frozen=True, slots=True)
class Program:
    """Mechanisms as trees, and what each mentions."""

    mechanisms: Mapping[str, Tree]
    needed: Mapping[str, set[str]]

    @staticmethod
    def read(texts: Mapping[str, str]) -> "Program":
        """A program from its formulas, by variable."""
        mechanisms = {name: read(text) for name, text in texts.items()}
        return Program(mechanisms, {name: names_in(tree) for name, tree in mechanisms.items()})


def replay_row(
    program: Program, observed: Mapping[str, int], clamped: Sequence[str]
) -> dict[str, int]:
    """One row replayed: clamped variables and roots keep their cells, the rest is computed."""
    computed = [name for name in program.mechanisms if name not in clamped]
    row = {name: cell for name, cell in observed.items() if name not in computed}
    while computed:
        for name in list(computed):
            if program.needed[name] <= row.keys():
                row[name] = value(program.mechanisms[name], row)
                computed.remove(name)
    return row


def audit_instance(
    world: Row, truths: Sequence[Row], label: Row | None, tasks: Mapping[str, Any]
) -> list[str]:
    """Problems of one program's records.

    ``tasks`` maps ``"tasks"`` to the instance's task rows: the track has no scenes. The worlds are
    replayed by the plain interpreter, and so is the counterexample, which may be wrong in
    undetermined cells only. Each level must begin with all worlds of the one before. Certificates
    and undetermined cells, none too few and none too many, are proved by the grader's checker, for
    the gate and for who holds the release.
    """
    record = json.loads(world["world_json"])
    rows = {row["task_id"]: row for row in tasks["tasks"]}
    found = [*_shared_problems(record, rows), *_ladder_problems(record)]
    for truth in truths:
        target = json.loads(truth["target_json"])
        task = task_of(rows[truth["task_id"]])
        problems = _record_problems(record, task, target)
        found += [f"{truth['task_id']} ({target['pool']}): {problem}" for problem in problems]
    return found


def _record_problems(
    record: Mapping[str, Any], task: Task, target: Mapping[str, Any]
) -> Iterator[str]:
    names = list(task.inputs["variables"])
    gold = tuple(sorted(target["gold"].items()))
    further = target.get("shifted", {"worlds": []})["worlds"]
    for label, worlds in (
        ("training", task.inputs["worlds"]),
        ("held-out", target["heldout"]),
        ("shifted", further),
    ):
        cells = [(tuple(world["targets"]), tuple(world["rows"])) for world in worlds]
        if not all(_reproduced(gold, tuple(names), *world) for world in cells):
            yield f"the interpreter does not reproduce the {label} worlds"
    if target["heldout"] != record["heldout"] or target["gold"] != record["program"]["mechanisms"]:
        yield "the held-out worlds or the hidden program are not those of the instance"
    if task.inputs["worlds"] != record["levels"][target["level"]]:
        yield "the training worlds are not those of the record's level"
    if target["counterexample"] is not None:
        yield from _cell_problems(target, names)


@lru_cache(maxsize=4096)
def _reproduced(
    gold: tuple[tuple[str, str], ...],
    names: tuple[str, ...],
    targets: tuple[str, ...],
    rows: tuple[str, ...],
) -> bool:
    """Whether a world is replayed exactly; the tasks of an instance share most of theirs."""
    program = Program.read(dict(gold))
    observed = (dict(zip(names, map(int, cells), strict=True)) for cells in rows)
    return all(replay_row(program, row, targets) == row for row in observed)


def _cell_problems(target: Mapping[str, Any], names: list[str]) -> Iterator[str]:
    """The counterexample is wrong in undetermined cells only."""
    shown = Program.read(target["counterexample"]["mechanisms"])
    flags = {name: int(text, 16) for name, text in target["undetermined"].items()}
    place = 0
    for world in target["heldout"]:
        for cells in world["rows"]:
            observed = dict(zip(names, map(int, cells), strict=True))
            row = replay_row(shown, observed, world["targets"])
            for name in shown.mechanisms:
                if row[name] != observed[name] and not flags.get(name, 0) >> place & 1:
                    yield f"the counterexample fails held-out row {place} at a determined cell"
                    return
            place += 1


def _shared_problems(record: Mapping[str, Any], rows: Mapping[str, Row]) -> Iterator[str]:
    """Tasks of one level show the same worlds: disclosure is the only difference."""
    by_level: dict[str, str] = {}
    for task_id, label in record["tasks"].items():
        level = label.rpartition("-")[2]
        shown = json.dumps(json.loads(rows[task_id]["inputs_json"])["worlds"], sort_keys=True)
        if by_level.setdefault(level if level in ("Ext", "CEx", "Cert") else "", shown) != shown:
            yield f"{task_id}: its worlds differ from others of its level"


def _ladder_problems(record: Mapping[str, Any]) -> Iterator[str]:
    """The levels show the same program with more and more evidence."""
    ladder = [level for level in LEVELS if level in record["levels"]]
    for less, more in pairwise(ladder):
        before, after = record["levels"][less], record["levels"][more]
        if len(after) <= len(before) or after[: len(before)] != before:
            yield f"the worlds of {more} do not begin with those of {less}, with others added"


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
