"""Programs in which the smallest explanation of a variable misleads (frontier).

An edge V -> D is *reversible* where the mechanism of D can be solved for V: D = V xor g(W) or its
negation. Then V = D xor g(W) holds in every row in which neither is set. Where all worlds set V and
D together or not at all, no row contradicts it: D with W is a set of at most three variables that
fits V, and V's own parents are four. No legal program can use it, because D is explained by no
four variables but V with W: written without V, it would take the parents of V and W, and these are
more than four. So the direction follows from the bound and from the absence of circles, and not
from the sets that fit a variable.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np

from builder.replayscm.make.programs import HiddenProgram, assemble, name_of, sample_formula
from grader.tracks.replayscm.boolean import Formula, canonical, operation, variable
from grader.tracks.replayscm.problem import MAX_PARENTS, ROOTS

Groups = tuple[tuple[int, ...], ...]
"""Variables that are set together."""

JOINED: Final = 0.5
"""Chance that a variable of no reversible edge is set together with another such variable, so that
being set together does not tell an edge."""


def sample_reversible(
    rng: np.random.Generator, n: int, pairs: int, *, chain: bool = False
) -> tuple[HiddenProgram, Groups]:
    """A program of ``n`` variables with so many disjoint reversible edges, and the ends of each.

    With a ``chain`` also two edges V -> D -> E. More sets then fit D than V, while of single edges
    mostly fewer fit the effect, so that their numbers tell no directions. At most (n - 4) / 2 edges
    find room, or (n - 7) / 2 beside a chain.
    """
    while True:
        order = tuple(int(v) for v in rng.permutation(n))
        count = 2 * pairs + 3 * chain
        places = rng.choice(np.arange(ROOTS + 1, n), size=count, replace=False).tolist()
        linked = [sorted(places[2 * k : 2 * k + 2]) for k in range(pairs)]
        linked += [sorted(places[2 * pairs :])] if chain else []
        ends = {effect: cause for run in linked for cause, effect in pairwise(run)}
        formulas = _mechanisms(rng, order, ends)
        if formulas is not None:
            program = assemble(order, {}, formulas)
            found = tuple(tuple(order[place] for place in run) for run in linked)
            # There is no window to draw parents from: all earlier variables were candidates.
            return replace(program, windows=program.parents), found


def _mechanisms(
    rng: np.random.Generator, order: Sequence[int], ends: dict[int, int]
) -> dict[int, Formula] | None:
    """A formula for each variable that is no root; ``ends`` are places, effect to cause.

    ``None`` where an effect finds no partners that keep it from being explained without its cause.
    """
    causes = set(ends.values())
    parents: dict[int, set[int]] = {}
    formulas: dict[int, Formula] = {}
    for place in range(ROOTS, len(order)):
        child, earlier = order[place], order[:place]
        if place in ends:
            cause = order[ends[place]]
            others = [v for v in earlier if v != cause]
            # Inside a chain one: both sets that fit are then as small as the first variable's.
            most = 1 if place in causes else 2
            partners = rng.choice(others, size=int(rng.integers(1, most + 1)), replace=False)
            # What may stand for the middle of a chain holds its first variable: that is no gain.
            without = parents[cause] | set(partners.tolist())
            if ends[place] not in ends and len(without) <= MAX_PARENTS:
                return None
            inner = [name_of(int(v)) for v in sorted(partners)]
            told = variable(inner[0]) if len(inner) == 1 else sample_formula(rng, inner)
            operator = ("xor", "iff")[int(rng.integers(2))]
            formulas[child] = canonical(operation(operator, variable(name_of(cause)), told))
            parents[child] = {cause, *partners.tolist()}
            continue
        least = MAX_PARENTS if place in causes else 2
        count = int(rng.integers(least, min(place, MAX_PARENTS) + 1))
        chosen = sorted(int(v) for v in rng.choice(earlier, size=count, replace=False))
        formulas[child] = sample_formula(rng, [name_of(v) for v in chosen])
        parents[child] = set(chosen)
    return formulas


def draw_groups(rng: np.random.Generator, n: int, linked: Groups) -> Groups:
    """A partition of the variables: ``linked`` ones together; of the others, some in pairs."""
    taken = {v for group in linked for v in group}
    waiting = [int(v) for v in rng.permutation(n) if int(v) not in taken]
    groups = list(linked)
    while waiting:
        first = waiting.pop()
        joined = waiting and rng.random() < JOINED
        groups.append((first, waiting.pop()) if joined else (first,))
    return tuple(groups)


def draw_targets(rng: np.random.Generator, groups: Groups, most: int) -> tuple[int, ...]:
    """Variables to set, at most so many and whole groups only; none where no group is so small."""
    chosen: list[int] = []
    for place in rng.permutation(len(groups)).tolist():
        if len(chosen) + len(groups[place]) <= most:
            chosen += groups[place]
    return tuple(sorted(chosen))
