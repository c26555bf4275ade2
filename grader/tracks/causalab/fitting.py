"""Which coefficients fit readings that are rounded: small linear systems with intervals.

A system is solved on a well-conditioned square part of it, the error of every coefficient is
bounded by the rounding of the rows used, and every other row must agree within the rounding of all
its terms. (Children read rounded parents, so a row's own rounding would do for the true parents;
but what stands in for them by way of another node was rounded on the way, and the last digit of a
reading is not what an experiment should decide by.)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Final

_PIVOT: Final = 1e-10
"""Of the largest entry of its column; readings differ by more, or not at all."""
_SLACK: Final = 1e-9
_FLOAT: Final = 1e-11
"""Relative error of the elimination itself, in double precision."""


@dataclass(frozen=True, slots=True)
class Fit:
    """What the rows say of the coefficients, all of shape (columns,).

    ``feasible`` is whether some coefficients fit every row; if not, the rest says nothing.
    ``lower`` and ``upper`` bound each coefficient over all that fit, infinite where the rows do
    not determine it. The bounds are outer ones: never too narrow.
    """

    feasible: bool
    lower: tuple[float, ...]
    upper: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Solved:
    """Rows with every column scaled to size one, and the inverse of a square part of full rank.

    The part is the rows ``basis`` and the columns ``order``; ``inverse`` has the shape
    (order, basis).
    """

    rows: Sequence[Sequence[float]]
    scales: Sequence[float]
    basis: Sequence[int]
    order: Sequence[int]
    inverse: Sequence[Sequence[float]] = ()

    def on(self, basis: Sequence[int]) -> "_Solved":
        """The same with other rows as the square part."""
        inverse = _inverse([[self.rows[r][c] for c in self.order] for r in basis])
        return replace(self, basis=basis, inverse=inverse)

    def others(self) -> Iterator[tuple[int, list[float]]]:
        """The rows outside the part, each with its entries in the part's columns."""
        used = set(self.basis)
        for place, row in enumerate(self.rows):
            if place not in used:
                yield place, [row[c] for c in self.order]

    def shares(self, entries: Sequence[float]) -> list[float]:
        """A row as a combination of the basis rows."""
        size = range(len(self.basis))
        return [sum(e * self.inverse[j][k] for j, e in enumerate(entries)) for k in size]


def _solved(rows: Sequence[Sequence[float]]) -> _Solved:
    columns = range(len(rows[0]) if rows else 0)
    scales = [max((abs(row[c]) for row in rows), default=0.0) or 1.0 for c in columns]
    scaled = [[entry / scale for entry, scale in zip(row, scales, strict=True)] for row in rows]
    basis, order = _pivots(scaled)
    return _Solved(scaled, scales, basis, order).on(basis)


def fit(
    rows: Sequence[Sequence[float]],
    values: Sequence[float],
    errors: Sequence[float],
    slopes: Sequence[Sequence[float]] | None = None,
) -> Fit:
    """Coefficients w with |row · w - value| <= error for every row.

    ``rows`` has shape (rows, columns); ``values`` and ``errors`` (rows,). ``slopes``, of the shape
    of ``rows``, is how much rounding changes each entry; w may then miss a row by slopes · |w|
    more.
    """
    part = _solved(rows)
    solution = [_dot(line, [values[r] for r in part.basis]) for line in part.inverse]
    allowed = errors
    if slopes is not None:
        sizes = [
            (column, abs(value) / part.scales[column])
            for column, value in zip(part.order, solution, strict=True)
        ]
        allowed = [
            error + sum(row[column] * size for column, size in sizes)
            for error, row in zip(errors, slopes, strict=True)
        ]
    lower, upper = [-inf] * len(part.scales), [inf] * len(part.scales)
    if not _others_agree(part, values, allowed, solution):
        return Fit(False, tuple(lower), tuple(upper))
    loose = _undetermined(part)
    for place, column in enumerate(part.order):
        if not loose[place]:
            weights = [abs(factor) for factor in part.inverse[place]]
            radius = _dot(weights, [errors[r] for r in part.basis]) + _SLACK
            lower[column] = (solution[place] - radius) / part.scales[column]
            upper[column] = (solution[place] + radius) / part.scales[column]
    return Fit(True, tuple(lower), tuple(upper))


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def _pivots(matrix: Sequence[Sequence[float]]) -> tuple[list[int], list[int]]:
    """Rows and columns of a regular square part of full rank, by complete pivoting."""
    work = [list(row) for row in matrix]
    free_rows = list(range(len(work)))
    free_columns = list(range(len(work[0]))) if work else []
    rows: list[int] = []
    columns: list[int] = []
    while free_rows and free_columns:
        best, row, column = 0.0, -1, -1
        for r in free_rows:
            line = work[r]
            for c in free_columns:
                size = line[c] if line[c] >= 0 else -line[c]
                if size > best:
                    best, row, column = size, r, c
        if best < _PIVOT:
            break
        rows.append(row)
        columns.append(column)
        free_rows.remove(row)
        free_columns.remove(column)
        pivot = work[row]
        for r in free_rows:
            line = work[r]
            factor = line[column] / pivot[column]
            if factor:
                for c in free_columns:
                    line[c] -= factor * pivot[c]
    return rows, columns


def _inverse(matrix: list[list[float]]) -> list[list[float]]:
    """The inverse of a regular matrix, by Gauss-Jordan elimination with partial pivoting."""
    size = len(matrix)
    work = [[*row, *(float(k == r) for k in range(size))] for r, row in enumerate(matrix)]
    for column in range(size):
        best = max(range(column, size), key=lambda r: abs(work[r][column]))
        work[column], work[best] = work[best], work[column]
        pivot = work[column]
        inverse = 1 / pivot[column]
        work[column] = pivot = [entry * inverse for entry in pivot]
        for r in range(size):
            factor = work[r][column]
            if r != column and factor:
                work[r] = [a - factor * b for a, b in zip(work[r], pivot, strict=True)]
    return [row[size:] for row in work]


def _others_agree(
    part: _Solved, values: Sequence[float], errors: Sequence[float], solution: Sequence[float]
) -> bool:
    """Whether every row outside the square part can agree with it."""
    for r, entries in part.others():
        gap = abs(values[r] - _dot(entries, solution))
        if gap <= errors[r]:
            continue
        noise = abs(values[r]) + sum(abs(e * s) for e, s in zip(entries, solution, strict=True))
        bound = errors[r] + _SLACK + _FLOAT * noise
        for share, row in zip(part.shares(entries), part.basis, strict=True):
            bound += abs(share) * errors[row]
        if gap > bound:
            return False
    return True


def _undetermined(part: _Solved) -> list[bool]:
    """Per chosen column, whether a column that was not chosen can stand in for a part of it."""
    loose = [False] * len(part.order)
    for other in set(range(len(part.scales))).difference(part.order):
        entries = [part.rows[r][other] for r in part.basis]
        for place, line in enumerate(part.inverse):
            loose[place] = loose[place] or abs(_dot(line, entries)) > 1e-7
    return loose


def tightest(
    rows: Sequence[Sequence[float]],
    values: Sequence[float],
    errors: Sequence[float],
    column: int,
) -> tuple[float, float]:
    """The narrowest bounds on one coefficient that one combination of rows gives.

    The columns must be independent. Among all combinations of rows that isolate the coefficient,
    the one of least total error is found by exchanging rows, a simplex method.
    """
    part = _solved(rows)
    if len(part.order) < len(part.scales):
        return -inf, inf
    place = part.order.index(column)
    for _ in range(4 * len(rows)):
        exchange = _exchange(part, errors, part.inverse[place])
        if exchange is None:
            break
        leaving, entering = exchange
        part = part.on([entering if k == leaving else row for k, row in enumerate(part.basis)])
    weights = part.inverse[place]
    centre = _dot(weights, [values[r] for r in part.basis])
    radius = sum(abs(w) * errors[r] for w, r in zip(weights, part.basis, strict=True)) + _SLACK
    return (centre - radius) / part.scales[column], (centre + radius) / part.scales[column]


def _exchange(
    part: _Solved, errors: Sequence[float], weights: Sequence[float]
) -> tuple[int, int] | None:
    """The (place in the basis, row) whose exchange lowers the total error; ``None`` at the least.

    Raising the weight of a row lowers the basis weights by its expression in the basis, until one
    of them is zero and the error would rise again.
    """
    for row, entries in part.others():
        shares = part.shares(entries)
        for sign in (1.0, -1.0):
            slope = errors[row]
            stops = []
            for k, (share, weight) in enumerate(zip(shares, weights, strict=True)):
                change = sign * share * errors[part.basis[k]]
                if weight > 0 or (weight == 0 and change < 0):
                    slope -= change
                else:
                    slope += change
                if share and weight / (sign * share) > 0:
                    stops.append((weight / (sign * share), k))
            if slope >= -1e-12:
                continue
            for _, k in sorted(stops):
                slope += 2 * abs(shares[k]) * errors[part.basis[k]]
                if slope >= 0:
                    return k, row
    return None
