"""Contexts: Boolean and linear structural causal models over a graph with cutpoints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from builder.graphs.graph import LatentDAG
from builder.tracks.ccr.graph import graph_of_parents, parent_lists

Operator = Literal["or", "and"]
Bits = NDArray[np.bool_]

TENTHS: Final = 10
"""Exogenous probabilities are whole tenths, so that every quantity is an exact fraction."""


@dataclass(frozen=True)
class BooleanContext:
    """Binary variables with one exogenous bit each; functions are monotone (CCR Appendix F).

    A node without parents equals its bit. Any other node is ``bit own[v] (parents joined by
    among[v])``; with equal operators that is one operator over the bit and all parents.
    ``tenths[v]`` is ten times the probability that the bit of node v is one.
    """

    dag: LatentDAG
    own: tuple[Operator, ...]
    among: tuple[Operator, ...]
    tenths: tuple[int, ...]

    def __post_init__(self) -> None:
        _check_order(self.dag)
        lengths = {len(self.dag.nodes), len(self.own), len(self.among), len(self.tenths)}
        if len(lengths) != 1:
            raise ValueError("one pair of operators and one probability for each node")
        if not {*self.own, *self.among} <= {"or", "and"}:
            raise ValueError("operators are 'or' and 'and'")
        if any(not 0 < tenth < TENTHS for tenth in self.tenths):
            raise ValueError("probabilities lie strictly between 0 and 1, in tenths")

    @cached_property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """The parents of each node as indices, ascending."""
        return parent_lists(self.dag)

    def to_json(self) -> dict[str, Any]:
        """A lossless JSON form."""
        return {
            "kind": "boolean",
            "names": list(self.dag.nodes),
            "parents": [list(parents) for parents in self.parents],
            "own": list(self.own),
            "among": list(self.among),
            "tenths": list(self.tenths),
        }


@dataclass(frozen=True)
class LinearContext:
    """A linear-Gaussian model (CCR Appendix C): ``v = sum of coefficient x parent + N(0, 1)``.

    ``coefficients[v]`` are aligned with ``parents[v]``.
    """

    dag: LatentDAG
    coefficients: tuple[tuple[Fraction, ...], ...]

    def __post_init__(self) -> None:
        _check_order(self.dag)
        if [len(row) for row in self.coefficients] != [len(row) for row in self.parents]:
            raise ValueError("one coefficient for each parent")

    @cached_property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """The parents of each node as indices, ascending."""
        return parent_lists(self.dag)

    def to_json(self) -> dict[str, Any]:
        """A lossless JSON form."""
        return {
            "kind": "linear",
            "names": list(self.dag.nodes),
            "parents": [list(parents) for parents in self.parents],
            "coefficients": [[str(value) for value in row] for row in self.coefficients],
        }


def _check_order(dag: LatentDAG) -> None:
    """Everything here goes through the nodes as they are listed, so causes come first."""
    if dag.topological_order() != dag.nodes:
        raise ValueError("every node must be listed after its parents")


Context = BooleanContext | LinearContext


def context_from_json(record: Mapping[str, Any]) -> Context:
    """The context that ``to_json`` wrote."""
    dag = graph_of_parents(record["parents"], record["names"])
    if record["kind"] == "linear":
        return LinearContext(
            dag, tuple(tuple(Fraction(value) for value in row) for row in record["coefficients"])
        )
    return BooleanContext(
        dag, tuple(record["own"]), tuple(record["among"]), tuple(record["tenths"])
    )


def evaluate(context: BooleanContext, bits: Bits, do: Mapping[int, bool] | None = None) -> Bits:
    """The value of every node, shape (nodes, units), from its bits, same shape.

    ``do`` sets nodes whatever their functions say.
    """
    values = np.empty_like(bits)
    for node in range(len(context.dag.nodes)):
        if do is not None and node in do:
            values[node] = do[node]
        else:
            values[node] = node_value(
                context, node, bits[node], [values[p] for p in context.parents[node]]
            )
    return values


def node_value(context: BooleanContext, node: int, bit: Bits, parents: Sequence[Bits]) -> Bits:
    """The function of one node: elementwise over units."""
    if not parents:
        return bit
    among = np.logical_or if context.among[node] == "or" else np.logical_and
    first, *others = parents
    joined = first
    for other in others:
        joined = among(joined, other)
    own = np.logical_or if context.own[node] == "or" else np.logical_and
    result: Bits = own(bit, joined)
    return result


def patterns(count: int) -> Bits:
    """Every pattern of ``count`` bits, shape (count, 2^count); bit k of a column's number."""
    return (np.arange(1 << count)[None, :] >> np.arange(count)[:, None] & 1).astype(bool)


def pattern_weights(tenths: Sequence[int]) -> NDArray[np.int64]:
    """The probability of every pattern, times 10^count, in the order of :func:`patterns`.

    At most 18 bits, so that the weights and their sum fit 64 bits.
    """
    if len(tenths) > 18:
        raise ValueError("more than 18 bits at once")
    weights = np.ones(1, dtype=np.int64)
    for tenth in tenths:
        weights = np.concatenate([weights * (TENTHS - tenth), weights * tenth])
    return weights
