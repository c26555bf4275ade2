"""What identification returns: an estimand that can be evaluated, or what blocks it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from builder.causal.proof.expression import (
    Array,
    Expression,
    Level,
    evaluate,
    mentioned_variables,
)

Effect = Literal["ate", "ett", "nde", "nie"]
Obstacle = Literal["hedge", "treatment_district", "recanting_district", "latent_mediator"]

DEFINITIONS = {
    "ate": "E[Y(x1)] - E[Y(x0)]",
    "ett": "E[Y(x1) - Y(x0) | X = x1]",
    "nde": "E[Y(x1, M(x0))] - E[Y(x0, M(x0))]",
    "nie": "E[Y(x0, M(x1))] - E[Y(x0, M(x0))]",
}
"""The four effects, M being all nodes strictly inside directed paths from X to Y."""


@dataclass(frozen=True, slots=True)
class Estimand:
    """An identified effect as a functional of the observed distribution.

    The effect is the sum over levels y of the outcome, y times the signed sum of `terms`, each a
    (sub-)probability of Y = y in which the treatment stands at `x0` or `x1`. No terms: the effect
    is structurally zero. `binary_only` marks a functional that holds for a two-valued treatment
    and no other.
    """

    effect: Effect
    treatment: str
    outcome: str
    terms: tuple[tuple[int, Expression], ...]
    binary_only: bool = False

    @property
    def variables(self) -> frozenset[str]:
        """The observed variables that the functional reads."""
        ends = {self.treatment, self.outcome}
        return frozenset(ends.union(*(mentioned_variables(e) for _, e in self.terms)))

    def evaluate(
        self,
        joint: ArrayLike,
        variables: Sequence[str],
        *,
        x0: int = 0,
        x1: int = 1,
        outcome_levels: Sequence[float] | None = None,
    ) -> float:
        """Return the effect under a discrete joint distribution.

        `joint` has shape (k_1, ..., k_n), axis i ranging over the levels of `variables[i]`; extra
        variables are allowed. `x0` and `x1` index the treatment's axis; `outcome_levels` are the
        numbers that the outcome's levels stand for (0, 1, ... by default).

        Raises ValueError when the array is no distribution over those variables, a variable or
        level is missing, a binary-only functional meets another number of levels, or an event of
        probability zero would have to be conditioned on.
        """
        table = _checked_joint(joint, variables)
        axes = {name: axis for axis, name in enumerate(variables)}
        self._check_axes(table, axes, x0, x1)
        y_axis = axes[self.outcome]
        y = np.arange(table.shape[y_axis]) if outcome_levels is None else np.asarray(outcome_levels)
        if y.shape != (table.shape[y_axis],):
            raise ValueError(
                f"{table.shape[y_axis]} outcome levels are needed, one per level of "
                f"{self.outcome!r}; got shape {y.shape}"
            )
        effect = 0.0
        levels: dict[Level, int] = {"x0": x0, "x1": x1}
        for sign, expression in self.terms:
            effect += sign * float(y @ _along(evaluate(expression, table, axes, levels), y_axis))
        if not np.isfinite(effect):
            raise ValueError(
                "the estimand conditions on an event of probability zero (positivity fails)"
            )
        return effect

    def _check_axes(self, table: Array, axes: dict[str, int], x0: int, x1: int) -> None:
        missing = sorted(self.variables - set(axes))
        if missing:
            raise ValueError(f"the joint distribution lacks the variable {missing[0]!r}")
        count = table.shape[axes[self.treatment]]
        if x0 == x1 or not (0 <= x0 < count and 0 <= x1 < count):
            raise ValueError(
                f"x0 and x1 must be two different levels of {self.treatment!r}, "
                f"0 to {count - 1}; got {x0} and {x1}"
            )
        if self.binary_only and count != 2:
            raise ValueError(
                f"this estimand holds for a binary treatment only; "
                f"{self.treatment!r} has {count} levels"
            )


@dataclass(frozen=True, slots=True)
class Hedge:
    """What keeps an effect from being identified.

    `obstacle` is one of

    - "hedge": `outer` and `inner` are the node sets F and F' of a hedge (Shpitser & Pearl 2006,
      definition 6): the bidirected edges connect all of `outer`, the treatment's side included,
      and P(inner | do(rest)) cannot be separated from it.
    - "treatment_district": the treatment and one of its children (`inner`) share the district
      `outer` of the split graph, so the event X = x1 and the response to x0 cannot be separated.
    - "recanting_district": `outer` holds the outcome and another child of the treatment; their
      two responses (`inner`), to x1 and to x0, cannot be separated (Shpitser 2013, definition 4).
    - "latent_mediator": the treatment reaches the outcome both by an edge and by a directed path
      whose inside (`inner`) is latent, so nothing observed tells the two apart.

    `bidirected` are the edges a <-> b of the latent projection inside `outer`.
    """

    effect: Effect
    treatment: str
    outcome: str
    obstacle: Obstacle
    outer: tuple[str, ...]
    inner: tuple[str, ...]
    bidirected: tuple[tuple[str, str], ...]


def _along(values: Array, axis: int) -> Array:
    """Return the values along one axis, at the first level of every other.

    Other axes remain only for variables that the functional mentions and does not depend on (the
    instrument of the napkin graph, say), so any level would do.
    """
    flat: Array = np.moveaxis(values, axis, 0).reshape(values.shape[axis], -1)[:, 0]
    return flat


def _checked_joint(joint: ArrayLike, variables: Sequence[str]) -> Array:
    table = np.asarray(joint, dtype=np.float64)
    if table.ndim != len(variables):
        raise ValueError(f"the joint has {table.ndim} axes for {len(variables)} variables")
    if len(set(variables)) != len(variables):
        raise ValueError("a variable names two axes of the joint")
    if not np.isfinite(table).all() or (table < 0).any() or abs(table.sum() - 1) > 1e-9:
        raise ValueError("the joint must be non-negative and sum to 1")
    return table
