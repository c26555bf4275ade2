"""The verified evidence of a session, as one small linear system per node and parent set.

A property's base differs between crystals, so only the manipulator (and a given chain's crystal)
says something about its parents; the target's base is shared, so every reading does. What a base
is after an intervention depends on the mode: ``shift`` makes it the value set, ``pin`` some new
constant, and under ``do`` the property follows its parents no more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite

from grader.laboratory.episode import Episode
from grader.laboratory.model import ROUNDING
from grader.tracks.causalab.fitting import Fit, fit, tightest

Setting = tuple[str, float, Mapping[str, float]]
"""An intervention and what was then read: (property, value, reading)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One reading as an equation for one node.

    ``step`` is the number of interventions made when it was read; ``values`` the whole reading in
    node order; ``base`` the base if it is known, else ``constant`` names it among the unknown.
    """

    step: int
    values: Sequence[float]
    base: float | None
    constant: int
    error: float


class Evidence:
    """Everything an agent has seen of one episode, by step.

    ``settings`` are the interventions made, in order. Step 0 is what was given before the first.
    """

    def __init__(self, episode: Episode, settings: Sequence[Setting]) -> None:
        self.episode = episode
        self.settings = tuple(settings)
        self.steps = len(self.settings)
        self._powers = 2 if episode.family == "quadratic" else 1
        self._fits: dict[tuple[int, tuple[int, ...], int], Fit] = {}

    @cached_property
    def readings(self) -> list[tuple[int, Mapping[str, float]]]:
        """All readings with their steps: records, given chain, opening, interventions."""
        public = self.episode.public
        given = [*public["records"], *(step["reading"] for step in public["chain"])]
        if public["opening"] is not None:
            given.append(public["opening"])
        shown = enumerate((reading for _, _, reading in self.settings), start=1)
        return [*((0, reading) for reading in given), *shown]

    @cached_property
    def rows(self) -> list[list[Row]]:
        """The equations of every node, in node order."""
        return [self._rows_of(node) for node in self.episode.nodes]

    def _rows_of(self, node: str) -> list[Row]:
        if node == self.episode.target:
            return [
                Row(step, self._vector(reading), None, 0, self._error(node, step))
                for step, reading in self.readings
            ]
        public = self.episode.public
        rows: list[Row] = []
        if public["chain"]:
            chain = [(s["set"]["name"], s["set"]["value"], s["reading"]) for s in public["chain"]]
            rows += self._crystal_rows(node, public["records"][0], chain, 0, 1)
        rows += self._crystal_rows(node, public["opening"], self.settings, 1, -1)
        return rows

    def _crystal_rows(
        self,
        node: str,
        first: Mapping[str, float] | None,
        settings: Sequence[Setting],
        pace: int,
        sign: int,
    ) -> list[Row]:
        """The equations that one crystal gives.

        Unknown bases get ids +1, +2 … or −1, −2 … by ``sign``, so two crystals never share one.
        ``pace`` is 1 if every intervention is a step of the session, 0 if they were given.
        """
        mode = self.episode.mode
        rows: list[Row] = []
        base: float | None = None
        constant = sign
        if first is not None:
            rows.append(Row(0, self._vector(first), None, constant, ROUNDING))
        for number, (name, value, reading) in enumerate(settings, start=1):
            if name == node:
                if mode == "do":
                    break
                base = value if mode == "shift" else None
                constant += sign
            step = pace * number
            rows.append(Row(step, self._vector(reading), base, constant, self._error(node, step)))
        return rows

    def _vector(self, reading: Mapping[str, float]) -> list[float]:
        return [reading[node] for node in self.episode.nodes]

    def _error(self, node: str, step: int) -> float:
        """Half a unit of the last decimal, and what a disturbance may add to the node."""
        hidden = self.episode.disturbance
        if step and hidden is not None and node in hidden.nodes:
            return 2 * ROUNDING + hidden.bound
        return ROUNDING

    def fit(self, node: int, parents: Sequence[int], step: int) -> Fit:
        """What the evidence up to ``step`` says of ``node`` as a function of ``parents``.

        The first columns are the coefficients: one a parent, or in the quadratic family the
        linear ones and then the squares.
        """
        key = (node, tuple(parents), step)
        if key not in self._fits:
            self._fits[key] = self._fit(*key)
        return self._fits[key]

    def bounds_within(
        self, node: int, parents: Sequence[int], step: int, column: int, centre: float, slack: float
    ) -> bool:
        """Whether a coefficient of :meth:`fit` is certainly within ``slack`` of ``centre``.

        The first bounds come from one square part of the rows; only if they do not suffice are
        the tightest computed.
        """
        found = self.fit(node, parents, step)
        low, high = found.lower[column], found.upper[column]
        if isfinite(low) and not (centre - slack <= low and high <= centre + slack):
            low, high = tightest(*self._system(node, parents, step), column)
        return centre - slack <= low and high <= centre + slack

    def _fit(self, node: int, parents: Sequence[int], step: int) -> Fit:
        rows, values, errors = self._system(node, parents, step)
        width = len(parents) * self._powers
        if not rows:
            return Fit(True, (-inf,) * width, (inf,) * width)
        slopes = [self._slopes(row, len(parents)) for row in rows]
        found = fit(rows, values, errors, slopes)
        return Fit(found.feasible, found.lower[:width], found.upper[:width])

    def _slopes(self, row: Sequence[float], parents: int) -> list[float]:
        """How much the rounding of the readings changes each entry of a row."""
        slopes = [ROUNDING] * parents
        if self._powers == 2:
            slopes += [2 * ROUNDING * abs(value) for value in row[:parents]]
        return slopes + [0.0] * (len(row) - len(slopes))

    def _system(
        self, node: int, parents: Sequence[int], step: int
    ) -> tuple[list[list[float]], list[float], list[float]]:
        """Rows, values and errors for :func:`~grader.tracks.causalab.fitting.fit`."""
        used = [row for row in self.rows[node] if row.step <= step]
        constants = sorted({row.constant for row in used if row.base is None})
        matrix = []
        for row in used:
            entries = [row.values[p] for p in parents]
            if self._powers == 2:
                entries += [value * value for value in entries]
            known = row.base is not None
            entries += [float(not known and row.constant == c) for c in constants]
            matrix.append(entries)
        values = [row.values[node] - (row.base or 0.0) for row in used]
        return matrix, values, [row.error for row in used]
