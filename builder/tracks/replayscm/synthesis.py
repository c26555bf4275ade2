"""The smallest formula of every Boolean function of at most four variables.

Size counts operators and leaves (the paper's AST size); ``and``, ``or`` and ``xor`` take any
number of arguments, ``iff`` two. Let L(s) be the functions whose smallest formula has size s, and
let a *chain* of an operator with total t be a combination by that operator of one or more formulas
whose sizes add up to t. A formula of size t + 1 is then ``not`` of L(t), a chain of two or more
with total t, or ``iff`` of two formulas with total t; a chain with total t extends a chain with a
smaller total by one formula. So all levels follow in turn, and every first find is a minimum.
"""

from collections.abc import Iterator
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from grader.tracks.replayscm.boolean import Formula, input_column, operation, variable

INPUTS: Final = 4
FUNCTIONS: Final = 1 << (1 << INPUTS)
FULL: Final = FUNCTIONS - 1
_NARY: Final = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
_BATCH: Final = 1 << 20

Ints = NDArray[np.int32]


class SmallestFormulas:
    """The smallest formulas of all 65,536 functions of four inputs.

    A function f is its truth table, a number of 16 bits: bit p is the value where input i has
    bit i of p. ``sizes[f]`` is the number of operators and leaves of its smallest formula.
    ``by_size[k]`` lists the functions that depend on the first k inputs at most, by (size,
    truth table). The outermost operator of f is ``operators[f]``, over ``parts[operator][f]``:
    functions, or the number of a single input, whose operator is "".

    In the search ``levels[s]`` are the functions of smallest size s, ``chains[operator][t]`` those
    first found as a chain of the operator with total t, and ``chained[operator]`` flags all these.
    """

    def __init__(self) -> None:
        """Search size after size, in a few tenths of a second."""
        self.sizes = np.zeros(FUNCTIONS, dtype=np.uint8)
        self.operators: dict[int, str] = {}
        self.parts = {name: dict[int, tuple[int, ...]]() for name in (*_NARY, "not", "iff", "")}
        self.levels = [np.zeros(0, dtype=np.int32)]
        self.chains = {operator: [self.levels[0]] for operator in _NARY}
        self.chained = {operator: np.zeros(FUNCTIONS, dtype=bool) for operator in _NARY}
        self._run()
        order = np.lexsort((np.arange(FUNCTIONS), self.sizes)).astype(np.int32)
        self.by_size = tuple(order[_ignores(order, inputs)] for inputs in range(INPUTS + 1))

    def formula(self, table: int, names: tuple[str, ...]) -> Formula:
        """Return the smallest formula of ``table``, input i called ``names[i]``; inputs on which it
        does not depend need no name. A constant mentions the first name alone."""
        if table in (0, FULL):
            return operation("iff" if table else "xor", variable(names[0]), variable(names[0]))
        operator = self.operators[table]
        parts = self.parts[operator][table]
        if operator == "":
            return variable(names[parts[0]])
        return operation(operator, *(self.formula(part, names) for part in parts))

    def smallest(self, ones: int, zeros: int, inputs: int) -> int:
        """Return the smallest function of the first ``inputs`` that is 1 on ``ones`` and 0 on
        ``zeros``, disjoint bit sets over patterns. Ties go to the lower truth table."""
        listed = self.by_size[inputs]
        fits = ((listed & ones) == ones) & ((listed & zeros) == 0)
        return int(listed[int(fits.argmax())])

    def _run(self) -> None:
        """Fill the table until every function has a size."""
        new = np.array([input_column(i, INPUTS) for i in range(INPUTS)], dtype=np.int32)
        self._claim(new, 1, "", np.arange(INPUTS, dtype=np.int32))
        while True:
            total = len(self.levels)
            self.levels.append(np.sort(new))
            for operator, chained in self.chained.items():
                singles = self.levels[total][~chained[self.levels[total]]]
                chained[singles] = True
                self.chains[operator].append(singles)
            if np.count_nonzero(self.sizes) == FUNCTIONS:
                return
            new = np.concatenate(list(self._next_level(total)))

    def _next_level(self, total: int) -> Iterator[Ints]:
        """Yield the new functions of size ``total`` + 1 in batches; record how they are made."""
        yield self._claim(FULL ^ self.levels[total], total + 1, "not", self.levels[total])
        for operator, join in _NARY.items():
            chains, parts = self.chains[operator], self.parts[operator]
            added = [chains[total]]
            for a in range(1, total):
                for x, y in _pairs(chains[a], self.levels[total - a]):
                    chosen, first = _first(join(x, y), self.chained[operator])
                    self.chained[operator][chosen] = True
                    rows = zip(chosen.tolist(), x[first].tolist(), y[first].tolist(), strict=True)
                    for function, one, other in rows:  # one may be a chain, of a smaller total
                        parts[function] = (*parts.get(one, (one,)), other)
                    added.append(chosen)
                    yield self._claim(chosen, total + 1, operator)
            chains[total] = np.concatenate(added)
        for a in range(1, total // 2 + 1):
            for x, y in _pairs(self.levels[a], self.levels[total - a]):
                yield self._claim(FULL ^ x ^ y, total + 1, "iff", x, y)

    def _claim(self, values: Ints, size: int, operator: str, *joined: Ints) -> Ints:
        """Record how those of ``values`` without a size are made; return these, ascending."""
        chosen, first = _first(values, self.sizes != 0)
        self.sizes[chosen] = size
        self.operators.update(dict.fromkeys(chosen.tolist(), operator))
        if joined:  # the parts of a chain are recorded already
            rows = zip(*(one[first].tolist() for one in joined), strict=True)
            self.parts[operator].update(zip(chosen.tolist(), rows, strict=True))
        return chosen


@cache
def smallest_formulas() -> SmallestFormulas:
    """Return the table, searched once a process."""
    return SmallestFormulas()


def _ignores(tables: Ints, inputs: int) -> NDArray[np.bool_]:
    """Return by truth table whether it depends on the first ``inputs`` inputs at most."""
    ignored = np.ones(len(tables), dtype=bool)
    for place in range(inputs, INPUTS):
        ones = input_column(place, INPUTS)
        ignored &= (tables & ones) >> (1 << place) == tables & (FULL ^ ones)
    return ignored


def _first(values: Ints, known: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.intp]]:
    """Return values not in ``known``, once each, sorted, and the place where each is first."""
    places = np.flatnonzero(~known[values])
    chosen, first = np.unique(values[places], return_index=True)
    return chosen, places[first]


def _pairs(first: Ints, second: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield pairs of items of ``first`` and ``second``, in bounded batches: two aligned arrays."""
    if len(first) == 0 or len(second) == 0:
        return
    rows = max(1, _BATCH // len(second))
    for start in range(0, len(first), rows):
        part = first[start : start + rows]
        yield np.repeat(part, len(second)), np.tile(second, len(part))
