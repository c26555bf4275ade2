"""What the direct questions of the frontier exam ask, and its values by full enumeration.

Causes here have causes of their own and share them with their effects, and functions may prevent:
neither ``P(y | x) = P(y_x)`` nor ``PNS = ATE`` holds. The other derivation eliminates node by node
(:func:`builder.ccr.make.quantities.twin_quantities`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from builder.ccr.make.graph import Pair
from builder.ccr.make.model import Bits, BooleanContext, evaluate, pattern_weights, patterns
from builder.ccr.make.quantities import Quantities, by_definition

Evidence = tuple[tuple[str, bool], ...]
"""Variables that are known, as things are, with whether they hold."""


@dataclass(frozen=True, slots=True)
class Estimand:
    """One quantity of a pair, among all cases or among those in which the evidence is so."""

    measure: str
    cause: str
    effect: str
    evidence: Evidence = ()

    @property
    def pair(self) -> Pair:
        """Cause and effect."""
        return self.cause, self.effect

    @property
    def text(self) -> str:
        """Such as ``PNS(A, B)`` or ``PNS(A, B | C, not D)``."""
        known = ", ".join(name if holds else f"not {name}" for name, holds in self.evidence)
        bar = f" | {known}" if known else ""
        return f"{self.measure.upper()}({self.cause}, {self.effect}{bar})"

    def renamed(self, names: Mapping[str, str]) -> "Estimand":
        """The same of variables that go by other names."""
        evidence = tuple((names[name], holds) for name, holds in self.evidence)
        return Estimand(self.measure, names[self.cause], names[self.effect], evidence)


class Enumeration:
    """Every pattern of a context's bits with its probability, and what holds in each.

    ``weights`` are probabilities times 10^n for n nodes; rows of the tables are nodes, columns
    patterns. Raises ``ValueError`` beyond 18 nodes.
    """

    def __init__(self, context: BooleanContext) -> None:
        self.context = context
        self.weights = pattern_weights(context.tenths)
        self.bits = patterns(len(context.dag.nodes))
        self.factual = evaluate(context, self.bits)
        self.under = cache(self._under)

    def _under(self, *done: tuple[int, bool]) -> Bits:
        """The values of all nodes where some are made to hold, or not to hold."""
        return evaluate(self.context, self.bits, dict(done))

    def mass(self, event: Bits) -> int:
        """The probability of an event, times 10^n."""
        return int(self.weights[event].sum())

    def event(self, evidence: Evidence) -> Bits:
        """Where the evidence is so, as things are; shape (patterns,)."""
        so = np.ones(self.bits.shape[1], dtype=bool)
        for name, holds in evidence:
            so &= self.factual[self.context.dag.index[name]] == holds
        return so

    def quantities(self, pair: Pair, evidence: Evidence = ()) -> Quantities:
        """PNS, PN, PS and ATE of a pair by definition, among the cases with this evidence."""
        x, y = (self.context.dag.index[name] for name in pair)
        kept = self.event(evidence)
        return by_definition(
            self.weights[kept],
            *(
                row[kept]
                for row in (
                    self.factual[x], self.factual[y],
                    self.under((x, True))[y], self.under((x, False))[y],
                )
            ),
        )  # fmt: skip

    def conditioned(self, pair: Pair, evidence: Evidence = ()) -> Fraction:
        """``P(B | A) - P(B | not A)`` among those cases: seeing in place of doing.

        0 where cause or its denial never occurs.
        """
        x, y = (self.factual[self.context.dag.index[name]] for name in pair)
        kept = self.event(evidence)
        held, not_held = self.mass(kept & x), self.mass(kept & ~x)
        if not held or not not_held:
            return Fraction(0)
        return Fraction(self.mass(kept & x & y), held) - Fraction(
            self.mass(kept & ~x & y), not_held
        )
