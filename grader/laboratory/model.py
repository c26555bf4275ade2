"""The mechanism of an episode and one crystal that obeys it: bare arithmetic, nothing else.

Every node is its base plus the contributions of its parents (paper §3.1), rounded to two decimals
before its children read it. What an intervention does to a crystal depends on the mode: ``shift``
(paper §3.2) replaces the base, ``pin`` solves the base so that the node shows the value at that
moment, ``do`` holds the node at the value and cuts its parents off.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


def round_reading(value: float) -> float:
    """Return ``value`` rounded to two decimals, without a negative zero."""
    return round(value, DECIMALS) + 0.0


@dataclass(frozen=True, slots=True)
class Model:
    """Structural equations over ``nodes``, the target last.

    ``equations`` holds the terms of each node in the order they are summed, causes before effects;
    ``base`` is the target's own base, the only one that all crystals share.
    """

    nodes: tuple[str, ...]
    equations: Mapping[str, tuple[Term, ...]]
    base: float

    @classmethod
    def make(
        cls, names: Sequence[str], target: str, equations: Mapping[str, Sequence[Term]], base: float
    ) -> Self:
        """Return the model over properties ``names`` and ``target``, whose own base is ``base``.

        ``equations`` maps a node to its terms; a node that is absent has no parents. Raises
        ``CycleError`` for circular equations, and ``KeyError`` for a parent that is no node.
        """
        nodes = (*names, target)
        terms = {node: tuple(equations.get(node, ())) for node in nodes}
        needs = {node: [term.parent for term in terms[node]] for node in nodes}
        ordered = {node: terms[node] for node in TopologicalSorter(needs).static_order()}
        return cls(nodes, ordered, float(base))

    @property
    def edges(self) -> frozenset[tuple[str, str]]:
        """The directed edges as (parent, child)."""
        return frozenset((t.parent, node) for node in self.nodes for t in self.equations[node])

    def values(
        self,
        bases: Mapping[str, float],
        held: Mapping[str, float] | None = None,
        shifts: Mapping[str, float] | None = None,
    ) -> dict[str, float]:
        """Return every node's rounded value, in the order of ``nodes``.

        ``bases`` has one number per node (the target's included). A node in ``held`` shows that
        number and nothing else. A number in ``shifts`` is added after a node's own rounding, and
        the sum is rounded again.
        """
        found = dict(held or {})
        for node, terms in self.equations.items():
            if node in found:
                continue
            total = bases[node]
            for term in terms:
                value = found[term.parent]
                if term.quadratic:
                    total += term.quadratic * value * value
                total += term.linear * value
            total = round(total, DECIMALS)
            if shifts and shifts.get(node):
                total = round(total + shifts[node], DECIMALS)
            found[node] = total + 0.0
        return {node: found[node] for node in self.nodes}

    def read(self, bases: Mapping[str, float]) -> dict[str, float]:
        """Return what a new crystal with the given property bases shows: value by node."""
        return self.values(self.starting(bases))

    def largest(self, base: float) -> float:
        """Return a number that no value reaches, for bases, values set and shifts of at most
        ``base`` in absolute value."""
        found: dict[str, float] = {}
        for node, terms in self.equations.items():
            inflow = sum(
                (abs(term.linear) + abs(term.quadratic) * found[term.parent]) * found[term.parent]
                for term in terms
            )
            found[node] = 2 * (base + inflow) + 1  # a base that pins a value undoes the inflow
        return max(found.values())

    def starting(self, bases: Mapping[str, float]) -> dict[str, float]:
        """Return the base of every node, the target's from the model."""
        return {n: float(bases[n]) for n in self.nodes[:-1]} | {self.nodes[-1]: self.base}


class Crystal:
    """One crystal under successive interventions; their effects persist.

    By ``mode``, an intervention replaces the node's base (``shift``), chooses the base with which
    the node shows the value now (``pin``), or holds the node at the value (``do``).
    """

    def __init__(
        self, model: Model, bases: Mapping[str, float], mode: Mode, affected: Sequence[str] = ()
    ) -> None:
        """Make a crystal: ``bases`` by property, ``affected`` the nodes a disturbance shifts."""
        self._model = model
        self._bases = model.starting(bases)
        self._values = model.values(self._bases)
        self._mode = mode
        self._held: dict[str, float] = {}
        self._affected = affected

    def set(self, name: str, value: float, disturbance: float = 0.0) -> None:
        """Intervene on ``name`` as the mode says, then compute all values anew.

        ``value`` is rounded to two decimals. Neither range nor budget is checked here; raises
        ``KeyError`` for a name of no node.
        ``disturbance`` is the hidden influence at this intervention. It shifts the affected nodes,
        never a held one, and is gone at the next.
        """
        value, terms = round_reading(value), self._model.equations[name]
        if self._mode == "shift":
            self._bases[name] = value
        elif self._mode == "do":
            self._held[name] = value
        else:
            # The base that shows the value now, given the parents without any disturbance.
            calm = self._model.values(self._bases)[name]
            inflow = calm - self._bases[name] if terms else 0.0
            self._bases[name] = round_reading(value - inflow)
        shifts = dict.fromkeys(self._affected, disturbance)
        self._values = self._model.values(self._bases, self._held, shifts)

    def read(self) -> dict[str, float]:
        """Return what the crystal shows: value by node, the target last."""
        return dict(self._values)
