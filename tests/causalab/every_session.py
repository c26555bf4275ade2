"""What all sessions of a disturbed episode decide together, found by going through them.

Every sequence of settings at a few legal levels, up to the budget, is run in exact arithmetic with
the episode's stored disturbance; sequences that leave the same things set after as many steps show
the same, and are run once. Each value that is shown is one equation in the unknown coefficients,
the crystal's base and the shift of its step, and every acyclic graph is held against all of them.
For linear episodes in ``shift`` and ``do``. Nothing of the builder's two derivations is used.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np
from candidate_search import graphs
from numpy.typing import NDArray

from grader.laboratory.episode import Episode

PRIME = (1 << 31) - 1
"""Products of two residues fit into 64 bits."""
LEVELS = (7.0, 41.0, 90.0)

Matrix = NDArray[np.int64]
Left = Mapping[str, float]
Equation = tuple[Sequence[int], tuple[str, ...], int]
"""The causes' values, the names of the unknown numbers, and the sum of all of it."""


def residue(value: float) -> int:
    exact = Fraction(repr(float(value)))
    return exact.numerator * pow(exact.denominator, -1, PRIME) % PRIME


def every_sequence(episode: Episode) -> Iterator[tuple[int, Left]]:
    """After every sequence of settings: its length, and what is set."""
    reached = {frozenset[tuple[str, float]]()}
    for length in range(1, episode.budget + 1):
        reached = {
            frozenset({**dict(before), name: level}.items())
            for before in reached
            for name in episode.controllable
            for level in LEVELS
        }
        for left in reached:
            yield length, dict(left)


def shown(episode: Episode, bases: Left, left: Left, shift: float) -> dict[str, int]:
    """Every node's value, unrounded, with the last step's ``shift`` on the disturbed nodes."""
    model, values = episode.model, dict[str, int]()
    nodes = episode.disturbance.nodes if shift and episode.disturbance else ()
    while len(values) < len(model.nodes):
        for node in model.nodes:
            causes = model.equations[node]
            if node in values or any(term.parent not in values for term in causes):
                continue
            if episode.mode == "do" and node in left:
                values[node] = residue(left[node])
                continue
            base = model.base if node == episode.target else left.get(node, bases.get(node))
            assert base is not None
            total = residue(base) + (residue(shift) if node in nodes else 0)
            total += sum(residue(term.linear) * values[term.parent] for term in causes)
            values[node] = total % PRIME
    return values


def every_equation(episode: Episode) -> dict[str, list[Equation]]:
    """By node, what the opening, the records and all sequences say about it."""
    found: dict[str, list[Equation]] = {node: [] for node in episode.nodes}
    target, disturbance = episode.target, episode.disturbance
    for bases in episode.private["records"]:  # a crystal each: it says nothing of properties
        values = shown(episode, bases, {}, 0.0)
        found[target].append((_others(values, target), ("base",), values[target]))
    runs: list[tuple[int, Left]] = [(0, {}), *every_sequence(episode)]
    for length, left in runs:
        drawn = disturbance.sequence[length - 1] if disturbance and length else 0.0
        values = shown(episode, episode.private["manipulator"], left, drawn)
        shift = (f"shift {length}",) if disturbance and length else ()
        for node, value in values.items():
            causes = _others(values, node)
            if node not in left:
                found[node].append((causes, ("base", *shift), value))
            elif episode.mode == "shift":
                found[node].append((causes, shift, (value - residue(left[node])) % PRIME))
    return found


def _others(values: Mapping[str, int], node: str) -> list[int]:
    return [values[name] for name in sorted(values) if name != node]


def undecided_by_sessions(episode: Episode) -> set[tuple[str, str]]:
    """The pairs that are an edge of some models agreeing with every session, and not of others."""
    assert not episode.public["chain"] and episode.mode != "pin" and episode.family == "linear"
    equations, nodes = every_equation(episode), sorted(episode.nodes)
    acting = episode.public["frequency_may_be_parent"]
    options = []
    for node in nodes:
        causes = [name for name in nodes if name != node]
        reduced = _about_causes(equations[node], len(causes))
        chosen = set()
        for mask in range(1 << len(nodes)):
            inside = [name for i, name in enumerate(nodes) if mask >> i & 1]
            if node in inside or (episode.target in inside and not acting):
                continue
            if _has_all(reduced, [causes.index(name) for name in inside]):
                chosen.add(mask)
        options.append(chosen)
    models = [
        masks
        for masks in graphs(len(nodes))
        if all(mask in possible for mask, possible in zip(masks, options, strict=True))
    ]
    edges = [_edges(nodes, masks) for masks in models]
    assert set(episode.edges) in edges
    return set.union(*edges) - set.intersection(*edges)


def _edges(nodes: Sequence[str], masks: Sequence[int]) -> set[tuple[str, str]]:
    return {
        (cause, node)
        for node, mask in zip(nodes, masks, strict=True)
        for i, cause in enumerate(nodes)
        if mask >> i & 1
    }


def _about_causes(equations: Sequence[Equation], count: int) -> Matrix:
    """The equations without their other unknowns: coefficients' columns and the right side."""
    names = sorted({name for _, unknown, _ in equations for name in unknown})
    rows = [
        [*(int(name in unknown) for name in names), *causes, total]
        for causes, unknown, total in equations
    ]
    matrix = np.array(rows, np.int64).reshape(-1, len(names) + count + 1)
    reduced, pivots = _reduced(matrix)
    return reduced[[i for i, p in enumerate(pivots) if p >= len(names)]][:, len(names) :]


def _has_all(equations: Matrix, inside: Sequence[int]) -> bool:
    """Whether a solution has a coefficient other than zero for each cause ``inside``, and no other.

    A cause is there in almost all solutions unless it is zero in every one.
    """
    reduced, pivots = _reduced(equations[:, [*inside, -1]])
    if len(inside) in pivots:
        return False
    zero = {p for row, p in zip(reduced, pivots, strict=True) if np.count_nonzero(row) == 1}
    return not zero


def _reduced(matrix: Matrix) -> tuple[Matrix, list[int]]:
    """Reduced row echelon form modulo the prime, without zero rows, and its pivots' columns."""
    matrix, pivots = matrix.copy(), list[int]()
    for column in range(matrix.shape[1]):
        at = len(pivots)
        below = np.flatnonzero(matrix[at:, column])
        if not len(below):
            continue
        matrix[[at, at + below[0]]] = matrix[[at + below[0], at]]
        matrix[at] = matrix[at] * pow(int(matrix[at, column]), -1, PRIME) % PRIME
        factors = matrix[:, column].copy()
        factors[at] = 0
        matrix = (matrix - factors[:, None] * matrix[at] % PRIME) % PRIME
        pivots.append(column)
    return matrix[: len(pivots)], pivots
