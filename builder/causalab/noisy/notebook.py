"""What a planner was told and has seen, for many draws of the noise at once.

Draws share what is told, the records and the opening; they differ in the readings that follow, and
so in the settings that a planner chooses. The last axis of every array is the draw.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from builder.scm.equation import Array

MIDDLE = 50.0
"""Middle of the range of bases."""
SPREAD = 29.0
"""Standard deviation of a base that may be anything from 0 to 100."""


@dataclass(frozen=True, slots=True)
class Told:
    """The public part of an episode as arrays; properties by index, frequency last.

    ``records`` has shape (records, nodes), ``opening`` (nodes,), ``reactor`` (properties,);
    ``settable`` are indices; ``noise`` is the standard deviation of a reading.
    """

    names: tuple[str, ...]
    settable: tuple[int, ...]
    low: float
    high: float
    noise: float
    curved: bool
    confounded: bool
    budget: int
    records: Array
    opening: Array
    reactor: Array
    record_spread: float

    @classmethod
    def of(cls, public: Mapping[str, Any]) -> Self:
        """What the public part of a noisy episode tells."""
        variables = public["variables"]
        names = tuple(entry["name"] for entry in variables)
        nodes = (*names, public["target"]["name"])
        return cls(
            names,
            tuple(i for i, entry in enumerate(variables) if entry["controllable"]),
            variables[0]["low"],
            variables[0]["high"],
            public["noise"],
            public["family"] == "interacting",
            public["common_cause"],
            public["budget"],
            np.array([[record[node] for node in nodes] for record in public["records"]]),
            np.array([public["opening"][node] for node in nodes]),
            np.array([public["reactor"][name] for name in names]),
            (public["record_bases"][1] - public["record_bases"][0]) / 12**0.5,
        )


class Notebook:
    """The readings of a session's manipulator, and which own bases were then known.

    ``readings`` has an array (nodes, draws) a reading, the opening first; ``own`` one (properties,
    draws) a reading: the base that was set, NaN where none was.
    """

    def __init__(self, told: Told, draws: int) -> None:
        self.told = told
        self.draws = draws
        self.readings = [np.repeat(told.opening[:, None], draws, axis=1)]
        self.own = [np.full((len(told.names), draws), np.nan)]

    def add(self, place: Array, value: Array, reading: Array) -> None:
        """The ``reading`` after property ``place`` was set to ``value``, each by draw."""
        own = self.own[-1].copy()
        own[place, np.arange(self.draws)] = value
        self.own.append(own)
        self.readings.append(reading)
