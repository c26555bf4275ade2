"""The certificate of a record, proved again from nothing but the record.

The proof is :mod:`grader.tracks.replayscm.proof`; programs that a truth shows (the hidden one, a
counterexample) are checked as answers are, and replayed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from grader.io.jsonio import canonical
from grader.model import RawAnswer, Truth
from grader.shape import Task
from grader.tracks.replayscm.problem import Worlds, make_program, pack, parse_map, read_problem
from grader.tracks.replayscm.proof import Finding, prove
from grader.tracks.replayscm.replay import replay
from grader.tracks.replayscm.submission import Submission, check


def problem_of(task: Task, truth: Truth) -> str | None:
    """What is wrong with a record's truth and certificate, in a sentence; ``None`` if all holds."""
    target = truth.target
    problem = read_problem(task.inputs)
    heldout = pack(problem.names, target["heldout"])
    further = target.get("shifted") or {"worlds": [], "determined": True}
    together = pack(problem.names, [*target["heldout"], *further["worlds"]])
    gold = parse_map(target["gold"])
    program = make_program(target["roots"], gold)
    for worlds, label in ((problem.training, "training"), (together, "held-out")):
        if not replay(program, worlds).exact:
            return f"the hidden program does not reproduce the {label} worlds"
    signatures = {_signature(problem.names, world) for world in task.inputs["worlds"]}
    if any(_signature(problem.names, world) in signatures for world in target["heldout"]):
        return "a training world carries a held-out signature"
    found = prove(problem, together, gold, heldout.full)
    undetermined = {child: int(rows, 16) for child, rows in target["undetermined"].items()}
    told = {name: target[name] for name in ("determined", "unique", "deviating")}
    stated = Finding(**told, undetermined=undetermined, shifted=further["determined"])
    if found != stated:
        return f"proved {found}, stated {stated}"
    if target["level"] == "certified" and not found.unique:
        return "certified, but not unique"
    return _counterexample_problem(task, target, heldout)


def _signature(names: Sequence[str], world: Mapping[str, Any]) -> tuple[object, ...]:
    """Mode, targets and, where they are constant, their values."""
    constants = world["rows"][0] if world["mode"] == "hard_constant" else ""
    shown = dict(zip(names, constants, strict=False))
    return world["mode"], tuple((name, shown.get(name)) for name in sorted(world["targets"]))


def _counterexample_problem(task: Task, target: Mapping[str, Any], heldout: Worlds) -> str | None:
    """A record that is not determined must show a legal program that fits and then fails."""
    shown = target["counterexample"]
    if target["determined"]:
        return None if shown is None else "determined, yet with a counterexample"
    if shown is None:
        return "not determined, but without a counterexample"
    answer = dict(shown)
    if task.family == "alternative":
        answer |= {"intervention": {"variable": "", "value": 0}, "witness": {}}
    checked = check(task, RawAnswer("program", canonical(answer).encode("utf-8")))
    if not isinstance(checked.answer, Submission):
        return f"the counterexample is no legal answer: {checked.message}"
    if not replay(checked.answer.program, checked.answer.problem.training).exact:
        return "the counterexample is not train-exact"
    if replay(checked.answer.program, heldout).exact:
        return "the counterexample does not fail held-out"
    return None
