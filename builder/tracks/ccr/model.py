"""Contexts: Boolean and linear structural causal models over a graph with cutpoints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
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
class _Model:
    """The base of contexts: a graph, whose nodes are listed after their parents."""

    dag: LatentDAG

    @cached_property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """Return the parents of each node as indices, ascending."""
        return parent_lists(self.dag)

    def graph_json(self) -> dict[str, Any]:
        """Return the names of the nodes, and the parents of each as indices."""
        return {"names": list(self.dag.nodes), "parents": [list(row) for row in self.parents]}


@dataclass(frozen=True)
class BooleanContext(_Model):
    """Binary variables with one exogenous bit each. Functions are monotone (CCR Appendix F). A node
    without parents equals its bit. Any other node is ``bit own[v] (parents joined by among[v])``.
    With equal operators that is one operator over the bit and all parents. ``tenths[v]``, from 1 to
    9, is ten times the probability that the bit of node v is one."""

    own: tuple[Operator, ...]
    among: tuple[Operator, ...]
    tenths: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Return a lossless JSON form."""
        fields = {name: list(getattr(self, name)) for name in ("own", "among", "tenths")}
        return {"kind": "boolean", **self.graph_json(), **fields}


@dataclass(frozen=True)
class LinearContext(_Model):
    """A linear-Gaussian model (CCR Appendix C): ``v = sum of coefficient x parent + N(0, 1)``, with
    ``coefficients[v]`` aligned with ``parents[v]``."""

    coefficients: tuple[tuple[Fraction, ...], ...]

    def to_json(self) -> dict[str, Any]:
        """Return a lossless JSON form."""
        rows = [[str(value) for value in row] for row in self.coefficients]
        return {"kind": "linear", **self.graph_json(), "coefficients": rows}


Context = BooleanContext | LinearContext


def context_from_json(record: Mapping[str, Any]) -> Context:
    """Return the context that ``to_json`` wrote."""
    dag = graph_of_parents(record["parents"], record["names"])
    if record["kind"] == "linear":
        return LinearContext(
            dag, tuple(tuple(Fraction(value) for value in row) for row in record["coefficients"])
        )
    return BooleanContext(
        dag, tuple(record["own"]), tuple(record["among"]), tuple(record["tenths"])
    )


def evaluate(context: BooleanContext, bits: Bits, do: Mapping[int, bool] | None = None) -> Bits:
    """Return every node's value, (nodes, units), from bits of that shape. ``do`` sets by index."""
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
    """Return a node's value in each unit, (units,), from its bit and its parents' values."""
    if not parents:
        return bit
    among = np.logical_or if context.among[node] == "or" else np.logical_and
    joined = reduce(among, parents)
    own = np.logical_or if context.own[node] == "or" else np.logical_and
    return np.asarray(own(bit, joined))


def patterns(count: int) -> Bits:
    """Return all patterns of ``count`` bits, (count, 2^count): row k of column p is bit k of p."""
    return (np.arange(1 << count)[None, :] >> np.arange(count)[:, None] & 1).astype(bool)


def pattern_weights(tenths: Sequence[int]) -> NDArray[np.int64]:
    """Return each pattern's probability times 10^count, in the order of :func:`patterns`.
    ``tenths`` are ten times each bit's. Raises ``ValueError`` for over 18 bits (64-bit weights)."""
    if len(tenths) > 18:
        raise ValueError("more than 18 bits at once")
    weights = np.ones(1, dtype=np.int64)
    for tenth in tenths:
        weights = np.concatenate([weights * (TENTHS - tenth), weights * tenth])
    return weights
