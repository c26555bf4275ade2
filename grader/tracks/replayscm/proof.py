"""The independent proof of determined and unique, by brute force over parent sets.

For every variable it goes through every admissible parent set of at most K variables, splits the
rows by the set's patterns, and reads off whether the set is consistent, what it leaves open and
what the held-out rows ask of it. It shares no code with the builder's audit. The argument behind
the conclusions is in ``docs/replayscm.md``.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import combinations, product

from grader.tracks.replayscm.boolean import Formula, essential, truth_table, variables
from grader.tracks.replayscm.problem import ROOTS, Problem, Worlds

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

    def deviates(self, rows: int) -> bool:
        """Some held-out row of ``rows`` (bits) has an unseen pattern, or one seen with the other
        value."""
        return any(
            (asked_one & rows and not ones) or (asked_zero & rows and not zeros)
            for ones, zeros, asked_one, asked_zero in self.patterns
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """What can be proved of a record.

    ``undetermined``: by variable, the held-out rows (as bits) in which legal train-exact programs
    disagree; a variable without any is left out. ``shifted``: they agree on all further rows, under
    other root distributions.
    """

    determined: bool
    unique: bool
    deviating: int
    undetermined: Mapping[str, int]
    shifted: bool = True


def prove(
    problem: Problem, worlds: Worlds, gold: Mapping[str, Formula], heldout: int | None = None
) -> Finding:
    """Go through every admissible parent set under the problem's disclosure.

    ``heldout`` are the rows (bits) of ``worlds`` that are held-out ones, the first of them; all
    without it. The others are shifted.
    """
    heldout = worlds.full if heldout is None else heldout
    further = worlds.full & ~heldout
    roots = frozenset(problem.names) - gold.keys()
    options = {
        child: list(_options(problem, worlds, child, _allowed(problem, child, roots)))
        for child in problem.names
    }
    smallest = {child: _smallest(found) for child, found in options.items()}
    deviating, unique, shifted = 0, True, True
    wrong: Counter[str] = Counter()
    for candidate in _root_sets(problem, roots):
        endogenous = [name for name in problem.names if name not in candidate]
        if len(_closure(smallest, candidate, endogenous)) < len(problem.names):
            continue
        for child in endogenous:
            others = [name for name in endogenous if name != child]
            reach = _closure(smallest, candidate, others)
            usable = [option for option in options[child] if option.members <= reach]
            deviating += sum(option.deviates(heldout) for option in usable)
            shifted &= not any(option.deviates(further) for option in usable)
            unique &= candidate == roots and all(
                option.complete and set(essential(gold[child])) <= option.members
                for option in usable
            )
        for child, rows in wrong_cells(options, candidate, endogenous, worlds, heldout).items():
            wrong[child] |= rows
    undetermined = {child: rows for child, rows in wrong.items() if rows}
    return Finding(deviating == 0, unique, deviating, undetermined, shifted)


def _smallest(options: Sequence[Option]) -> list[frozenset[str]]:
    """The members of those options that hold no other: enough to see what can be placed."""
    kept: list[frozenset[str]] = []
    for option in sorted(options, key=lambda option: len(option.members)):
        if not any(members <= option.members for members in kept):
            kept.append(option.members)
    return kept


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
    sets: Mapping[str, Sequence[frozenset[str]]], roots: frozenset[str], waiting: Sequence[str]
) -> set[str]:
    """Everything of ``waiting`` that can be placed, one after another, on what is placed."""
    placed = set(roots)
    left = list(waiting)
    while True:
        ready = [child for child in left if any(members <= placed for members in sets[child])]
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
    rows: int,
) -> dict[str, int]:
    """The held-out cells that some train-exact program gets wrong, as rows (bits) by variable.

    Of ``heldout`` only ``rows`` (bits) are looked at, the first of them.

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
    looked_at: dict[tuple[int, int], int] = {}
    for row in range(rows.bit_length()):
        values = sum((heldout.values[name] >> row & 1) << k for name, k in place.items())
        clamped = sum((heldout.clamped[name] >> row & 1) << k for name, k in place.items())
        found = looked_at.get((values, clamped))
        if found is None:
            found = looked_at[values, clamped] = _wrong_in_row(shaped, start, values, clamped)
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
                pattern = 0
                for bit, k in enumerate(members):
                    pattern |= (shown >> k & 1) << bit
                value = seen[pattern]
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
