"""``python -m benchmarks.ccr_simulations``: the paper's simulations in finite samples.

Figures E.1 to E.4 (compositions and decompositions on the cut tree of Figure 4) and C.2 (a linear
model with a cutpoint, and one with an edge past it), with the paths and pairs of Table D.1. Every
estimate has a sample of its own, so that equal quantities agree only as samples grow.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from builder.graphs.graph import LatentDAG
from builder.tracks.ccr.model import (
    PAPER_GRAPHS,
    BooleanContext,
    LinearContext,
    Operator,
    Pair,
    chain,
    cut_tree,
    evaluate,
    parent_lists,
    sorted_graph,
)
from builder.tracks.ccr.quantities import exact_quantities, total_effect
from grader.io.process import exit_with
from grader.tracks.ccr.algorithm import paths

SIZES: Final = (100, 1_000, 10_000, 100_000)
SEED: Final = 20250
Estimate = Callable[..., float]
"""An estimator of a pair's effect from a sample of its own: (pair, size, rng) -> effect."""


def figure_4(operator: Operator, tenths: int) -> BooleanContext:
    """Return Figure 4's Boolean model of ``operator``; exogenous bits are 1 at ``tenths`` / 10."""
    kinds, sizes = zip(*PAPER_GRAPHS["figure-4"], strict=True)
    drawn = chain(kinds, sizes, np.random.default_rng(0))
    names = dict(zip(drawn.nodes, "XABCDEFY", strict=True))
    dag = LatentDAG(tuple(names.values()), tuple((names[a], names[b]) for a, b in drawn.edges))
    count = len(dag.nodes)
    return BooleanContext(dag, (operator,) * count, (operator,) * count, (tenths,) * count)


def linear_figure_4(rng: np.random.Generator) -> LinearContext:
    """Return the linear-Gaussian model of Figure 4, its coefficients drawn among 0.5, 0.6 … 1.5."""
    dag = figure_4("or", 5).dag
    drawn = [
        [Fraction(int(c), 10) for c in rng.integers(5, 16, len(row))] for row in parent_lists(dag)
    ]
    return LinearContext(dag, tuple(map(tuple, drawn)))


def appendix_c(bypass: bool) -> LinearContext:
    """Return Figure C.1: every coefficient 1.5, with or without the edge from X5 to X6."""
    edges = [("X1", "X2"), ("X2", "X3"), ("X1", "X5"), ("X5", "X3"), ("X3", "X4"), ("X4", "Y"),
             ("X3", "X6"), ("X6", "Y")]  # fmt: skip
    dag = sorted_graph([*edges, ("X5", "X6")] if bypass else edges)
    rows = tuple(tuple(Fraction(3, 2) for _ in parents) for parents in parent_lists(dag))
    return LinearContext(dag, rows)


def sampled_pns(context: BooleanContext) -> Estimate:
    """Return an estimator of PNS from (pair, size, generator): the share of a sample of that
    size where the effect is 1 under do(cause = 1) and 0 under do(cause = 0)."""
    odds = np.array(context.tenths)[:, None] / 10

    def estimate(pair: Pair, size: int, rng: np.random.Generator) -> float:
        x, y = (context.dag.index[name] for name in pair)
        bits = rng.random((len(odds), size)) < odds
        high, low = (evaluate(context, bits, {x: level})[y] for level in (True, False))
        return float(np.mean(high & ~low))

    return estimate


def regression_coefficient(
    context: LinearContext, adjusted: Mapping[Pair, Sequence[str]]
) -> Estimate:
    """Return an estimator of a total effect: the cause's coefficient in a new observational sample.

    ``adjusted`` are further regressors by pair (C.1: X5, where it is a common cause).
    """

    def estimate(pair: Pair, size: int, rng: np.random.Generator) -> float:
        """Return the least squares coefficient of the cause in a new sample of ``size`` units."""
        values: list[NDArray[np.float64]] = []
        for parents, row in zip(context.parents, context.coefficients, strict=True):
            terms = [float(c) * values[p] for p, c in zip(parents, row, strict=True)]
            values.append(sum(terms, rng.standard_normal(size)))
        names = (pair[0], *adjusted.get(pair, ()))
        columns = [np.ones(size), *(values[context.dag.index[name]] for name in names)]
        effect = values[context.dag.index[pair[1]]]
        coefficients, *_ = np.linalg.lstsq(np.stack(columns, axis=1), effect, rcond=None)
        return float(coefficients[1])

    return estimate


@dataclass(frozen=True, slots=True)
class Quotient:
    """A product of effects over another: the pairs of the numerator and of the denominator."""

    above: Sequence[Pair]
    below: Sequence[Pair] = ()

    @property
    def text(self) -> str:
        """The quotient in words, such as ``XC·CD`` or ``XY / CY``."""
        above, below = ("·".join("".join(pair) for pair in row) for row in (self.above, self.below))
        return f"{above} / {below}" if below else above

    def compute(self, value: Callable[[Pair], float]) -> float:
        """Return the quotient's number; ``value`` gives the effect of a pair."""
        return prod(map(value, self.above)) / prod(map(value, self.below))


def inductive(nodes: Sequence[str]) -> list[Quotient]:
    """Return the global effect and its compositions on a cut tree (Def. 3.4; E.1, E.3)."""
    x, *inner, y = nodes
    paths = [(x, y), *((x, c, y) for c in inner), tuple(nodes)]
    return [Quotient([*pairwise(path)]) for path in dict.fromkeys(paths)]


def deductive(nodes: Sequence[str]) -> list[list[Quotient]]:
    """Return local pairs of Figure 4's tree, each with its decompositions (Def. 3.5)."""
    x, c, d, y = nodes
    ways = {
        (x, c): [([(x, y)], [(c, y)]), ([(x, d)], [(c, d)])],
        (c, d): [([(c, y)], [(d, y)]), ([(x, d)], [(x, c)])],
        (d, y): [([(x, y)], [(x, d)]), ([(c, y)], [(c, d)])],
    }
    return [[Quotient([pair]), *(Quotient(*way) for way in found)] for pair, found in ways.items()]


def _table(
    title: str, quotients: Sequence[Quotient], exact: Callable[[Pair], float], estimate: Estimate
) -> Table:
    """Return a table: a row a quotient, its exact value and an estimate by sample size."""
    rng = np.random.default_rng(SEED)
    table = Table("quantity", "exact", *(f"n = {size:,}" for size in SIZES), title=title)
    columns = [[quotient.compute(exact) for quotient in quotients]]
    for size in SIZES:
        sample = partial(estimate, size=size, rng=rng)
        columns.append([quotient.compute(sample) for quotient in quotients])
    for quotient, *values in zip(quotients, *columns, strict=True):
        table.add_row(quotient.text, *(f"{value:.5g}" for value in values))
    return table


def _on_figure_4(title: str, context: BooleanContext | LinearContext, deduced: bool) -> list[Table]:
    """Return a table (local pairs if ``deduced``) of PNS or, if linear, ATE on Figure 4."""
    nodes, exact = cut_tree(context.dag).nodes, exact_quantities(context)
    if isinstance(context, BooleanContext):
        measure, own = "pns", sampled_pns(context)
    else:
        measure, own = "ate", regression_coefficient(context, {})
    groups = deductive(nodes) if deduced else [inductive(nodes)]
    return [_table(title, group, lambda pair: float(exact[pair][measure]), own) for group in groups]


def tables() -> list[Table]:
    """Return the tables of Figures E.1 to E.4 and C.2, and Table D.1."""
    linear = linear_figure_4(np.random.default_rng(SEED))
    found = [
        *_on_figure_4("Figure E.1: PNS of the whole, or, p = 0.4", figure_4("or", 4), False),
        *_on_figure_4("Figure E.2: PNS of a part, and, p = 0.8", figure_4("and", 8), True),
        *_on_figure_4("Figure E.3: ATE of the whole, linear", linear, False),
        *_on_figure_4("Figure E.4: ATE of a part, linear", linear, True),
    ]
    for bypass in (False, True):
        context = appendix_c(bypass)
        whole = [Quotient([("X1", "X3"), ("X3", "Y")]), Quotient([("X1", "Y")])]
        title = f"Figure C.2: {'with' if bypass else 'without'} X5 to X6"
        estimate = regression_coefficient(context, {("X3", "Y"): ["X5"]} if bypass else {})

        def exact(pair: Pair, context: LinearContext = context) -> float:
            return float(total_effect(context, *pair))

        found.append(_table(title, whole, exact, estimate))
    growth = Table("nodes", "cutpoints", "pairs", "paths", title="Table D.1: cut trees by size")
    for count in range(3, 12):
        tree = cut_tree(chain(["cycle"] * (count - 1), [2] * (count - 1), np.random.default_rng(0)))
        ways = len(paths(tree.nodes, tree.global_pair))
        growth.add_row(*map(str, (count, count - 2, len(tree.pairs), ways)))
    return [*found, growth]


def main() -> int:
    """Print the tables."""
    Console().print(*tables(), sep="\n")
    return 0


if __name__ == "__main__":
    exit_with(main)
