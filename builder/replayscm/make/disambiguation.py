"""Local semantic alternatives for targeted disambiguation (ReplaySCM B.2.3).

An alternative of V is a function over at most four earlier variables that fits the training rows,
differs from V's mechanism, and whose smallest formula is at most two nodes larger than V's and
at most eight.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from builder.replayscm.make.programs import HiddenProgram
from builder.replayscm.make.synthesis import INPUTS, smallest_formulas
from builder.replayscm.make.tables import Tables, bits, sets_of
from builder.replayscm.make.worlds import World
from grader.tracks.replayscm.boolean import depends_on, size

SLACK: Final = 2
CAP: Final = 8
_WEIGHTS: Final = 1 << np.arange(INPUTS)
"""What turns a row of a function's inputs into the place in its truth table."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another function for ``child``: a truth table over ``members``."""

    child: int
    members: tuple[int, ...]
    table: int

    def fails_in(self, world: World) -> bool:
        """Whether an observed row of ``world`` contradicts it."""
        if self.child in world.targets:
            return False
        pattern = world.rows[:, list(self.members)] @ _WEIGHTS[: len(self.members)]
        return bool((((self.table >> pattern) & 1) != world.rows[:, self.child]).any())


@cache
def _functions(inputs: int, cap: int) -> NDArray[np.int32]:
    """The functions that depend on all of the first ``inputs`` inputs, of size at most ``cap``."""
    smallest = smallest_formulas()
    listed = smallest.by_size[inputs]
    small = listed[smallest.sizes[listed] <= cap]
    keep = [
        all(depends_on(int(table), place, INPUTS) for place in range(inputs)) for table in small
    ]
    return np.asarray(small[np.array(keep, dtype=bool)])


def alternatives(program: HiddenProgram, tables: Tables) -> list[Alternative]:
    """All local alternatives that fit the training tables, by variable, set and size."""
    sets = sets_of(program.n)
    consistent = tables.consistent()
    found = []
    for place, child in enumerate(program.order):
        if child not in program.windows:
            continue
        earlier = bits(program.order[:place])
        cap = min(size(program.formulas[child]) + SLACK, CAP)
        own = (program.parents[child], program.tables[child])
        for k in np.flatnonzero(consistent[child] & ((sets.masks & ~earlier) == 0)):
            members = sets.members[int(k)]
            functions = _functions(len(members), cap)
            ones, zeros = int(tables.ones[child, k]), int(tables.zeros[child, k])
            fits = ((functions & ones) == ones) & ((functions & zeros) == 0)
            every = int(sets.every[k])
            for table in functions[fits].tolist():
                if (members, table & every) != own:
                    found.append(Alternative(child, members, table & every))
    return found
