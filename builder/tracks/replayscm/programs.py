"""Sampling a hidden program (ReplaySCM B.2.1, Algorithm 1).

Variables are numbered 0..n-1 by label (``X1`` is 0); the latent order is a random permutation of
them whose first three are the roots. Each endogenous variable has a window of earlier variables,
parents drawn from the window, and a formula that depends on all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from builder.release.attempts import Rejection
from builder.tracks.replayscm.plan import PAPER, Generation
from grader.tracks.replayscm import boolean
from grader.tracks.replayscm.boolean import Formula
from grader.tracks.replayscm.problem import MAX_PARENTS, ROOTS

WINDOWS: Final = {2: 0.04, 3: 0.10, 4: 0.82, 5: 0.04}
"""Shares of MaxPredecessorsPerMechanism; most records use 4 (Table B.1)."""
_DRAWS: Final = 2_000
"""Formulas that are drawn for one mechanism, before settings are taken to allow none."""


@dataclass(frozen=True, slots=True)
class HiddenProgram:
    """A hidden program. ``order`` holds the variables, roots first, each after its parents.
    ``windows``, ``parents`` and ``formulas`` are by endogenous variable; a window holds the earlier
    variables that parents were drawn from. ``tables[v]`` is the truth table of v as an integer. Its
    bit p is the value where the bits of p are those of the parents, in their (ascending) order."""

    order: tuple[int, ...]
    windows: Mapping[int, tuple[int, ...]]
    parents: Mapping[int, tuple[int, ...]]
    formulas: Mapping[int, Formula]
    tables: Mapping[int, int]

    @property
    def n(self) -> int:
        """Return the number of variables."""
        return len(self.order)

    @property
    def roots(self) -> tuple[int, ...]:
        """Return the three roots, in latent order."""
        return self.order[:ROOTS]

    @property
    def endogenous(self) -> tuple[int, ...]:
        """Return the variables that are not roots, in latent order."""
        return self.order[ROOTS:]

    def table_over(self, child: int, members: Sequence[int]) -> int:
        """Return the mechanism of ``child`` as an integer truth table over ``members``, which hold
        its parents. Bit p is the value at pattern p, bit i of a pattern that of ``members[i]``."""
        parents, table = self.parents[child], 0
        for pattern in range(1 << len(members)):
            mine = sum((pattern >> members.index(u) & 1) << bit for bit, u in enumerate(parents))
            table |= (self.tables[child] >> mine & 1) << pattern
        return table

    def mechanisms(self) -> dict[str, str]:
        """Return the formulas as text, by label: the form that answers have."""
        return {name_of(v): boolean.to_text(self.formulas[v]) for v in sorted(self.endogenous)}

    def to_json(self) -> dict[str, Any]:
        """Return order, windows and formulas by label: a canonical, lossless JSON form."""
        return {
            "order": [name_of(v) for v in self.order],
            "windows": {name_of(v): [name_of(u) for u in w] for v, w in self.windows.items()},
            "mechanisms": self.mechanisms(),
        }


def draw_blocks(rng: np.random.Generator, program: HiddenProgram) -> tuple[tuple[int, ...], ...]:
    """Draw the blocks: the roots, then runs of two or three endogenous slots (the last maybe
    fewer). Inside a block variables are listed by label, which tells no order."""
    waiting = list(program.endogenous)
    blocks = [tuple(sorted(program.roots))]
    while waiting:
        count = int(rng.choice((2, 3)))
        blocks.append(tuple(sorted(waiting[:count])))
        waiting = waiting[count:]
    return tuple(blocks)


def name_of(v: int) -> str:
    """Return the label of variable ``v``."""
    return f"X{v + 1}"


def assemble(
    order: tuple[int, ...], windows: Mapping[int, tuple[int, ...]], formulas: Mapping[int, Formula]
) -> HiddenProgram:
    """Return a program from its formulas, with the parents they depend on, not merely mention."""
    parents = {
        v: tuple(sorted(int(name[1:]) - 1 for name in boolean.essential(formulas[v])))
        for v in order[ROOTS:]
    }
    tables = {v: boolean.truth_table(formulas[v], [*map(name_of, parents[v])]) for v in parents}
    return HiddenProgram(order, windows, parents, dict(formulas), tables)


def sample_program(rng: np.random.Generator, settings: Generation = PAPER) -> HiddenProgram:
    """Draw a program (Algorithm 1). Raises Rejection where none has an allowed size and depth."""
    first, last = settings.variables
    n = int(rng.choice(range(first, last + 1)))
    bound = int(rng.choice(list(WINDOWS), p=list(WINDOWS.values())))
    order = tuple(int(v) for v in rng.permutation(n))
    windows: dict[int, tuple[int, ...]] = {}
    formulas: dict[int, Formula] = {}
    for place in range(ROOTS, n):
        earlier = order[:place]
        count = min(bound, place)
        window = tuple(sorted(int(v) for v in rng.choice(earlier, size=count, replace=False)))
        number = int(rng.integers(2, min(count, MAX_PARENTS) + 1))
        parents = sorted(int(v) for v in rng.choice(window, size=number, replace=False))
        windows[order[place]] = window
        formulas[order[place]] = sample_formula(rng, [name_of(v) for v in parents], settings)
    return assemble(order, windows, formulas)


def sample_formula(
    rng: np.random.Generator, parents: list[str], settings: Generation = PAPER
) -> Formula:
    """Draw a formula of allowed size that depends on all ``parents``; Rejection without one."""
    (small, large), (flat, deep) = settings.sizes, settings.depths
    for _ in range(_DRAWS):
        formula = boolean.canonical(_draw(rng, parents, settings.operators))
        fits = small <= boolean.size(formula) <= large and flat <= boolean.depth(formula) <= deep
        # Depending on a parent implies taking both values.
        if fits and boolean.essential(formula) == tuple(sorted(parents)):
            return formula
    raise Rejection("no mechanism of this size and depth")


def _draw(rng: np.random.Generator, parents: list[str], operators: Sequence[str]) -> Formula:
    """Return a formula of every parent and up to two more leaves, joined and negated at random."""
    joining = [operator for operator in operators if operator != "not"]
    negates = float("not" in operators)
    repeated = int(rng.choice(3, p=(0.5, 0.3, 0.2)))
    leaves = [*parents, *(parents[int(i)] for i in rng.integers(len(parents), size=repeated))]
    pieces = [
        _perhaps_negated(rng, boolean.variable(leaves[int(i)]), 0.2 * negates)
        for i in rng.permutation(len(leaves))
    ]
    while len(pieces) > 1:
        operator = joining[int(rng.integers(len(joining)))]
        arity = 3 if operator != "iff" and len(pieces) > 2 and rng.random() < 0.2 else 2
        taken = [pieces.pop(int(rng.integers(len(pieces)))) for _ in range(arity)]
        pieces.append(_perhaps_negated(rng, boolean.operation(operator, *taken), 0.1 * negates))
    return pieces[0]


def _perhaps_negated(rng: np.random.Generator, formula: Formula, chance: float) -> Formula:
    return boolean.operation("not", formula) if rng.random() < chance else formula
