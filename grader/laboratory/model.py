"""The mechanism of an episode and one crystal that obeys it: bare arithmetic, nothing else.

Every node is its base plus the contributions of its parents (paper §3.1), rounded to two decimals
before its children read it. What an intervention does to a crystal depends on the mode: ``shift``
(paper §3.2) replaces the base, ``pin`` solves the base so that the node shows the value at that
moment, ``do`` holds the node at the value and cuts its parents off.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Final, Literal, Self

Mode = Literal["shift", "pin", "do"]

DECIMALS: Final = 2

ROUNDING: Final = 0.005
"""The largest error of one reading: half a unit of the last decimal."""


@dataclass(frozen=True, slots=True)
class Term:
    """One parent's contribution to a node: ``quadratic · p² + linear · p``, with its value p."""

    parent: str
    linear: float
    quadratic: float = 0.0


Plan = tuple[tuple[int, tuple[tuple[int, float, float], ...]], ...]
"""Node indices in topological order, each with its terms by index."""


def round_reading(value: float) -> float:
    """Return ``value`` rounded to two decimals, without a negative zero."""
    return round(value, DECIMALS) + 0.0


@dataclass(frozen=True, slots=True)
class Model:
    """Structural equations over ``nodes``, the target last.

    ``equations`` holds the terms of each node in the order they are summed; ``base`` is the
    target's own base, the only one that all crystals share. ``plan`` is the compiled form.
    """

    nodes: tuple[str, ...]
    equations: Mapping[str, tuple[Term, ...]]
    base: float
    plan: Plan = field(repr=False)

    @classmethod
    def make(
        cls,
        names: Sequence[str],
        target: str,
        equations: Mapping[str, Sequence[Term]],
        base: float,
    ) -> Self:
        """Return the model over properties ``names`` and ``target``, whose own base is ``base``.

        ``equations`` maps a node to its terms; a node that is absent has no parents. Raises
        ``CycleError`` for circular equations, and ``KeyError`` for a parent that is no node.
        """
        nodes = (*names, target)
        place = {node: index for index, node in enumerate(nodes)}
        terms = {node: tuple(equations.get(node, ())) for node in nodes}
        needs = {node: [term.parent for term in terms[node]] for node in nodes}
        plan = tuple(
            (place[node], tuple((place[t.parent], t.linear, t.quadratic) for t in terms[node]))
            for node in TopologicalSorter(needs).static_order()
        )
        return cls(nodes, terms, float(base), plan)

    @property
    def edges(self) -> frozenset[tuple[str, str]]:
        """The directed edges as (parent, child)."""
        return frozenset((t.parent, node) for node in self.nodes for t in self.equations[node])

    def values(
        self,
        bases: Sequence[float],
        held: Sequence[float | None] | None = None,
        shifts: Sequence[float] | None = None,
    ) -> list[float]:
        """Return every node's rounded value, in the order of ``nodes``.

        ``bases`` has one number per node (the target's included). A node with a number in
        ``held`` shows that and nothing else; ``shifts`` is added after a node's own rounding, and
        the sum is rounded again. All of shape (nodes,).
        """
        found = [0.0] * len(bases)
        for node, terms in self.plan:
            if held is not None and (fixed := held[node]) is not None:
                found[node] = fixed
                continue
            total = bases[node]
            for parent, linear, quadratic in terms:
                value = found[parent]
                if quadratic:
                    total += quadratic * value * value
                total += linear * value
            total = round(total, DECIMALS)
            if shifts is not None and shifts[node]:
                total = round(total + shifts[node], DECIMALS)
            found[node] = total + 0.0
        return found

    def read(self, bases: Mapping[str, float]) -> dict[str, float]:
        """Return what a new crystal with the given property bases shows: value by node."""
        values = self.values(self.starting(bases))
        return dict(zip(self.nodes, values, strict=True))

    def largest(self, base: float) -> float:
        """Return a number that no value reaches, for bases, values set and shifts of at most
        ``base`` in absolute value."""
        found = [0.0] * len(self.nodes)
        for node, terms in self.plan:
            inflow = sum(
                (abs(linear) + abs(quadratic) * found[parent]) * found[parent]
                for parent, linear, quadratic in terms
            )
            found[node] = 2 * (base + inflow) + 1  # a base that pins a value undoes the inflow
        return max(found)

    def starting(self, bases: Mapping[str, float]) -> list[float]:
        """Return every node's base in the order of ``nodes``; the target's is the model's."""
        return [*(float(bases[n]) for n in self.nodes[:-1]), self.base]


class Crystal:
    """One crystal under successive interventions; their effects persist.

    By ``mode``, an intervention replaces the node's base (``shift``), chooses the base with which
    the node shows the value now (``pin``), or holds the node at the value (``do``). ``bases`` and
    ``values`` hold each node's base and what it shows now, in the order of ``model.nodes``.
    """

    def __init__(
        self,
        model: Model,
        bases: Mapping[str, float],
        mode: Mode,
        affected: Sequence[str] = (),
    ) -> None:
        """Make a crystal: ``bases`` by property, ``affected`` the nodes a disturbance shifts."""
        self.model = model
        self.bases = model.starting(bases)
        self.values = model.values(self.bases)
        self._mode = mode
        self._held: list[float | None] | None = [None] * len(self.bases) if mode == "do" else None
        self._place = {node: index for index, node in enumerate(model.nodes)}
        self._affected = frozenset(self._place[node] for node in affected)

    def set(self, name: str, value: float, disturbance: float = 0.0) -> None:
        """Intervene on ``name`` as the mode says, then compute all values anew.

        ``value`` is rounded to two decimals. Neither range nor budget is checked here.
        ``disturbance`` is the hidden influence at this intervention. It shifts the affected nodes,
        never a held one, and is gone at the next.
        """
        node = self._place[name]
        value = round_reading(value)
        if self._mode == "shift":
            self.bases[node] = value
        elif self._held is not None:
            self._held[node] = value
        else:
            # The base that shows the value now, given the parents without any disturbance.
            calm = self.model.values(self.bases)[node]
            inflow = calm - self.bases[node] if self.model.equations[name] else 0.0
            self.bases[node] = round_reading(value - inflow)
        shifts = None
        if disturbance and self._affected:
            shifts = [disturbance if k in self._affected else 0.0 for k in range(len(self.bases))]
        self.values = self.model.values(self.bases, self._held, shifts)

    def read(self) -> dict[str, float]:
        """Return what the crystal shows: value by node, the target last."""
        return dict(zip(self.model.nodes, self.values, strict=True))
