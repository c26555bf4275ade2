"""The gate's second derivation of every replayscm truth, from the written rows alone."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from builder.replayscm.check.interpreter import Program, exact_worlds, replay_row
from grader.io.rows import task_of
from grader.shape import Task
from grader.tracks.replayscm.scoring import LEVELS

Row = Mapping[str, Any]


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
    found: list[str] = []
    found += _shared_problems(record, rows)
    found += _ladder_problems(record)
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
        if not all(_reproduced(gold, tuple(names), *_cells(world)) for world in worlds):
            yield f"the interpreter does not reproduce the {label} worlds"
    if target["heldout"] != record["heldout"] or target["gold"] != record["program"]["mechanisms"]:
        yield "the held-out worlds or the hidden program are not those of the instance"
    if task.inputs["worlds"] != record["levels"][target["level"]]:
        yield "the training worlds are not those of the record's level"
    if target["counterexample"] is not None:
        yield from _cell_problems(target, names)


def _cells(world: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is set in a world, and its rows."""
    return tuple(world["targets"]), tuple(world["rows"])


@lru_cache(maxsize=4096)
def _reproduced(
    gold: tuple[tuple[str, str], ...],
    names: tuple[str, ...],
    targets: tuple[str, ...],
    rows: tuple[str, ...],
) -> bool:
    """Whether a world is replayed exactly; the tasks of an instance share most of theirs."""
    return all(exact_worlds(_program(gold), names, [{"targets": targets, "rows": rows}]))


@lru_cache(maxsize=64)
def _program(texts: tuple[tuple[str, str], ...]) -> Program:
    return Program.read(dict(texts))


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
