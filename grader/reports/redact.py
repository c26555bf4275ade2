"""What a report of a private-truth split may say: nothing that its answers were marked for.

A figure is a question to the truth, and many small ones answer what none of them does: family
points, medians, coverages and ranks of a few dozen submissions spell out the answers. So all that
marks brought is left out, counts that follow the truth too. What stays is public: how many answers
were read, what they cost, where the scale of skill lies. ``--reveal`` gives the maintainer
everything.

One figure may come back, by a ladder (Blum and Hardt 2015): of a team's submissions a new figure is
shown only where it beats the team's best by a step that noise would not make, and figures are
multiples of that step. It is about one fixed half of the instances, which the private side's salt
picks; the other half alone counts in the final ranking, and nothing was ever said of it. A team is
shown :data:`FIGURES` different figures at most, and none after :data:`SUBMISSIONS` submissions.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from grader.scoring.model import Unit
from grader.statistics.skill import WHOLE, on_scale

SUBMISSIONS: Final = 100
FIGURES: Final = 3
_COARSEST: Final = 33.0
"""The largest step, in points, in which figures are worth being shown."""


def weights(tracks: Iterable[Sequence[Unit]]) -> dict[str, float]:
    """How much of the overall points each instance decides, all together 1.

    The points of a track are the mean of the means of its parts, overall points those of tracks.
    """
    found: dict[str, float] = {}
    every = list(tracks)
    for units in every:
        sizes: dict[str, int] = {}
        for unit in units:
            sizes[unit.part] = sizes.get(unit.part, 0) + 1
        for unit in units:
            share = 1 / (len(every) * len(sizes) * sizes[unit.part])
            found[unit.instance] = found.get(unit.instance, 0.0) + share
    return found


def overall(tracks: Iterable[Sequence[Unit]]) -> float:
    """The points (0 to 100) that units come to: what :func:`weights` weighs."""
    means = []
    for units in tracks:
        parts: dict[str, list[float]] = {}
        for unit in units:
            parts.setdefault(unit.part, []).append(unit.points)
        means.append(math.fsum(math.fsum(p) / len(p) for p in parts.values()) / len(parts))
    return WHOLE * math.fsum(means) / len(means)


@dataclass(frozen=True, slots=True)
class Ladder:
    """The rules of one exam: ``instances`` of equal weight would have the variance of its half."""

    instances: float

    @classmethod
    def from_weights(cls, shares: Iterable[float]) -> Self:
        """The ladder of a half whose instances have these weights."""
        return cls(1 / math.fsum(share * share for share in shares))

    @property
    def step(self) -> float:
        """What the best of :data:`SUBMISSIONS` submissions gains by noise, in points."""
        return min(WHOLE, math.ceil(WHOLE * self._deviation(math.log(SUBMISSIONS))))

    @property
    def levels(self) -> int:
        """How many different figures there are."""
        return math.floor(WHOLE / self.step) + 1

    @property
    def figures(self) -> int:
        """How many figures one team may be shown; 0 where the exam is too small for any."""
        return FIGURES if self.step <= _COARSEST else 0

    def next_figure(self, earlier: Sequence[float | None], points: float) -> float | None:
        """The figure after one more submission of ``points``, given those after earlier ones."""
        best = earlier[-1] if earlier else None
        told = len(set(earlier) - {None})
        if len(earlier) >= SUBMISSIONS or told >= self.figures:
            return best
        if best is not None and points < best + self.step:
            return best
        return min(self.levels - 1, math.floor(points / self.step)) * self.step

    def _deviation(self, nats: float) -> float:
        """Return sqrt(nats / 2n), Hoeffding's deviation of a mean of n points from 0 to 1."""
        return math.sqrt(nats / (2 * self.instances))

    def interval(self, figure: float) -> list[float]:
        """What the points of the whole exam may be: the step, and the error of so few instances."""
        error = WHOLE * self._deviation(math.log(2 / 0.05))
        return [
            round(max(0.0, figure - error), 1),
            round(min(WHOLE, figure + self.step + error), 1),
        ]


_MARKED: Final = ("points", "points_interval", "detectable", "skill", "skill_interval",
                  "skill_detectable")  # fmt: skip
_TRUTH_AXES: Final = frozenset({"structure", "abstention"})
_DIGITS: Final = 1


def redact(report: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that is the same whatever the answers are worth."""
    public = {name: value for name, value in report.items() if name != "attempts"}
    tracks = {name: _track(part) for name, part in report["tracks"].items()}
    return {**public, "redacted": True, **_silent(report), "tracks": tracks}


def with_figure(
    report: Mapping[str, Any], points: float, interval: list[float], step: float
) -> dict[str, Any]:
    """A redacted report with the points that may be shown, and skill as it follows from them.

    A track that is the whole exam has the same.
    """
    floor = report["floor"]
    skill = on_scale(points, floor)
    shown: dict[str, Any] = {"points": points, "points_interval": interval, "detectable": step}
    if skill is not None:
        shown["skill"] = round(skill, _DIGITS)
        ends = [on_scale(end, floor) or 0.0 for end in interval]
        shown["skill_interval"] = [round(end, _DIGITS) for end in ends]
        shown["skill_detectable"] = round(WHOLE * step / (WHOLE - floor), _DIGITS)
    tracks = report["tracks"]
    if len(tracks) == 1:
        tracks = {name: part | shown for name, part in tracks.items()}
    return {**report, **shown, "tracks": tracks}


def _silent(part: Mapping[str, Any]) -> dict[str, Any]:
    floor = part["floor"]
    return {**dict.fromkeys(_MARKED), "floor": floor and round(floor, _DIGITS)}


def _track(part: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **_silent(part),
        "tasks": part["tasks"],
        "attempted": part["attempted"],
        "metrics": {},
        "readings": {},
        "usage": {**part["usage"], "tokens_per_quality": {}},
        "slices": {
            axis: {
                level: _silent(row) | {name: row[name] for name in ("tasks", "missing", "invalid")}
                for level, row in levels.items()
            }
            for axis, levels in part["slices"].items()
            if axis not in _TRUTH_AXES
        },
    }
