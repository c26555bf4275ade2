"""Open cells a further time, for small tasks: all causal orders, and all values along each.

It knows nothing of closures, of sets of wrong cells, or of the hidden program: variables are placed
one after another, in every order, each on any set of at most K variables placed before it, with
every value that its training rows allow there.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

LARGEST: Final = 10
"""Variables; with three roots, 5,040 orders."""

Table = dict[tuple[int, ...], int]
"""What a variable was seen to do: the values of a set, the variable's value."""

State = dict[int, int]
"""Variables that are placed, by their place in the list, with their values."""

Fitting = dict[int, list[tuple[tuple[int, ...], Table]]]
"""By computed variable, the sets that fit it."""


def open_by_enumeration(inputs: Mapping[str, Any]) -> dict[str, list[str]]:
    """The open variables of each row asked about, by its label, from a task's inputs alone."""
    names: Sequence[str] = inputs["variables"]
    fitting = _fitting(inputs)
    found = {}
    for asked in inputs["asked"]:
        known = {v: int(bit) for v, bit in enumerate(asked["rows"][0]) if bit != "?"}
        clamped = {names.index(name) for name in asked["targets"]}
        values: dict[int, set[int]] = {v: set() for v in fitting}
        start = {v: known[v] for v in range(len(names)) if v not in fitting}
        for state in _completed(fitting, [start], {v: known[v] for v in clamped}):
            for v in values:
                values[v].add(state[v])
        found[asked["id"]] = [name for v, name in enumerate(names) if len(values.get(v, ())) > 1]
    return found


def _fitting(inputs: Mapping[str, Any]) -> Fitting:
    """All sets of at most K other variables on which no two training rows contradict each other."""
    names, roots = inputs["variables"], inputs["roots"]
    rows = [
        ([int(bit) for bit in row], {names.index(name) for name in world["targets"]})
        for world in inputs["worlds"]
        for row in world["rows"]
    ]
    found: Fitting = {v: [] for v, name in enumerate(names) if name not in roots}
    for v in found:
        computed = [row for row, clamped in rows if v not in clamped]
        others = [u for u in range(len(names)) if u != v]
        for size in range(inputs["max_parents"] + 1):
            for members in combinations(others, size):
                seen: Table = {}
                if all(
                    seen.setdefault(tuple(row[u] for u in members), row[v]) == row[v]
                    for row in computed
                ):
                    found[v].append((members, seen))
    return found


def _completed(
    fitting: Fitting, states: Sequence[State], clamped: Mapping[int, int]
) -> Iterator[State]:
    """What every order of the variables that are not placed makes of ``states``, which have the
    same variables placed; ``clamped`` are the values of those that are set."""
    placed = states[0].keys()
    waiting = fitting.keys() - placed
    if not waiting:
        yield from states
    for v in waiting:
        usable = [(m, seen) for m, seen in fitting[v] if placed >= set(m)]
        grown = []
        for state in states:
            shown = {seen.get(tuple(state[u] for u in m)) for m, seen in usable}
            allowed = {0, 1} if None in shown else shown
            if v in clamped and usable:
                allowed = {clamped[v]}
            grown += [{**state, v: value} for value in allowed if value is not None]
        if grown:
            yield from _completed(fitting, grown, clamped)
