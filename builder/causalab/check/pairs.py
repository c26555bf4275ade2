"""Undecided pairs derived a second time, in floating point and by another argument.

Linear episodes: the total effects T = (I - B)^-1 and the crystals' states say which directions of
a node's causes are known; quadratic episodes: simulated experiments say it. Candidate parent sets
are found by solving for each set, and fitted together over all sets of placed nodes.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Json = Mapping[str, Any]
_TOLERANCE: Final = 1e-7


def undecided_again(public: Json, private: Json) -> set[tuple[str, str]]:
    """The undecided (cause, effect) pairs of an episode."""
    world = _World(public, private)
    options = [world.parent_sets(node) for node in range(world.count)]
    found = set()
    for effect in range(world.count):
        for cause in range(world.count):
            kinds = {bool(mask >> cause & 1) for mask in options[effect]}
            if cause == effect or len(kinds) < 2:
                continue
            has = bool(world.truth[effect] >> cause & 1)
            flipped = [mask for mask in options[effect] if bool(mask >> cause & 1) != has]
            if _fits_together([*options[:effect], flipped, *options[effect + 1 :]]):
                found.add((world.nodes[cause], world.nodes[effect]))
    return found


def _fits_together(options: Sequence[Sequence[int]]) -> bool:
    """Whether an order of the nodes exists in which each has a parent set before it."""
    count = len(options)
    reached = {0}
    for placed in range(1 << count):
        if placed not in reached:
            continue
        for node, masks in enumerate(options):
            free = not placed >> node & 1
            if free and any(not mask & ~placed for mask in masks):
                reached.add(placed | 1 << node)
    return (1 << count) - 1 in reached


class _World:
    """One episode in arrays; nodes by index, frequency last."""

    def __init__(self, public: Json, private: Json) -> None:
        self.public = public
        self.nodes = [entry["name"] for entry in public["variables"]] + [public["target"]["name"]]
        self.count = len(self.nodes)
        place = {node: i for i, node in enumerate(self.nodes)}
        self.linear = np.zeros((self.count, self.count))
        self.square = np.zeros((self.count, self.count))
        for node, terms in private["equations"].items():
            for term in terms:
                self.linear[place[node], place[term["parent"]]] = term["linear"]
                self.square[place[node], place[term["parent"]]] = term["quadratic"]
        edges = (self.linear != 0) | (self.square != 0)
        self.truth = [sum(1 << int(j) for j in np.flatnonzero(row)) for row in edges]
        base = private["base"]
        self.records = [self._bases(bases, base) for bases in private["records"]]
        self.manipulator = self._bases(private["manipulator"], base)
        self.chain = [(place[s["set"]["name"]], float(s["set"]["value"])) for s in public["chain"]]
        self.settable = [
            place[entry["name"]]
            for entry in public["variables"]
            if entry["controllable"] and public["budget"]
        ]
        self.quadratic = public["family"] == "quadratic"

    def _bases(self, bases: Json, base: float) -> Floats:
        return np.array([*(bases[name] for name in self.nodes[:-1]), base])

    def state(self, bases: Floats, held: Mapping[int, float] | None = None) -> Floats:
        """All values, unrounded: repeated substitution settles an acyclic model."""
        values = np.zeros(self.count)
        for _ in range(self.count):
            values = bases + self.linear @ values + self.square @ values**2
            for node, value in (held or {}).items():
                values[node] = value
        return values

    def parent_sets(self, node: int) -> list[int]:
        """The causes (bit masks) that some equation of ``node`` agreeing with everything has."""
        target = self.count - 1
        causes = [
            i
            for i in range(self.count)
            if i != node and (i != target or self.public["frequency_may_be_parent"])
        ]
        rows = np.array(self._known(node)).reshape(-1, self.count * (2 if self.quadratic else 1))
        width = 2 if self.quadratic else 1
        columns = [i + self.count * p for i in causes for p in range(width)]
        truth = np.concatenate([self.linear[node], self.square[node]])[columns]
        known, truth = _balanced(rows[:, columns], truth)
        found = []
        for size in range(len(causes) + 1):
            for chosen in combinations(range(len(causes)), size):
                inside = [c * width + p for c in chosen for p in range(width)]
                if _has_exactly(known, truth, inside, width):
                    found.append(sum(1 << causes[c] for c in chosen))
        return found

    def _known(self, node: int) -> list[Floats]:
        """Directions (over nodes, or nodes and their squares) in which the equation is known."""
        rows = self._from_chain(node)
        if node == self.count - 1:
            seen = [self.state(bases) for bases in self.records]
            if self.settable:
                seen.append(self.state(self.manipulator))
            rows += [self._features(s) - self._features(seen[0]) for s in seen[1:]]
        if self.settable:
            rows += self._from_simulation(node) if self.quadratic else self._from_effects(node)
        return rows

    def _features(self, state: Floats) -> Floats:
        return np.concatenate([state, state**2]) if self.quadratic else state

    def _from_effects(self, node: int) -> list[Floats]:
        """Settings move along total effects; a setting in ``shift`` also shows the base.

        It does so under a disturbance, too, if anything else can be set: of two experiments of one
        length that differ only in whether ``node`` was set, the difference is what the setting
        does to an undisturbed crystal, and added to the opening that makes an undisturbed setting.
        """
        effects: Floats = np.asarray(np.linalg.inv(np.eye(self.count) - self.linear), np.float64)
        effects[np.abs(effects) < _TOLERANCE] = 0.0  # no path: an inverse leaves 1e-17 there
        shift = self.public["mode"] == "shift" and node in self.settable
        rows = [effects[:, j] for j in self.settable if shift or j != node]
        if shift and (not self.public["shifts"] or len(self.settable) > 1):
            rows.append(self.state(self.manipulator))
        return rows

    def _from_simulation(self, node: int) -> list[Floats]:
        """Features of random experiments; differences where the base is not known.

        Under a disturbance a setting of ``node`` less the lack of one, the opening added, has
        neither base nor shift in it.
        """
        rng = np.random.default_rng(7)
        shift = self.public["mode"] == "shift" and node in self.settable
        calm = not self.public["shifts"]
        others = [j for j in self.settable if j != node]
        opening = self._features(self.state(self.manipulator))
        unset = self._simulated(others, rng)
        if not shift:
            rows = [opening, *unset] if calm else unset
            return [row - rows[0] for row in rows[1:]]
        known = self._simulated([*others, node], rng)
        if calm:
            return [row - opening for row in unset] + known
        rows = [row - unset[0] for row in unset[1:]] + [row - known[0] for row in known[1:]]
        return [*rows, known[0] - unset[0] + opening] if others else rows

    def _simulated(self, moved: Sequence[int], rng: np.random.Generator) -> list[Floats]:
        """Features of experiments in which all of ``moved`` are set, at random."""
        found = []
        for _ in range(4 * self.count):
            values = dict(zip(moved, rng.uniform(0, 100, len(moved)), strict=True))
            bases = self.manipulator.copy()
            if self.public["mode"] != "do":
                for j, value in values.items():
                    bases[j] = value
                values = {}
            found.append(self._features(self.state(bases, values)))
        return found

    def _from_chain(self, node: int) -> list[Floats]:
        """The given trace, in pieces between settings of ``node``."""
        if not self.chain:
            return []
        bases, held = self.records[0].copy(), dict[int, float]()
        pieces, known = [[self.state(bases)]], [False]
        mode = self.public["mode"]
        for name, value in self.chain:
            if mode == "do":
                held[name] = value
            elif mode == "shift":
                bases[name] = value
            else:
                bases[name] += value - self.state(bases)[name]
            if name == node:
                pieces.append([])
                known.append(mode == "shift")
            if not (name == node and mode == "do") and node not in held:
                pieces[-1].append(self.state(bases, held))
        rows: list[Floats] = []
        for piece, exact in zip(pieces, known, strict=True):
            features = [self._features(state) for state in piece]
            rows += features if exact else [row - features[0] for row in features[1:]]
        return rows


def _balanced(known: Floats, truth: Floats) -> tuple[Floats, Floats]:
    """The same conditions with columns, then rows, scaled to size one, so that ranks are clear."""
    columns = np.abs(known).max(axis=0, initial=0.0)
    columns[columns == 0] = 1.0
    known, truth = known / columns, truth * columns
    rows = np.sqrt((known**2).sum(axis=1))
    known = known[rows > _TOLERANCE] / rows[rows > _TOLERANCE, None]
    return known, truth / max(float(np.abs(truth).max(initial=0.0)), 1e-300)


def _has_exactly(known: Floats, truth: Floats, inside: Sequence[int], width: int) -> bool:
    """Whether a solution of ``known c = known truth`` has all causes ``inside`` and no others.

    The solutions that vanish outside form an affine space; each cause must be there in it.
    """
    target = known @ truth
    matrix = known[:, list(inside)]
    if not inside or not len(known):
        return not len(known) or bool(np.abs(target).max() < _TOLERANCE)
    left, singular, vt = np.linalg.svd(matrix)
    rank = int((singular > _TOLERANCE).sum())
    across = left.T @ target
    if np.abs(across[rank:]).max(initial=0.0) > _TOLERANCE:
        return False
    solution = vt[:rank].T @ (across[:rank] / singular[:rank])
    free = np.abs(vt[rank:]).max(axis=0, initial=0.0)
    present = (np.abs(solution) > _TOLERANCE) | (free > _TOLERANCE)
    return bool(present.reshape(-1, width).any(axis=1).all())
