"""The verified evidence of a session, and whether some equation of a property explains it.

A property's base differs between crystals, so only the manipulator (and a given chain's crystal)
says something about its parents. What the base is after an intervention depends on the mode:
``shift`` makes it the value set, ``pin`` some new constant, and under ``do`` the property follows
its parents no more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from grader.laboratory.episode import Episode
from grader.laboratory.model import ROUNDING

Reading = Mapping[str, float]
Setting = tuple[str, float, Reading]
"""An intervention and what was then read: (property, value, reading)."""

_SLOP: Final = 1e-6
"""Floating-point error of a residual norm, relative to the norm allowed."""


@dataclass(frozen=True, slots=True)
class Row:
    """One reading as an equation for one property.

    ``base`` is the property's base if it is known, else ``constant`` numbers it among the unknown
    ones. ``allowance`` is how far the reading may be from what the equation gives.
    """

    reading: Reading
    base: float | None
    constant: int
    allowance: float


class Evidence:
    """Everything an agent has seen of one episode; ``settings`` are the interventions, in order."""

    def __init__(self, episode: Episode, settings: Sequence[Setting]) -> None:
        self.episode = episode
        self.settings = tuple(settings)
        self.steps = len(self.settings)

    @cached_property
    def readings(self) -> list[tuple[int, Reading]]:
        """All readings, each after the number of interventions made before it.

        Records, given chain and opening come first, with 0.
        """
        public = self.episode.public
        given = [*public["records"], *(step["reading"] for step in public["chain"])]
        if public["opening"] is not None:
            given.append(public["opening"])
        shown = enumerate((reading for _, _, reading in self.settings), start=1)
        return [*((0, reading) for reading in given), *shown]

    def explained_by(self, node: str, parents: Sequence[str]) -> bool:
        """Return whether some coefficients of ``parents`` fit every reading of property ``node``.

        Rows are divided by their allowance. The true coefficients then miss none by more than 1,
        so the least-squares solution has a residual norm of at most the root of their number.
        """
        rows = self.rows(node)
        if not rows:
            return True
        import numpy as np

        powers = (1, 2) if self.episode.family == "quadratic" else (1,)
        constants = sorted({row.constant for row in rows if row.base is None})
        matrix = np.array(
            [
                [*(row.reading[parent] ** power for power in powers for parent in parents),
                 *(float(row.base is None and row.constant == c) for c in constants)]
                for row in rows
            ]
        ).reshape(len(rows), -1)  # fmt: skip
        sides = np.array([row.reading[node] - (row.base or 0.0) for row in rows])
        allowances = np.array([row.allowance for row in rows])
        matrix, sides = matrix / allowances[:, None], sides / allowances
        # Columns of one length: squares of readings are thousands of times the readings.
        lengths = np.sqrt((matrix**2).sum(axis=0))
        matrix /= np.where(lengths > 0, lengths, 1.0)
        solution = np.linalg.lstsq(matrix, sides, rcond=None)[0]
        norm = float(np.linalg.norm(matrix @ solution - sides))
        return bool(norm <= len(rows) ** 0.5 * (1 + _SLOP))

    def rows(self, node: str) -> list[Row]:
        """Return the equations that the readings give for property ``node``."""
        public = self.episode.public
        rows: list[Row] = []
        if public["chain"]:
            chain = [(s["set"]["name"], s["set"]["value"], s["reading"]) for s in public["chain"]]
            rows += self._crystal_rows(node, public["records"][0], chain, 1, ROUNDING)
        shifted = ROUNDING
        hidden = self.episode.disturbance
        if hidden is not None and node in hidden.nodes:
            shifted = 2 * ROUNDING + hidden.bound
        return rows + self._crystal_rows(node, public["opening"], self.settings, -1, shifted)

    def _crystal_rows(
        self,
        node: str,
        first: Reading | None,
        settings: Sequence[Setting],
        sign: int,
        allowance: float,
    ) -> list[Row]:
        """Return the equations that one crystal gives, read ``first`` before its ``settings``.

        Unknown bases get numbers +1, +2 … or −1, −2 … by ``sign``, so two crystals never share
        one. ``allowance`` is that of readings after a setting.
        """
        mode = self.episode.mode
        base: float | None = None
        constant = sign
        rows = [] if first is None else [Row(first, None, constant, ROUNDING)]
        for name, value, reading in settings:
            if name == node:
                if mode == "do":
                    break
                base = value if mode == "shift" else None
                constant += sign
            rows.append(Row(reading, base, constant, allowance))
        return rows
