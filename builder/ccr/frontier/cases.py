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

BLOCKS: Final = (3, 5)
"""Least and most blocks of twelve cases: five benefit, five harm, one always, one never."""

_BLOCK: Final = {(True, False): 5, (False, True): 5, (True, True): 1, (False, False): 1}

COPIED: Final = Fraction(6, 10)
"""The most cells that copied facts may get right."""

CONSTANT: Final = Fraction(7, 10)
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
    """Cases about a pair, in random order; raises ``Rejected`` where there are too few."""
    dag = table.context.dag
    x, y = (dag.index[name] for name in pair)
    others = [v for v in ancestors(dag, y) if v not in (x, y)]
    # A variable between the two, if there is one: it is what the cause acts through.
    between = [v for v in others if x in ancestors(dag, v)]
    other = int(rng.choice(between or others))
    level = bool(rng.random() < 0.5)
    high, low = table.under((x, True))[y], table.under((x, False))[y]
    joint = table.under((x, True), (other, level))[y]
    blocks = int(rng.integers(BLOCKS[0], BLOCKS[1] + 1))
    chosen: list[int] = []
    for (when_true, when_false), count in _BLOCK.items():
        cell = (high == when_true) & (low == when_false)
        chosen += _halves(cell, joint, count * blocks, rng)
    places = np.array(chosen)[rng.permutation(len(chosen))]
    lists = high[places], low[places], joint[places]
    found = Cases(
        pair, dag.nodes[other], level, table.bits[:, places], lists, table.factual[y][places]
    )
    shares = [Fraction(int(row.sum()), len(places)) for row in lists]
    if not all(1 - CONSTANT <= share <= CONSTANT for share in shares):
        raise Rejected("a list that is nearly constant")
    if any((lists[2] == row).mean() > SAME for row in lists[:2]):
        raise Rejected("the further variable makes little difference")
    if found.copied > COPIED:
        raise Rejected("copied facts are right too often")
    return found


def _halves(cell: Bits, joint: Bits, count: int, rng: np.random.Generator) -> list[int]:
    """``count`` different patterns of a cell, as evenly as can be over the third answer."""
    yes, no = (rng.permutation(np.flatnonzero(cell & (joint == kind))) for kind in (True, False))
    if len(yes) + len(no) < count:
        raise Rejected("a cell with too few cases")
    half = min(len(yes), max(count - len(no), count // 2 + int(rng.integers(2)) * (count % 2)))
    return [*yes[:half].tolist(), *no[: count - half].tolist()]
