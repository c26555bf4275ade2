"""Redaction of reports of a private-truth split, and the ladder of figures that may be shown.

Each figure tells something of the truth: family points, medians, coverages and ranks of a few dozen
submissions together spell out the answers. So every figure that follows from marks is left out, and
so are counts that follow from the truth. What stays is public: how many answers were read, what
they cost, and the floor. ``--reveal`` gives the maintainer everything.

One figure may come back, by a ladder (Blum and Hardt 2015): of a team's submissions a new figure is
shown only where it beats the team's best by a step that noise would not make, and figures are
multiples of that step. It is about one fixed half of the instances, which the private side's salt
picks; the other half alone counts in the final ranking, and nothing was ever said of it. A team is
shown :data:`FIGURES` different figures at most, and none after :data:`SUBMISSIONS` submissions.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from grader.scoring.model import Unit
from grader.statistics.skill import WHOLE, on_scale

SUBMISSIONS: Final = 100
FIGURES: Final = 3
_COARSEST: Final = 33.0
"""The largest step, in points, in which figures are worth being shown."""
LEAST_INSTANCES: Final = math.ceil(math.log(SUBMISSIONS) / 2 * (100 / _COARSEST) ** 2)
"""The instances of equal weight in the shown half from which on the step is no larger."""


def weights(tracks: Sequence[Sequence[Unit]]) -> dict[str, float]:
    """Return by instance the share of the overall points that it decides; all shares sum to 1.

    The points of a track are the mean of the means of its parts, overall points those of tracks.
    """
    found: dict[str, float] = {}
    for units in tracks:
        sizes = Counter(unit.part for unit in units)
        for unit in units:
            share = 1 / (len(tracks) * len(sizes) * sizes[unit.part])
            found[unit.instance] = found.get(unit.instance, 0.0) + share
    return found


def overall(tracks: Iterable[Sequence[Unit]]) -> float:
    """Return the points (0 to 100) of units: the mean that :func:`weights` is about."""
    means = []
    for units in tracks:
        parts: dict[str, list[float]] = {}
        for unit in units:
            parts.setdefault(unit.part, []).append(unit.points)
        means.append(math.fsum(math.fsum(p) / len(p) for p in parts.values()) / len(parts))
    return WHOLE * math.fsum(means) / len(means)


@dataclass(frozen=True, slots=True)
class Ladder:
    """The rule by which figures of one exam are shown, in steps that noise would not make.

    ``instances`` is the effective number of instances in the shown half: so many of equal weight
    would give points of the same variance.
    """

    instances: float

    @classmethod
    def from_weights(cls, shares: Iterable[float]) -> Self:
        """Return the ladder of a half whose instances have these weights; it may be empty."""
        squares = math.fsum(share * share for share in shares)
        return cls(1 / squares if squares else 0.0)

    @property
    def step(self) -> float:
        """The points that the best of :data:`SUBMISSIONS` gains by noise, rounded up to a whole
        number, at most 100. Figures are multiples of it."""
        return math.ceil(min(WHOLE, WHOLE * self._deviation(math.log(SUBMISSIONS))))

    @property
    def levels(self) -> int:
        """Return how many figures can be shown: the multiples of ``step`` from 0 to 100."""
        return math.floor(WHOLE / self.step) + 1

    @property
    def figures(self) -> int:
        """The number of figures one team may be shown; 0 where the exam is too small for any."""
        return FIGURES if self.step <= _COARSEST else 0

    @property
    def too_small_reason(self) -> str:
        """Why the exam, both halves together, is too small for figures; empty where it is not."""
        have, need = round(2 * self.instances), 2 * LEAST_INSTANCES
        why = f"no figure: {have} instances of equal weight in the exam, of {need} needed"
        return "" if self.figures else why

    def next_figure(self, earlier: Sequence[float | None], points: float) -> float | None:
        """Return the team's figure after one more submission of ``points``: a multiple of ``step``,
        or None where none may be shown yet. ``earlier`` are the team's figures after each of its
        earlier submissions, the last one its best."""
        best = earlier[-1] if earlier else None
        told = len(set(earlier) - {None})
        if len(earlier) >= SUBMISSIONS or told >= self.figures:
            return best
        if best is not None and points < best + self.step:
            return best
        return min(self.levels - 1, math.floor(points / self.step)) * self.step

    def _deviation(self, nats: float) -> float:
        """Return sqrt(nats / 2n), Hoeffding's deviation of a mean of n points from 0 to 1."""
        return math.sqrt(nats / (2 * self.instances)) if self.instances else math.inf

    def interval(self, figure: float) -> list[float]:
        """Return a 95% interval (0 to 100): figure to next step, each end wider by Hoeffding."""
        error = WHOLE * self._deviation(math.log(2 / 0.05))
        low, high = max(0.0, figure - error), min(WHOLE, figure + self.step + error)
        return [round(low, 1), round(high, 1)]


_MARKED: Final = ("points", "points_interval", "detectable", "skill", "skill_interval",
                  "skill_detectable")  # fmt: skip
_COUNTS: Final = ("tasks", "missing", "invalid")
_TRUTH_AXES: Final = frozenset({"structure", "abstention"})
_DIGITS: Final = 1


def redact(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a report without all that follows from marks or truths: marks are None,
    metrics and readings empty, ``attempts`` and slices by the truth left out."""
    public = {name: value for name, value in report.items() if name != "attempts"}
    tracks = {name: _redact_track(part) for name, part in report["tracks"].items()}
    return {**public, "redacted": True, **_without_marks(report), "tracks": tracks}


def with_figure(
    report: Mapping[str, Any], points: float, interval: list[float], step: float
) -> dict[str, Any]:
    """Return a redacted report with the points that may be shown, and the skill and its interval
    that follow from them. ``step`` becomes ``detectable``.

    The part of a track that is the whole exam gets the same.
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


def _without_marks(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return None for every figure that follows from marks, and the floor, which is public."""
    floor = part["floor"]
    return {**dict.fromkeys(_MARKED), "floor": floor and round(floor, _DIGITS)}


def _redact_track(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of one track without all that follows from marks or truths."""
    return {
        **_without_marks(part),
        "tasks": part["tasks"],
        "attempted": part["attempted"],
        "metrics": {},
        "readings": {},
        "usage": {**part["usage"], "tokens_per_quality": {}},
        "slices": {
            axis: {
                level: _without_marks(row) | {name: row[name] for name in _COUNTS}
                for level, row in levels.items()
            }
            for axis, levels in part["slices"].items()
            if axis not in _TRUTH_AXES
        },
    }
