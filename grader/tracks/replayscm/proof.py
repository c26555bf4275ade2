"""The independent proof of determined and unique, by brute force over parent sets.

For every variable it goes through every admissible parent set of at most K variables, splits the
rows by the set's patterns, and reads off whether the set is consistent, what it leaves open and
what the held-out rows ask of it. It shares no code with the builder's audit. The argument behind
the conclusions is in ``docs/replayscm.md``. A record's certificate is proved again from nothing but
the record; programs that a truth shows (the hidden one, a counterexample) are checked as answers
are, and replayed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from typing import Any

from grader.io.jsonio import canonical_json
from grader.scoring.model import RawAnswer, Truth
from grader.scoring.shape import Task
from grader.tracks.replayscm.boolean import Formula, essential
from grader.tracks.replayscm.problem import (
    ROOTS,
    Problem,
    Worlds,
    make_program,
    pack,
    parse_map,
    read_problem,
)
from grader.tracks.replayscm.replay import replay
from grader.tracks.replayscm.submission import ProgramAnswer, check

Pattern = tuple[int, ...]
"""Values of the members of a parent set, in their order."""


@dataclass(frozen=True, slots=True)
class Option:
    """A consistent parent set of a variable: training rows with one pattern agree in its value.

    ``patterns`` has for each pattern the rows (bits) in which the variable is not set: training
    rows with value 1 and with 0, held-out rows with 1 and with 0.
    """

    members: tuple[str, ...]
    patterns: Mapping[Pattern, tuple[int, int, int, int]]

    def deviates(self, rows: int) -> bool:
        """Return whether an unseen or contrary pattern occurs in held-out ``rows`` (bits)."""
        return any(
            (asked_one & rows and not ones) or (asked_zero & rows and not zeros)
            for ones, zeros, asked_one, asked_zero in self.patterns.values()
        )


Options = Mapping[str, Sequence[Option]]


@dataclass(frozen=True, slots=True)
class Finding:
    """The facts that are proved of a record.

    ``determined``: all legal train-exact programs agree on every held-out row. ``unique``: all of
    them are the same functions. ``deviating`` counts the parent sets that can give another value in
    a held-out row. ``undetermined``: by variable, the held-out rows (as bits) in which such
    programs disagree. ``shifted``: they agree on all rows under other root distributions.
    """

    determined: bool
    unique: bool
    deviating: int
    undetermined: Mapping[str, int]
    shifted: bool
    root_sets: int


def prove(
    problem: Problem,
    worlds: Worlds,
    gold: Mapping[str, Formula],
    heldout: int,
    stated: int,
) -> Finding:
    """Prove a record by going through every admissible parent set under its disclosure.

    ``worlds`` are held-out worlds, with ``heldout`` their rows (bits), and then shifted ones. With
    another ``deviating`` than ``stated`` no row is looked at, which may take minutes where training
    says little.
    """
    roots = frozenset(problem.names).difference(gold)
    options = {child: list(_options(problem, worlds, child, roots)) for child in problem.names}
    deviating, unique, shifted = 0, True, True
    wrong: Counter[str] = Counter()
    starts = []
    # Roots that are not told may be any three variables.
    hidden = map(frozenset, combinations(problem.names, ROOTS))
    for candidate in hidden if problem.roots is None else [roots]:
        endogenous = [name for name in problem.names if name not in candidate]
        if len(_closure(options, candidate, endogenous)) < len(problem.names):
            continue
        starts.append(candidate)
        for child in endogenous:
            reach = _closure(options, candidate, [name for name in endogenous if name != child])
            usable = [option for option in options[child] if reach.issuperset(option.members)]
            deviating += sum(option.deviates(heldout) for option in usable)
            shifted &= not any(option.deviates(worlds.full & ~heldout) for option in usable)
            unique &= candidate == roots and all(
                set(essential(gold[child])) <= set(option.members)
                and all(ones or zeros for ones, zeros, _, _ in option.patterns.values())
                for option in usable
            )
    for candidate in starts if stated == deviating else []:
        for row in range(heldout.bit_length()):
            for child in _wrong_in_row(options, candidate, worlds, row):
                wrong[child] |= 1 << row
    return Finding(deviating == 0, unique, deviating, dict(wrong), shifted, len(starts))


def _options(
    problem: Problem, worlds: Worlds, child: str, roots: frozenset[str]
) -> Iterator[Option]:
    """Yield every consistent set of at most K possible parents of ``child``, smaller first."""
    if problem.roots is not None and child in roots:
        return
    for count in range(problem.max_parents + 1):
        for members in combinations(sorted(problem.possible_parents(child)), count):
            split = partial(_split, members=members, child=child)
            seen = {p: split(problem.training, p) for p in product((0, 1), repeat=count)}
            if not any(ones and zeros for ones, zeros in seen.values()):
                yield Option(members, {p: (*rows, *split(worlds, p)) for p, rows in seen.items()})


def _split(worlds: Worlds, pattern: Pattern, members: Sequence[str], child: str) -> tuple[int, int]:
    """Return the rows (bits) with this pattern and ``child`` not set: with value 1, with 0."""
    rows = worlds.full & ~worlds.clamped[child]
    for name, value in zip(members, pattern, strict=True):
        rows &= worlds.values[name] if value else ~worlds.values[name]
    return rows & worlds.values[child], rows & ~worlds.values[child]


def _closure(options: Options, roots: Iterable[str], waiting: Iterable[str]) -> set[str]:
    """Return ``roots`` and all of ``waiting`` that can follow, after one of their parent sets."""
    placed, left = set(roots), set(waiting)
    while ready := {
        child for child in left if any(placed.issuperset(o.members) for o in options[child])
    }:
        placed |= ready
        left -= ready
    return placed


def _wrong_in_row(
    options: Options, roots: frozenset[str], worlds: Worlds, row: int
) -> frozenset[str]:
    """Return the variables that some train-exact program gets wrong in a held-out row.

    A program is put together variable after variable, each on parents that stand already and with
    every value that its training rows allow there; all ways are gone. An unseen pattern can be
    filled in freely. That each start can be finished is the caller's concern.
    """
    observed = {name: worlds.values[name] >> row & 1 for name in worlds.names}

    def errors(child: str, placed: frozenset[str], wrong: frozenset[str]) -> set[bool]:
        """Whether ``child``, placed next, can be right (False) and wrong (True)."""
        found: set[bool] = set()
        for option in options[child]:
            if placed.issuperset(option.members):
                if worlds.clamped[child] >> row & 1:
                    return {False}
                shown = tuple(observed[name] ^ (name in wrong) for name in option.members)
                ones, zeros, _, _ = option.patterns[shown]
                right, other = (ones, zeros) if observed[child] else (zeros, ones)
                found |= {err for err, barred in ((False, other), (True, right)) if not barred}
        return found

    # The first wrong cell stands on right ones: without a set that errs on them, there is none.
    everything, none = frozenset(worlds.names), frozenset[str]()
    if not any(True in errors(child, everything, none) for child in everything - roots):
        return none
    met, waiting, result = {(roots, none)}, [(roots, none)], none
    while waiting:
        placed, wrong = waiting.pop()
        result |= wrong
        for child in everything - placed:
            for err in errors(child, placed, wrong):
                state = (placed | {child}, wrong | {child} if err else wrong)
                if state not in met:
                    met.add(state)
                    waiting.append(state)
    return result


def problem_of(task: Task, truth: Truth) -> str | None:
    """Return in a sentence what is wrong with a record's truth and certificate, else None."""
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
    found = prove(problem, together, gold, heldout.full, target["deviating"])
    undetermined = {child: int(rows, 16) for child, rows in target["undetermined"].items()}
    told = {name: target[name] for name in ("determined", "unique", "deviating")}
    stated = Finding(
        **told, undetermined=undetermined, shifted=further["determined"], root_sets=found.root_sets
    )
    if found != stated:
        return f"proved {found}, stated {stated}"
    settled = found.determined and found.root_sets == 1
    if task.inputs.get("determined", settled) != settled:
        return f"the prompt says determined: {not settled}, proved {found}"
    if target["level"] == "certified" and not found.unique:
        return "certified, but not unique"
    return _counterexample_problem(task, target, heldout)


def _signature(names: Sequence[str], world: Mapping[str, Any]) -> tuple[object, ...]:
    """Return mode and targets, with hard constants. No held-out world has a training world's."""
    constants = world["rows"][0] if world["mode"] == "hard_constant" else ""
    shown = dict(zip(names, constants, strict=False))
    return world["mode"], tuple((name, shown.get(name)) for name in sorted(world["targets"]))


def _counterexample_problem(task: Task, target: Mapping[str, Any], heldout: Worlds) -> str | None:
    """Return what is wrong with a record's counterexample, None if nothing: one that is legal,
    train-exact and wrong on ``heldout``, where the record is not determined, else no one."""
    shown = target["counterexample"]
    if target["determined"]:
        return None if shown is None else "determined, yet with a counterexample"
    if shown is None:
        return "not determined, but without a counterexample"
    answer = dict(shown)
    if task.family == "alternative":
        answer |= {"intervention": {"variable": "", "value": 0}, "witness": {}}
    checked = check(task, RawAnswer("program", canonical_json(answer).encode("utf-8")))
    if not isinstance(checked.answer, ProgramAnswer):
        return f"the counterexample is no legal answer: {checked.message}"
    if not replay(checked.answer.program, checked.answer.problem.training).exact:
        return "the counterexample is not train-exact"
    if replay(checked.answer.program, heldout).exact:
        return "the counterexample does not fail held-out"
    return None
