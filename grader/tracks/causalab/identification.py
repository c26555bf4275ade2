"""When the evidence first decided the graph, and when it identified the target's equation.

A candidate is an acyclic graph with real coefficients that fits every reading within its rounding.
Rounding never excludes coefficients next to zero, so those below a tenth of the smallest of the
mechanism are no edge. An edge is decided when all candidates agree on it; the graph when every
decidable edge is; the equation when the target's parents are decided and every coefficient that
fits is within tolerance of the true one. The bounds used are outer ones, so a badly conditioned
experiment may report a step late, never early.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from grader.laboratory.episode import Episode
from grader.tracks.causalab.evidence import Evidence
from grader.tracks.causalab.fitting import Fit
from grader.tracks.causalab.metrics import reached, tolerance

NO_EDGE: Final = 0.1
"""Share of the smallest true coefficient below which a coefficient is no edge."""


@dataclass(frozen=True, slots=True)
class Identification:
    """The first steps at which graph and equation were settled; ``None`` if they never were."""

    graph_step: int | None
    equation_step: int | None


def identify(evidence: Evidence) -> Identification | None:
    """Both steps; ``None`` where a hidden disturbance makes them meaningless."""
    if evidence.episode.disturbance is not None:
        return None
    judge = _Judge(evidence)
    return Identification(
        _first(judge.graph_decided, evidence.steps),
        _first(judge.equation_identified, evidence.steps),
    )


def _first(settled: Callable[[int], bool], last: int) -> int | None:
    """The first step that is settled; more evidence never unsettles."""
    if not settled(last):
        return None
    low, high = 0, last
    while low < high:
        middle = (low + high) // 2
        if settled(middle):
            high = middle
        else:
            low = middle + 1
    return low


class _Judge:
    def __init__(self, evidence: Evidence) -> None:
        episode = evidence.episode
        self._evidence = evidence
        self._powers = 2 if episode.family == "quadratic" else 1
        place = {node: index for index, node in enumerate(episode.nodes)}
        self._nodes = range(len(place))
        self._target = place[episode.target]
        self._undecided = {(place[a], place[b]) for a, b in episode.undecided}
        self._true: list[dict[int, tuple[float, float]]] = [
            {place[t.parent]: (t.linear, t.quadratic) for t in episode.model.equations[node]}
            for node in episode.nodes
        ]
        told = bool(episode.public["frequency_may_be_parent"])
        self._allowed = [
            tuple(p for p in self._nodes if p != node and (told or p != self._target))
            for node in self._nodes
        ]
        self._no_edge = _thresholds(episode)
        self._sharp_at: dict[tuple[int, int], bool] = {}
        edges = [(parent, node) for node in self._nodes for parent in self._true[node]]
        self._descendants = [reached(edges, node) for node in self._nodes]

    def graph_decided(self, step: int) -> bool:
        """Whether every decidable edge is decided by the evidence up to ``step``."""
        blurred = False
        for node in self._nodes:
            if not self._sharp(node, step):
                if self._open_beside_the_truth(node, step):
                    return False
                blurred = True
        return not blurred or not any(
            self._leaves_open(node, before, step)
            for node, before in self._placements(step)
            if not self._sharp(node, step)
        )

    def equation_identified(self, step: int) -> bool:
        """Whether every candidate's target equation is right by the evidence up to ``step``."""
        target = self._target
        if not self._within(step):
            return False
        if not self._sharp(target, step) and self._open_beside_the_truth(
            target, step, all_pairs=True
        ):
            return False
        return self._sharp(target, step) or not any(
            self._leaves_open(target, before, step, all_pairs=True)
            for node, before in self._placements(step)
            if node == target
        )

    def _within(self, step: int) -> bool:
        """Whether every target equation that fits, over the true parents, is within tolerance."""
        episode, true = self._evidence.episode, self._true[self._target]
        for place, (parent, pair) in enumerate(true.items()):
            for power in range(self._powers):
                column = place + power * len(true)
                slack = tolerance(episode, episode.nodes[parent], power + 1, pair[power])
                if not self._evidence.bounds_within(
                    self._target, tuple(true), step, column, pair[power], slack
                ):
                    return False
        return True

    def _sharp(self, node: int, step: int) -> bool:
        """Whether the parents of ``node`` are beyond doubt whatever the rest of the graph is."""
        key = (node, step)
        if key not in self._sharp_at:
            parents = self._allowed[node]
            found = self._evidence.fit(node, parents, step)
            self._sharp_at[key] = all(
                self._excludes_zero(found, place, len(parents))
                if parent in self._true[node]
                else not self._may_be_edge(found, place, len(parents))
                for place, parent in enumerate(parents)
            )
        return self._sharp_at[key]

    def _excludes_zero(self, found: Fit, place: int, width: int) -> bool:
        return any(
            found.lower[column] > 0 or found.upper[column] < 0
            for column in range(place, self._powers * width, width)
        )

    def _may_be_edge(self, found: Fit, place: int, width: int) -> bool:
        """Whether a fitting coefficient is large enough for an edge."""
        return any(
            found.lower[place + power * width] < -least
            or found.upper[place + power * width] > least
            for power, least in enumerate(self._no_edge)
        )

    def _feasible(self, node: int, parents: Sequence[int], step: int) -> bool:
        true = self._true[node].keys()
        if true <= set(parents):
            return True
        if self._sharp(node, step):
            return False
        return self._evidence.fit(node, tuple(parents), step).feasible

    def _leaves_open(
        self, node: int, before: Sequence[int], step: int, *, all_pairs: bool = False
    ) -> bool:
        """Whether parents among ``before`` can differ from the true ones in a decidable edge.

        With ``all_pairs`` in any edge.
        """
        spared = set() if all_pairs else self._undecided
        parents = tuple(before)
        found = self._evidence.fit(node, parents, step)
        for place, parent in enumerate(parents):
            if (parent, node) in spared:
                continue
            if parent in self._true[node]:
                if self._feasible(node, [p for p in parents if p != parent], step):
                    return True
            elif self._may_be_edge(found, place, len(parents)):
                return True
        missing = self._true[node].keys() - set(parents)
        return any((parent, node) not in spared for parent in missing)

    def _open_beside_the_truth(self, node: int, step: int, *, all_pairs: bool = False) -> bool:
        """The same for the true graph with other parents of ``node`` alone: a quick witness."""
        before = [p for p in self._allowed[node] if p not in self._descendants[node]]
        return self._leaves_open(node, before, step, all_pairs=all_pairs)

    def _placements(self, step: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Every (node, nodes before it) of every causal order that some candidate has."""
        size = len(self._nodes)
        everything = (1 << size) - 1
        steps: dict[int, list[int]] = {}
        waiting = [0]
        while waiting:
            before = waiting.pop()
            if before in steps:
                continue
            steps[before] = [
                node
                for node in self._nodes
                if not before >> node & 1
                and self._feasible(node, self._allowed_in(node, before), step)
            ]
            waiting += [before | 1 << node for node in steps[before]]
        completes = {everything}
        for before in sorted(steps, key=int.bit_count, reverse=True):
            if any(before | 1 << node in completes for node in steps[before]):
                completes.add(before)
        for before in sorted(steps):
            for node in steps[before]:
                if before | 1 << node in completes:
                    yield node, self._allowed_in(node, before)

    def _allowed_in(self, node: int, before: int) -> tuple[int, ...]:
        return tuple(p for p in self._allowed[node] if before >> p & 1)


def _thresholds(episode: Episode) -> tuple[float, ...]:
    """By power, the least size of an edge's coefficient."""
    terms = [term for node in episode.nodes for term in episode.model.equations[node]]
    linear = min((abs(t.linear) for t in terms if t.linear), default=1.0)
    if episode.family == "linear":
        return (NO_EDGE * linear,)
    return NO_EDGE * linear, NO_EDGE * min(
        (abs(t.quadratic) for t in terms if t.quadratic), default=0.01
    )
