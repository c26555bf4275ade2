"""Fits of structural equations to the readings of a laboratory: of one node, and of all nodes.

A node's equation is linear in its unknown coefficients. A reading constrains it through the node's
base: known after it was set in mode ``shift``, one unknown constant while it stays the same
crystal and the same setting, and for frequency one unknown constant everywhere.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Reading = Mapping[str, float]

ROUNDING: Final = 0.005
_SLACK: Final = 1.02
_TINY: Final = 1e-7


@dataclass(frozen=True, slots=True)
class Row:
    """A reading as a row for a node: its base is ``offset``, or unknown, shared by a ``group``."""

    reading: Reading
    offset: float
    group: str


@dataclass(frozen=True, slots=True)
class Fit:
    """The least squares fit of one node on one parent set.

    ``coefficients`` maps a parent to (linear, quadratic), ``bases`` a group of rows to its base.
    ``error`` is the largest residual; in a feasible fit rounding alone can explain it. ``spread``
    is the largest relative standard error of a coefficient that rounding makes.
    """

    parents: frozenset[str]
    coefficients: Mapping[str, tuple[float, float]]
    bases: Mapping[str, float]
    error: float
    is_feasible: bool
    spread: float


class Notebook:
    """Every reading of one session, as rows for every node that is not held (mode ``do``).

    ``public`` is the episode as agents see it; its readings are noted first. ``last`` is the newest
    reading or None. In ``nodes`` frequency is the last. ``disturbed`` says that a hidden influence
    may shift nodes at each intervention, as disclosed or as inferred by :func:`explain`.
    """

    def __init__(self, public: Mapping[str, Any]) -> None:
        self.target: str = public["target"]["name"]
        self.properties = [entry["name"] for entry in public["variables"]]
        self.nodes = [*self.properties, self.target]
        self.controllable = [entry for entry in public["variables"] if entry["controllable"]]
        self.budget = int(public["budget"]) if self.controllable else 0
        self.quadratic = public["family"] == "quadratic"
        self.disturbed = bool(public.get("shifts"))
        self._mode: str = public["mode"]
        self._may_act = bool(public["frequency_may_be_parent"])
        self._settings: dict[str, tuple[int, float]] = {}
        self._rows: dict[str, list[Row]] = {node: [] for node in self.nodes}
        for number, record in enumerate(public["records"]):
            self._note(record, f"record {number}")
        for number, step in enumerate(public["chain"], start=1):
            self._settings[step["set"]["name"]] = (number, step["set"]["value"])
            self._note(step["reading"], "record 0")
        self._settings.clear()
        self.last: Reading | None = public.get("opening")
        if self.last is not None:
            self._note(self.last, "manipulator")
        self._count = 0

    def add(self, name: str, value: float, reading: Reading) -> None:
        """Add the reading taken after ``name`` was set to ``value``, and make it ``last``."""
        self._count += 1
        self._settings[name] = (self._count, value)
        self._note(reading, "manipulator")
        self.last = reading

    def setting(self, name: str) -> float | None:
        """Return the value that ``name`` was last set to here, or None where it was never set."""
        return self._settings[name][1] if name in self._settings else None

    def causes(self, node: str) -> list[str]:
        """Return the nodes that may act on ``node``; frequency only if the episode allows it."""
        return [n for n in self.nodes if n != node and (self._may_act or n != self.target)]

    def rows(self, node: str) -> list[Row]:
        """Return the rows that constrain ``node``. A row alone in its group does not."""
        groups = [row.group for row in self._rows[node]]
        return [row for row in self._rows[node] if not row.group or groups.count(row.group) > 1]

    def _note(self, reading: Reading, crystal: str) -> None:
        """Add a reading of ``crystal`` to the rows of every node but one held in mode ``do``."""
        for node in self.properties:
            number, value = self._settings.get(node, (0, 0.0))
            if not number:
                self._rows[node].append(Row(reading, 0.0, crystal))
            elif self._mode == "shift":
                self._rows[node].append(Row(reading, value, ""))
            elif self._mode == "pin":
                self._rows[node].append(Row(reading, 0.0, f"{crystal} {number}"))
        self._rows[self.target].append(Row(reading, 0.0, "frequency"))


def fit(notebook: Notebook, node: str, chosen: Sequence[str]) -> Fit:
    """Fit ``node`` on the parents ``chosen`` by least squares over its rows."""
    rows = notebook.rows(node)
    groups = list(dict.fromkeys(row.group for row in rows if row.group))
    powers = (1, 2) if notebook.quadratic else (1,)
    design = np.zeros((len(rows), len(chosen) * len(powers) + len(groups)))
    left = np.empty(len(rows))
    for place, row in enumerate(rows):
        values = [row.reading[name] ** power for name in chosen for power in powers]
        design[place, : len(values)] = values
        if row.group:
            design[place, len(values) + groups.index(row.group)] = 1.0
        left[place] = row.reading[node] - row.offset
    solution, spread, rank = _solve(design, left)
    error = float(np.abs(design @ solution - left).max(initial=0.0))
    width = len(chosen) * len(powers)
    terms = np.zeros((len(chosen), 2))
    terms[:, : len(powers)] = solution[:width].reshape(-1, len(powers))
    relative = spread[:width] / np.maximum(np.abs(solution[:width]), _TINY)
    # Values that were not rounded at all, as with whole coefficients, leave no error to propagate.
    exact = error < _TINY and len(rows) > design.shape[1]
    return Fit(
        frozenset(chosen),
        {name: (float(a), float(b)) for name, (a, b) in zip(chosen, terms, strict=True)},
        dict(zip(groups, map(float, solution[width:]), strict=True)),
        error,
        error <= ROUNDING * math.sqrt(max(len(rows), 1)) * _SLACK,
        math.inf if rank < design.shape[1] else 0.0 if exact else float(relative.max(initial=0.0)),
    )


def _solve(design: Floats, left: Floats) -> tuple[Floats, Floats, int]:
    """Return least squares of ``left`` on ``design``: solution, standard errors, rank."""
    count = design.shape[1]
    if not count or not len(left):
        return np.zeros(count), np.full(count, math.inf), 0
    scale = np.sqrt((design**2).sum(axis=0))
    scale[scale == 0] = 1.0
    inverse = np.linalg.pinv(design / scale, rcond=1e-10)
    rank = np.linalg.matrix_rank(design / scale, rtol=1e-10)
    spread = ROUNDING * np.sqrt((inverse**2).sum(axis=1)) / scale
    return inverse @ left / scale, spread, int(rank)


@dataclass(frozen=True, slots=True)
class Explanation:
    """One fit a node; ``doubtful`` ones have another feasible fit as small, or open terms."""

    fits: Mapping[str, Fit]
    doubtful: tuple[str, ...]

    @property
    def edges(self) -> list[tuple[str, str]]:
        """The (cause, effect) pairs of the model."""
        return [(parent, node) for node, found in self.fits.items() for parent in found.parents]


def explain(notebook: Notebook) -> Explanation:
    """Return the acyclic model of least total cost (:func:`_rank_parent_sets`) of all nodes.

    Where none explains every reading, set ``notebook.disturbed``: a hidden influence is at work.
    """
    ranked = {node: _rank_parent_sets(notebook, node) for node in notebook.nodes}
    fits = _choose_acyclic(notebook.nodes, ranked)
    explained = len(fits) == len(ranked) and all(found.is_feasible for found in fits.values())
    if not explained and not notebook.disturbed:
        notebook.disturbed = True
        return explain(notebook)
    doubtful = tuple(
        node
        for node, found in fits.items()
        if not math.isfinite(found.spread)
        or any(
            other.is_feasible
            and len(other.parents) <= len(found.parents)
            and other.parents != found.parents
            for _, other in ranked[node]
        )
    )
    return Explanation(fits, doubtful)


def _rank_parent_sets(notebook: Notebook, node: str) -> list[tuple[float, Fit]]:
    """Return (cost, fit) of a node on parent sets, cheapest first.

    The cost is their size if some fit is feasible (then alone returned) and nothing disturbs, else
    2 n ln(max(error, ROUNDING)) + 2 terms ln(n + 1), a Bayesian information criterion.
    """
    causes, count = notebook.causes(node), max(len(notebook.rows(node)), 1)
    terms = 2 if notebook.quadratic else 1
    found: list[tuple[float, Fit]] = []
    exact = False
    for size in range(len(causes) + 1):
        for chosen in combinations(causes, size):
            candidate = fit(notebook, node, chosen)
            exact = exact or candidate.is_feasible
            misfit = 2 * count * math.log(max(candidate.error, ROUNDING))
            found.append((misfit + size * terms * math.log(count + 1) * 2, candidate))
    if exact and not notebook.disturbed:
        found = [(float(len(f.parents)), f) for _, f in found if f.is_feasible]
    return sorted(found, key=lambda entry: (entry[0], entry[1].error))


def _choose_acyclic(
    nodes: Sequence[str], ranked: Mapping[str, Sequence[tuple[float, Fit]]]
) -> dict[str, Fit]:
    """Return an acyclic choice of fits of least cost, then error, by dynamic programming; {} if
    there is none."""
    best: dict[int, tuple[float, float, dict[str, Fit]]] = {0: (0.0, 0.0, {})}
    for placed in range(1 << len(nodes)):
        if placed not in best:
            continue
        total, errors, chosen = best[placed]
        for place, node in enumerate(nodes):
            if node in chosen:
                continue
            options = ((c, f) for c, f in ranked[node] if f.parents <= chosen.keys())
            option = next(options, None)
            if option is None:
                continue
            cost, found = option
            reached, after = (total + cost, errors + found.error), placed | 1 << place
            if after not in best or reached < best[after][:2]:
                best[after] = (*reached, {**chosen, node: found})
    _, _, fits = best.get((1 << len(nodes)) - 1, (0.0, 0.0, {}))
    return {node: fits[node] for node in nodes if node in fits}
