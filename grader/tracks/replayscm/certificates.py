"""The independent certificate checker: determined and unique, proved again by brute force.

It takes nothing from the builder but the record: for every variable it goes through every
admissible parent set of at most K variables, splits the rows by the set's patterns, and reads off
whether the set is consistent, what it leaves open and what the held-out rows ask of it. The
argument behind the conclusions is in ``docs/replayscm.md``.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import combinations, product

from grader.io.jsonio import canonical
from grader.model import RawAnswer, Truth
from grader.shape import Task
from grader.tracks.replayscm.boolean import Formula, essential, truth_table, variables
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
from grader.tracks.replayscm.submission import Submission, check

Patterns = list[tuple[int, int, int, int]]
"""Of one parent set, for each pattern: training rows with value 1 and 0, held-out with 1 and 0.

Patterns are in the order of a truth table: bit i of a pattern's number is the set's i-th member."""


@dataclass(frozen=True, slots=True)
class Option:
    """A consistent parent set: its members, its patterns, whether it can go wrong held-out."""

    members: frozenset[str]
    patterns: Patterns

    @property
    def complete(self) -> bool:
        """Every pattern was seen."""
        return all(ones or zeros for ones, zeros, _, _ in self.patterns)

    @property
    def deviates(self) -> bool:
        """Some held-out row has an unseen pattern, or one seen with the other value."""
        return any(
            (asked_one and not ones) or (asked_zero and not zeros)
            for ones, zeros, asked_one, asked_zero in self.patterns
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """What can be proved of a record.

    ``undetermined``: by variable, the held-out rows (as bits) in which legal train-exact programs
    disagree; a variable without any is left out.
    """

    determined: bool
    unique: bool
    deviating: int
    undetermined: Mapping[str, int]


def prove(problem: Problem, heldout: Worlds, gold: Mapping[str, Formula]) -> Finding:
    """Go through every admissible parent set under the problem's disclosure."""
    roots = frozenset(problem.names) - gold.keys()
    options = {
        child: list(_options(problem, heldout, child, _allowed(problem, child, roots)))
        for child in problem.names
    }
    deviating, unique = 0, True
    wrong: Counter[str] = Counter()
    for candidate in _root_sets(problem, roots):
        endogenous = [name for name in problem.names if name not in candidate]
        if len(_closure(options, candidate, endogenous)) < len(problem.names):
            continue
        for child in endogenous:
            others = [name for name in endogenous if name != child]
            reach = _closure(options, candidate, others)
            usable = [option for option in options[child] if option.members <= reach]
            deviating += sum(option.deviates for option in usable)
            unique &= candidate == roots and all(
                option.complete and set(essential(gold[child])) <= option.members
                for option in usable
            )
        for child, rows in wrong_cells(options, candidate, endogenous, heldout).items():
            wrong[child] |= rows
    undetermined = {child: rows for child, rows in wrong.items() if rows}
    return Finding(deviating == 0, unique, deviating, undetermined)


def _allowed(problem: Problem, child: str, roots: frozenset[str]) -> frozenset[str]:
    """What a mechanism of ``child`` may mention; a root has one under hidden roots only."""
    if problem.roots is None:
        return frozenset(problem.names) - {child}
    return frozenset() if child in roots else problem.allowed(child)


def _root_sets(problem: Problem, roots: frozenset[str]) -> Iterator[frozenset[str]]:
    if problem.roots is not None:
        yield roots
    else:
        yield from map(frozenset, combinations(problem.names, ROOTS))


def _closure(
    options: Mapping[str, Sequence[Option]], roots: frozenset[str], waiting: Sequence[str]
) -> set[str]:
    """Everything of ``waiting`` that can be placed, one after another, on what is placed."""
    placed = set(roots)
    left = list(waiting)
    while True:
        ready = [
            child for child in left if any(option.members <= placed for option in options[child])
        ]
        if not ready:
            return placed
        placed.update(ready)
        left = [child for child in left if child not in placed]


def _options(
    problem: Problem, heldout: Worlds, child: str, allowed: frozenset[str]
) -> Iterator[Option]:
    """Every consistent set of at most K allowed variables, grown one variable at a time."""
    training = problem.training
    free, asked = training.full & ~training.clamped[child], heldout.full & ~heldout.clamped[child]
    start = (
        free & training.values[child],
        free & ~training.values[child],
        asked & heldout.values[child],
        asked & ~heldout.values[child],
    )
    names = sorted(allowed)
    waiting: list[tuple[int, tuple[str, ...], Patterns]] = [(0, (), [start])]
    while waiting:
        place, members, patterns = waiting.pop()
        if not any(ones and zeros for ones, zeros, _, _ in patterns):
            yield Option(frozenset(members), patterns)
        if len(members) < problem.max_parents:
            for k in range(place, len(names)):
                column, later = training.values[names[k]], heldout.values[names[k]]
                without = [(a & ~column, b & ~column, c & ~later, d & ~later)
                           for a, b, c, d in patterns]  # fmt: skip
                within = [(a & column, b & column, c & later, d & later) for a, b, c, d in patterns]
                waiting.append((k + 1, (*members, names[k]), without + within))


def wrong_cells(
    options: Mapping[str, Sequence[Option]],
    roots: frozenset[str],
    endogenous: Sequence[str],
    heldout: Worlds,
) -> dict[str, int]:
    """The held-out cells that some train-exact program gets wrong, as rows (bits) by variable.

    Row by row, a program is put together variable after variable, each on parents that stand
    already and with every value that its training rows allow there; all ways are gone. Which values
    an earlier variable has in other rows plays no part: an unseen pattern can be filled in freely.
    That each start can be finished is the caller's: the closure of the roots is everything.
    """
    wrong = dict.fromkeys(endogenous, 0)
    place = {name: k for k, name in enumerate(heldout.names)}
    start = sum(1 << place[root] for root in roots)
    shaped = {
        place[child]: [_shape(option, place) for option in options[child]] for child in endogenous
    }
    for row in range(heldout.full.bit_length()):
        values = sum((heldout.values[name] >> row & 1) << k for name, k in place.items())
        clamped = sum((heldout.clamped[name] >> row & 1) << k for name, k in place.items())
        found = _wrong_in_row(shaped, start, values, clamped)
        for child in endogenous:
            wrong[child] |= (found >> place[child] & 1) << row
    return wrong


Shape = tuple[int, tuple[int, ...], tuple[int | None, ...]]
"""A parent set as bits, its members' places, and per pattern the value seen in training, if any."""


def _shape(option: Option, place: Mapping[str, int]) -> Shape:
    members = tuple(place[name] for name in sorted(option.members))
    seen = tuple(1 if ones else 0 if zeros else None for ones, zeros, _, _ in option.patterns)
    return sum(1 << k for k in members), members, seen


def _wrong_in_row(
    shaped: Mapping[int, Sequence[Shape]], start: int, values: int, clamped: int
) -> int:
    """The variables that some program gets wrong in a row, as bits.

    ``values`` and ``clamped`` are the row's cells as bits. A state is what is placed and which of
    it is wrong.
    """
    free = {child: shapes for child, shapes in shaped.items() if not clamped >> child & 1}

    def outcomes(child: int, placed: int, wrong: int) -> set[bool]:
        """Whether ``child``, placed next, can be right (False) and wrong (True)."""
        if child not in free:
            return {False} if any(not mask & ~placed for mask, _, _ in shaped[child]) else set()
        shown, right = values ^ wrong, values >> child & 1
        found: set[bool] = set()
        for mask, members, seen in shaped[child]:
            if not mask & ~placed:
                value = seen[sum((shown >> k & 1) << bit for bit, k in enumerate(members))]
                found |= {False, True} if value is None else {value != right}
                if len(found) == 2:
                    break
        return found

    # The first wrong cell stands on right ones: without a set that errs on them, there is none.
    everything = start | sum(1 << child for child in shaped)
    if not any(True in outcomes(child, everything, 0) for child in free):
        return 0
    met, waiting, result = {(start, 0)}, [(start, 0)], 0
    while waiting:
        placed, wrong = waiting.pop()
        result |= wrong
        for child in shaped:
            if not placed >> child & 1:
                for errs in outcomes(child, placed, wrong):
                    state = (placed | 1 << child, wrong | errs << child)
                    if state not in met:
                        met.add(state)
                        waiting.append(state)
    return result


def problem_of(task: Task, truth: Truth) -> str | None:
    """What is wrong with a record's truth and certificate, in a sentence; ``None`` if all holds."""
    target = truth.target
    problem = read_problem(task.inputs)
    heldout = pack(problem.names, target["heldout"])
    gold = parse_map(target["gold"])
    program = make_program(target["roots"], gold)
    for worlds, label in ((problem.training, "training"), (heldout, "held-out")):
        if not replay(program, worlds).exact:
            return f"the hidden program does not reproduce the {label} worlds"
    signatures = {_signature(problem.names, world) for world in task.inputs["worlds"]}
    if any(_signature(problem.names, world) in signatures for world in target["heldout"]):
        return "a training world carries a held-out signature"
    found = prove(problem, heldout, gold)
    undetermined = {child: int(rows, 16) for child, rows in target["undetermined"].items()}
    stated = Finding(target["determined"], target["unique"], target["deviating"], undetermined)
    if found != stated:
        return f"proved {found}, stated {stated}"
    if target["level"] == "certified" and not found.unique:
        return "certified, but not unique"
    if (
        found.unique
        and len(problem.names) == 6
        and problem.roots
        and not only_program(problem, gold)
    ):
        return "brute force over all programs finds another one"
    return _counterexample_problem(task, target, heldout)


def _signature(names: Sequence[str], world: Mapping[str, object]) -> tuple[object, ...]:
    """Mode, targets and, where they are constant, their values."""
    targets, rows = world["targets"], world["rows"]
    assert isinstance(targets, list) and isinstance(rows, list)
    constants = (
        tuple(rows[0][list(names).index(name)] for name in targets)
        if world["mode"] == "hard_constant"
        else ()
    )
    return (world["mode"], tuple(sorted(targets)), constants)


def _counterexample_problem(
    task: Task, target: Mapping[str, object], heldout: Worlds
) -> str | None:
    """A record that is not determined must show a legal program that fits and then fails."""
    shown = target["counterexample"]
    if target["determined"]:
        return None if shown is None else "determined, yet with a counterexample"
    if shown is None:
        return "not determined, but without a counterexample"
    assert isinstance(shown, dict)
    answer = dict(shown)
    if task.family == "alternative":
        answer |= {"intervention": {"variable": "", "value": 0}, "witness": {}}
    checked = check(task, RawAnswer("counterexample", canonical(answer).encode("utf-8")))
    if not isinstance(checked.answer, Submission):
        return f"the counterexample is no legal answer: {checked.message}"
    submission = checked.answer
    if not replay(submission.program, submission.problem.training).exact:
        return "the counterexample is not train-exact"
    if replay(submission.program, heldout).exact:
        return "the counterexample does not fail held-out"
    return None


def only_program(problem: Problem, gold: Mapping[str, Formula]) -> bool:
    """Whether every acyclic combination of consistent parent sets and fills is the gold program.

    Every combination is put together and its functions compared; an unseen pattern can be filled
    in two ways, so one is not the gold's. This test of uniqueness uses no closure; it is for small
    problems with disclosed roots.
    """
    nothing = Worlds(
        problem.names, dict.fromkeys(problem.names, 0), dict.fromkeys(problem.names, 0), (), 0
    )
    roots = frozenset(problem.names) - gold.keys()
    children = sorted(gold)
    choices = [
        list(_options(problem, nothing, child, _allowed(problem, child, roots)))
        for child in children
    ]
    for combination in product(*choices):
        graph = {c: option.members for c, option in zip(children, combination, strict=True)}
        try:
            TopologicalSorter(graph).prepare()
        except CycleError:
            continue
        for child, option in zip(children, combination, strict=True):
            if not option.complete or not _is_function(option, gold[child]):
                return False
    return True


def _is_function(option: Option, formula: Formula) -> bool:
    """Whether the seen patterns of a complete option spell the formula's function."""
    names = sorted(option.members)
    if not set(essential(formula)) <= option.members:
        return False
    # Variables without effect come last: the lowest part of the table has them all at zero.
    idle = sorted(variables(formula) - option.members)
    table = truth_table(formula, [*names, *idle])
    return all(
        bool(ones) == bool(table >> k & 1) for k, (ones, _, _, _) in enumerate(option.patterns)
    )
