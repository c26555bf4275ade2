"""The figure of a private exam that is shown, and what a submitter can have learnt from it.

A ladder (Blum and Hardt 2015): of a team's submissions a new figure is shown only where it beats
the team's best by a step that noise would not make, and figures are multiples of that step. It is
about one fixed half of the instances, which the private side's salt picks; the other half alone
counts in the final ranking, and nothing was ever said of it.

How far a client without knowledge can climb is bounded by how many different things it can be told
(Russo and Zou 2016, with Hoeffding's variance): where ``N`` is that number, and the figure is the
mean over ``n`` independent instances of points between 0 and 1, the points of whatever it hands in
last exceed what these answers would earn on fresh tasks by at most sqrt(ln N / 2n) in expectation.
So a team is shown as few figures as keep that bound under :data:`CLIMB` points of the whole exam
after :data:`SUBMISSIONS` submissions, and none after these.
"""

import hashlib
import hmac
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self

from grader.model import Unit
from grader.report.skill import WHOLE

SUBMISSIONS: Final = 100
CLIMB: Final = 10.0


def shown_half(instances: Iterable[str], salt: bytes) -> frozenset[str]:
    """The instances that figures are about: half of them, by a hash that only the salt gives."""
    ranked = sorted(
        set(instances),
        key=lambda name: hmac.new(salt, b"half/" + name.encode(), hashlib.sha256).digest(),
    )
    return frozenset(ranked[: len(ranked) // 2])


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
    def of(cls, shares: Iterable[float]) -> Self:
        """The ladder of a half whose instances have these weights."""
        return cls(1 / math.fsum(share * share for share in shares))

    @property
    def step(self) -> float:
        """What the best of :data:`SUBMISSIONS` submissions gains by noise, in points."""
        return min(WHOLE, math.ceil(WHOLE * self._climb(math.log(SUBMISSIONS))))

    @property
    def levels(self) -> int:
        """How many different figures there are."""
        return math.floor(WHOLE / self.step) + 1

    @property
    def figures(self) -> int:
        """How many figures one team may be shown; 0 where the exam is too small for any."""
        allowed = 0
        while allowed < self.levels and self.bound(SUBMISSIONS, allowed + 1) < CLIMB:
            allowed += 1
        return allowed

    def shown(self, earlier: Sequence[float | None], points: float) -> float | None:
        """The figure after one more submission of ``points``, given those after earlier ones."""
        best = earlier[-1] if earlier else None
        told = len(set(earlier) - {None})
        if len(earlier) >= SUBMISSIONS or told >= self.figures:
            return best
        if best is not None and points < best + self.step:
            return best
        return min(self.levels - 1, math.floor(points / self.step)) * self.step

    def stories(self, submissions: int, figures: int) -> int:
        """In how many ways so many submissions can be answered with at most so many figures.

        Figures rise, and the first one comes with the first submission.
        """
        later = max(0, min(submissions, SUBMISSIONS) - 1)
        most = min(figures, submissions)
        return (
            sum(math.comb(later, k - 1) * math.comb(self.levels, k) for k in range(1, most + 1))
            or 1
        )

    def bits(self, submissions: int) -> float:
        """The most that so many submissions can have told of the truth."""
        return math.log2(self.stories(submissions, self.figures))

    def bound(self, submissions: int, figures: int) -> float:
        """Points of the whole exam by which that can have helped: half of it was never shown."""
        return WHOLE / 2 * self._climb(math.log(self.stories(submissions, figures)))

    def _climb(self, nats: float) -> float:
        return math.sqrt(nats / (2 * self.instances))

    def interval(self, figure: float) -> list[float]:
        """What the points of the whole exam may be: the step, and the error of so few instances."""
        error = WHOLE * self._climb(math.log(2 / 0.05))
        return [
            round(max(0.0, figure - error), 1),
            round(min(WHOLE, figure + self.step + error), 1),
        ]
