"""The ordered pairs that no legal experiment decides.

A candidate is an acyclic model of the episode's family with real coefficients. It must give the
records, the given chain and every legal experiment (any settings within the budget) exactly, but
brings bases of its own: one for every property of every crystal, and one for frequency that all
crystals share. A pair is undecided when some candidates have the edge and some lack it.

Node by node this is linear in the unknown coefficients and in what else is unknown: the crystal's
base, unless it was set in mode ``shift`` (in ``pin`` each setting begins a new unknown base, in
``do`` a held node says nothing), and under a disturbance the shift that a candidate may have on any
node after each intervention. Every state is an equation in these, so that states count together as
far as they share unknowns: the opening has the base and no shift, an experiment in which the node
was not set has base and shift, one of the same length in which it was set has the shift alone.
Shorter experiments than the longest say nothing more, since each length has a shift of its own and
fewer states. (For parabolas the true shift is taken as zero; no suite disturbs them.) The solutions
are the truth plus a null space (computed in exact arithmetic over a prime field at random points,
so ranks are generic ranks). From them follow the parent sets that a node can have, and which of
these fit together without a circle.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import combinations
from random import Random

from builder.causalab.make.equations import Equations
from builder.causalab.make.field import PRIME, null_space, solve, to_field
from builder.causalab.plan.suites import Family
from builder.causalab.plan.topology import Edge
from grader.laboratory.model import Mode, Term

State = dict[str, int]
Group = tuple[list[State], tuple[str, ...]]
"""States, and the names of the unknown numbers that each adds to what a node's causes give."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The truth of an episode and everything that can be seen or set in it.

    ``records`` are the bases behind the prior records, the first of which is the crystal of the
    ``chain``, the settings (name, value) that somebody made on it; with ``target_acts`` candidates
    may have edges out of frequency.
    """

    equations: Equations
    family: Family
    mode: Mode
    controllable: frozenset[str]
    budget: int
    disturbed: bool
    target_acts: bool
    records: Sequence[Mapping[str, float]]
    chain: Sequence[tuple[str, float]]
    manipulator: Mapping[str, float]

    @property
    def terms(self) -> Mapping[str, Sequence[Term]]:
        """The terms of every node, frequency last."""
        return self.equations.terms

    @property
    def target(self) -> str:
        """Frequency's name."""
        return self.equations.target


def undecided_pairs(setup: Setup) -> list[Edge]:
    """The undecided (cause, effect) pairs, sorted."""
    possible = parent_sets(setup)
    found: list[Edge] = []
    for effect, sets in possible.items():
        causes = {term.parent for term in setup.terms[effect]}
        for cause in sorted({name for parents in sets for name in parents} | causes):
            flipped = [parents for parents in sets if (cause in parents) != (cause in causes)]
            if flipped and _acyclic({**possible, effect: flipped}):
                found.append((cause, effect))
    return sorted(found)


def _acyclic(possible: Mapping[str, Sequence[frozenset[str]]]) -> bool:
    """Whether one parent set per node can be chosen without a circle.

    Placing a node once one of its sets has been placed never closes a way for another.
    """
    placed: set[str] = set()
    while len(placed) < len(possible):
        ready = [
            name
            for name, sets in possible.items()
            if name not in placed and any(parents <= placed for parents in sets)
        ]
        if not ready:
            return False
        placed.update(ready)
    return True


def parent_sets(setup: Setup) -> dict[str, list[frozenset[str]]]:
    """Every set of causes that some candidate equation of a node has, the true one among them."""
    experiments = Experiments(setup)
    return {node: _node_sets(setup, experiments, node) for node in setup.terms}


def _node_sets(setup: Setup, experiments: "Experiments", node: str) -> list[frozenset[str]]:
    truth = {term.parent: term for term in setup.terms[node]}
    causes = [
        name for name in setup.terms if name != node and (setup.target_acts or name != setup.target)
    ]
    powers = (1, 2) if setup.family == "quadratic" else (1,)
    features = [(name, power) for name in causes for power in powers]
    groups = list(experiments.groups(node, len(features) + 2))
    unknowns = sorted({name for _, names in groups for name in names})
    rows = [
        [pow(state[name], power, PRIME) for name, power in features]
        + [int(name in names) for name in unknowns]
        for states, names in groups
        for state in states
    ]
    solutions = null_space(rows, len(features) + len(unknowns))
    free = [vector for vector in (s[: len(features)] for s in solutions) if any(vector)]
    if not free:
        return [frozenset(truth)]
    coefficients = [
        to_field(getattr(truth[name], "linear" if power == 1 else "quadratic"))
        if name in truth
        else 0
        for name, power in features
    ]
    return [
        chosen
        for chosen in _subsets(causes)
        if _realisable(chosen, features, coefficients, free, experiments.random)
    ]


def _subsets(names: Sequence[str]) -> list[frozenset[str]]:
    return [
        frozenset(chosen) for size in range(len(names) + 1) for chosen in combinations(names, size)
    ]


def _realisable(
    chosen: frozenset[str],
    features: Sequence[tuple[str, int]],
    truth: Sequence[int],
    free: Sequence[Sequence[int]],
    random: Random,
) -> bool:
    """Whether some solution ``truth + free`` has exactly the causes ``chosen``.

    Solutions without the other causes are an affine space; a random member of it has every cause
    that any member has.
    """
    outside = [i for i, (name, _) in enumerate(features) if name not in chosen]
    rows = [[vector[i] for vector in free] for i in outside]
    solved = solve(rows, [-truth[i] for i in outside], len(free))
    if solved is None:
        return False
    weights, rest = solved
    for vector in rest:
        factor = random.randrange(PRIME)
        weights = [w + factor * v for w, v in zip(weights, vector, strict=True)]
    member = [
        (value + sum(w * vector[i] for w, vector in zip(weights, free, strict=True))) % PRIME
        for i, value in enumerate(truth)
    ]
    return chosen <= {name for (name, _), value in zip(features, member, strict=True) if value}


class Experiments:
    """States of the crystals under legal experiments, at random settings, in the field."""

    def __init__(self, setup: Setup) -> None:
        # Any fixed seed does: the outcome is the generic rank.
        self.random = Random(20260612)
        self._setup = setup
        self._terms = {
            node: [(t.parent, to_field(t.linear), to_field(t.quadratic)) for t in terms]
            for node, terms in setup.terms.items()
        }
        causes = {node: [t.parent for t in terms] for node, terms in setup.terms.items()}
        self._order = tuple(TopologicalSorter(causes).static_order())
        self._base = to_field(setup.equations.base)
        self._records = [self._bases(bases) for bases in setup.records]
        self._manipulator = self._bases(setup.manipulator)

    def groups(self, node: str, count: int) -> Iterable[Group]:
        """What can be seen of ``node``, by the unknown numbers in it.

        ``count`` states are drawn for every set of properties that can be set.
        """
        if node == self._setup.target:
            yield from self._target_groups(count)
            return
        yield from self._chain_groups(node)
        yield from self._manipulator_groups(node, count)

    @property
    def _shift(self) -> tuple[str, ...]:
        """The unknown that a disturbance adds after as many interventions as are allowed."""
        return ("shift",) if self._setup.disturbed else ()

    def _target_groups(self, count: int) -> Iterable[Group]:
        """Frequency's base is one unknown; nothing disturbs records, chain and opening."""
        setup = self._setup
        calm = [self._state(bases) for bases in self._records]
        calm += [state for state, _ in self._chain_states()]
        if setup.budget:
            calm.append(self._state(self._manipulator))
            yield self._drawn(setup.controllable, count), ("base", *self._shift)
        yield calm, ("base",)

    def _manipulator_groups(self, node: str, count: int) -> Iterable[Group]:
        setup = self._setup
        if not setup.budget:
            return
        yield [self._state(self._manipulator)], ("base",)
        others = setup.controllable - {node}
        if others:
            yield self._drawn(others, count), ("base", *self._shift)
        if node not in setup.controllable or setup.mode == "do":
            return
        if setup.mode == "shift":
            yield self._drawn(setup.controllable, count, always=node), self._shift
        else:
            level = self.random.randrange(PRIME)
            drawn = self._drawn(setup.controllable, count, always=node, level=level)
            yield drawn, ("pinned", *self._shift)

    def _chain_groups(self, node: str) -> Iterable[Group]:
        """The chain in pieces between settings of ``node``."""
        if not self._setup.chain:
            return
        piece = [self._state(self._records[0])]
        unknown: tuple[str, ...] = ("chain",)
        for number, (state, name) in enumerate(self._chain_states()):
            if name != node:
                piece.append(state)
                continue
            yield piece, unknown
            if self._setup.mode == "do":
                return
            piece = [state]
            unknown = () if self._setup.mode == "shift" else (f"chain {number}",)
        yield piece, unknown

    def _chain_states(self) -> list[tuple[State, str]]:
        """The state after each step of the chain, and what was set."""
        bases, held = dict(self._records[0]) if self._records else {}, dict[str, int]()
        found = []
        for name, stated in self._setup.chain:
            value = to_field(stated)
            if self._setup.mode == "do":
                held[name] = value
            elif self._setup.mode == "shift":
                bases[name] = value
            else:
                calm = self._state(bases)
                bases[name] += value - calm[name]
            found.append((self._state(bases, held), name))
        return found

    def _drawn(
        self,
        names: Iterable[str],
        count: int,
        always: str | None = None,
        level: int | None = None,
    ) -> list[State]:
        """``count`` states for every set of as many ``names`` as the budget allows.

        ``always`` is in every set, at ``level`` where one is given.
        """
        others = sorted(set(names) - {always})
        size = min(self._setup.budget - (always is not None), len(others))
        found = []
        for chosen in combinations(others, max(size, 0)):
            for _ in range(count):
                settings = {name: self.random.randrange(PRIME) for name in chosen}
                if always is not None:
                    settings[always] = self.random.randrange(PRIME) if level is None else level
                if self._setup.mode == "do":
                    found.append(self._state(self._manipulator, settings))
                else:
                    found.append(self._state({**self._manipulator, **settings}))
        return found

    def _bases(self, bases: Mapping[str, float]) -> State:
        return {name: to_field(value) for name, value in bases.items()}

    def _state(self, bases: Mapping[str, int], held: Mapping[str, int] | None = None) -> State:
        """Every node's value; no rounding, since rounding is an error of reading."""
        values: State = {}
        for node in self._order:
            if held and node in held:
                values[node] = held[node]
                continue
            total = self._base if node == self._setup.target else bases[node]
            for parent, linear, quadratic in self._terms[node]:
                value = values[parent]
                total += (quadratic * value + linear) * value
            values[node] = total % PRIME
        return values
