"""Linear algebra over a prime field, where ranks are exact.

Decimal coefficients are rational and so have an exact image; a polynomial that does not vanish is
nonzero at a random point with probability above 1 - 1e-16 (Schwartz-Zippel), so ranks at random
points are generic ranks.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

PRIME: Final = (1 << 61) - 1


def to_field(value: float) -> int:
    """The image of a decimal number as it is written."""
    exact = Fraction(repr(float(value)))
    return exact.numerator * pow(exact.denominator, -1, PRIME) % PRIME


def null_space(rows: Sequence[Sequence[int]], width: int) -> list[list[int]]:
    """A basis of all vectors of length ``width`` orthogonal to every row."""
    reduced, pivots = _reduce(rows, width)
    basis = []
    for free in range(width):
        if free in pivots:
            continue
        vector = [0] * width
        vector[free] = 1
        for row, pivot in zip(reduced, pivots, strict=True):
            vector[pivot] = -row[free] % PRIME
        basis.append(vector)
    return basis


def solve(
    rows: Sequence[Sequence[int]], targets: Sequence[int], width: int
) -> tuple[list[int], list[list[int]]] | None:
    """One solution of ``rows x = targets`` and a basis of the rest; ``None`` if there is none."""
    joined = [[*row, target] for row, target in zip(rows, targets, strict=True)]
    reduced, pivots = _reduce(joined, width + 1)
    if width in pivots:
        return None
    solution = [0] * width
    for row, pivot in zip(reduced, pivots, strict=True):
        solution[pivot] = row[width]
    return solution, null_space([row[:width] for row in reduced], width)


def _reduce(rows: Sequence[Sequence[int]], width: int) -> tuple[list[list[int]], list[int]]:
    """Reduced row echelon form without zero rows, and its pivot columns."""
    left = [[value % PRIME for value in row] for row in rows]
    reduced: list[list[int]] = []
    pivots: list[int] = []
    for column in range(width):
        index = next((i for i, row in enumerate(left) if row[column]), None)
        if index is None:
            continue
        row = left.pop(index)
        inverse = pow(row[column], -1, PRIME)
        row = [value * inverse % PRIME for value in row]
        left = [_without(other, row, column) for other in left]
        reduced = [_without(other, row, column) for other in reduced]
        reduced.append(row)
        pivots.append(column)
    return reduced, pivots


def _without(row: list[int], pivot_row: list[int], column: int) -> list[int]:
    factor = row[column]
    if not factor:
        return row
    return [(a - factor * b) % PRIME for a, b in zip(row, pivot_row, strict=True)]
