"""The cases of a frontier simulation: few, and chosen so that copying the facts is no answer.

Three suppositions: the cause made to hold, made not to hold, and made to hold together with
another variable that is set as well. Five cases in six are moved by the cause, half of these each
way, so that of the first two answers copied facts give one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import numpy as np

from builder.attempts import Rejected
from builder.ccr.frontier.effects import Enumeration
from builder.ccr.make.graph import Pair, ancestors
from builder.ccr.make.model import Bits

ASKED: Final = ("do_true", "do_false", "joint")
"""The three suppositions."""

BLOCKS: Final = (2, 5)
"""Least and most blocks of twelve cases: five benefit, five harm, one always, one never."""

_BLOCK: Final = {(True, False): 5, (False, True): 5, (True, True): 1, (False, False): 1}

COPIED: Final = Fraction(6, 10)
"""The most cells that copied facts may get right."""

CONSTANT: Final = 0.75
"""The largest share of one answer in a list."""


SAME: Final = 0.8
"""The largest share of cases in which the third list may repeat another one."""


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases about a pair, with the variable that is set besides and to what.

    ``bits`` has shape (nodes, cases); ``answers`` the three lists of right answers, in the order
    of ``ASKED``, and ``factual`` the effect as things are, each of shape (cases,).
    """

    pair: Pair
    other: str
    level: bool
    bits: Bits
    answers: tuple[Bits, Bits, Bits]
    factual: Bits

    def renamed(self, names: Mapping[str, str]) -> "Cases":
        """The same of variables that go by other names."""
        cause, effect = self.pair
        return replace(self, pair=(names[cause], names[effect]), other=names[self.other])

    @property
    def copied(self) -> Fraction:
        """The share of cells that copied facts get right."""
        right = sum(int((row == self.factual).sum()) for row in self.answers)
        return Fraction(right, 3 * len(self.factual))


def choose_cases(table: Enumeration, pair: Pair, rng: np.random.Generator) -> Cases:
    """Cases about a pair, in random order; raises ``Rejected`` where none will do.

    The further variable is one between the two, if one will do: it is what the cause acts through.
    """
    dag = table.context.dag
    x, y = (dag.index[name] for name in pair)
    high, low = table.under((x, True))[y], table.under((x, False))[y]
    cells = {kind: (high == kind[0]) & (low == kind[1]) for kind in _BLOCK}
    blocks = min(int(cells[kind].sum()) // count for kind, count in _BLOCK.items())
    if blocks < BLOCKS[0]:
        raise Rejected("a cell with too few cases")
    blocks = int(rng.integers(BLOCKS[0], min(blocks, BLOCKS[1]) + 1))
    others = [v for v in ancestors(dag, y) if v not in (x, y)]
    order = [others[k] for k in rng.permutation(len(others))]
    for other in sorted(order, key=lambda v: x not in ancestors(dag, v)):
        level = bool(rng.random() < 0.5)
        joint = table.under((x, True), (other, level))[y]
        chosen = [
            place
            for kind, count in _BLOCK.items()
            for place in _halves(cells[kind], joint, count * blocks, rng)
        ]
        places = np.array(chosen)[rng.permutation(len(chosen))]
        lists = high[places], low[places], joint[places]
        bits, factual = table.bits[:, places], table.factual[y][places]
        found = Cases(pair, dag.nodes[other], level, bits, lists, factual)
        if _fair(found):
            return found
    raise Rejected("lists that are nearly constant, or told by the facts")


def _fair(cases: Cases) -> bool:
    """Whether no list is nearly constant or nearly another one, and copied facts are wrong."""
    first, second, third = cases.answers
    shares = [row.mean() for row in cases.answers]
    if max(max(share, 1 - share) for share in shares) > CONSTANT:
        return False
    return cases.copied <= COPIED and max((third == first).mean(), (third == second).mean()) <= SAME


def _halves(cell: Bits, joint: Bits, count: int, rng: np.random.Generator) -> list[int]:
    """``count`` different patterns of a cell, as evenly as can be over the third answer."""
    yes, no = (rng.permutation(np.flatnonzero(cell & (joint == kind))) for kind in (True, False))
    half = min(len(yes), max(count - len(no), count // 2 + int(rng.integers(2)) * (count % 2)))
    return [*yes[:half].tolist(), *no[: count - half].tolist()]
