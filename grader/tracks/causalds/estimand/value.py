"""The value of an estimand formula on discrete models: tables over free variables, bottom-up.

Everything is binary. A table over k variables is a list of 2^k numbers a model; bit i of a cell is
the value of the i-th of its variables, in the order of the models' own list.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from grader.tracks.causalds.estimand.language import Formula, Operation, Probability, Total

Cells = list[float]


class Undefined(ValueError):
    """A denominator that is zero, or a value too large for a number, on one of the models."""


@dataclass(frozen=True, slots=True)
class Models:
    """Joint distributions of the same binary variables: ``tables``, each of 2^n cells."""

    variables: tuple[str, ...]
    tables: tuple[tuple[float, ...], ...]
    _marginals: dict[int, list[Cells]] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, record: Mapping[str, Sequence[object]]) -> Self:
        """The models in a row of ``causalds_labels``: ``variables`` and ``tables``."""
        tables = (tuple(float(str(cell)) for cell in _listed(table)) for table in record["tables"])
        return cls(tuple(map(str, record["variables"])), tuple(tables))

    def mask(self, names: Sequence[str]) -> int:
        """The set of variables as bits."""
        return sum(1 << self.variables.index(name) for name in names)

    def marginal(self, mask: int) -> list[Cells]:
        """The distribution of some of the variables, a table a model."""
        if mask not in self._marginals:
            every = (1 << len(self.variables)) - 1
            self._marginals[mask] = [_summed(list(table), every, mask) for table in self.tables]
        return self._marginals[mask]


def _listed(value: object) -> Sequence[object]:
    assert isinstance(value, list | tuple)
    return value


def values(formula: Formula, models: Models, x: str, y: str) -> list[list[list[float]]]:
    """The formula's value on each model at ``x`` and ``y``: ``[model][x][y]``.

    No other variable may be free. Raises :class:`Undefined`.
    """
    results: list[tuple[int, list[Cells]]] = []
    for step in formula:
        match step:
            case Probability(targets, given):
                mask, below = models.mask(targets + given), models.mask(given)
                found = models.marginal(mask)
                if given:
                    found = _combined("/", mask, (mask, found), (below, models.marginal(below)))
                results.append((mask, found))
            case Total(over):
                mask, tables = results.pop()
                kept = mask & ~models.mask(over)
                results.append((kept, [_summed(table, mask, kept) for table in tables]))
            case Operation(sign):
                second, first = results.pop(), results.pop()
                mask = first[0] | second[0]
                results.append((mask, _combined(sign, mask, first, second)))
    mask, tables = results[-1]
    ends = models.mask((x, y))
    x_bit = models.mask((x,))
    places = _places(ends, mask)
    # Cells of the two ends: the end that comes first in the list of variables is the low bit.
    steps = (1, 2) if x_bit == ends & -ends else (2, 1)
    return [
        [[table[places[i * steps[0] + j * steps[1]]] for j in (0, 1)] for i in (0, 1)]
        for table in tables
    ]


def _combined(
    sign: str, mask: int, first: tuple[int, list[Cells]], second: tuple[int, list[Cells]]
) -> list[Cells]:
    """Products or quotients over the variables of ``mask``."""
    left, right = _places(mask, first[0]), _places(mask, second[0])
    pairs = zip(first[1], second[1], strict=True)
    if sign == "*":
        return [[a[i] * b[j] for i, j in zip(left, right, strict=True)] for a, b in pairs]
    try:
        return [[a[i] / b[j] for i, j in zip(left, right, strict=True)] for a, b in pairs]
    except ZeroDivisionError:
        raise Undefined("a denominator is zero") from None


def _summed(table: Cells, mask: int, kept: int) -> Cells:
    """A table over ``mask`` added up to one over ``kept``, a part of it."""
    found = [0.0] * (1 << kept.bit_count())
    for place, cell in zip(_places(mask, kept), table, strict=True):
        found[place] += cell
    return found


def _places(mask: int, part: int) -> list[int]:
    """For every cell over ``mask`` the cell over ``part`` with the same values; what ``mask`` has
    not is 0."""
    places = [0]
    rank = 0
    for bit in range(max(mask, part).bit_length()):
        if part >> bit & 1:
            weight, rank = 1 << rank, rank + 1
        else:
            weight = 0
        if mask >> bit & 1:
            places += [place + weight for place in places]
    return places
