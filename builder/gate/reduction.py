"""The findings of all parts of a release, added up one part after another.

Of what a part found, its problems stay, and numbers: of a million scenes there are tens of millions
of tasks, of which nothing may be held that is a text.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from builder.gate.flat import Mark
from builder.gate.known_answers import PointSums
from builder.gate.leak.extract import Gathered
from builder.gate.marks import Repeats, SetSum
from builder.gate.part_check import Findings, Unchecked, check_part, read_check
from builder.gate.restage import restaged
from builder.gate.roll import Roll
from builder.release.engine import Workers, map_instances
from builder.release.manifest import Parts
from builder.release.parts import Part

MANY_INSTANCES: Final = 150
"""Instances from which on more processes pay for their start, where no build has started them."""

Key = tuple[str, str]
"""Split and track."""

_COUNTED: Final = ("truths", "audited", "proved", "stories", "free", "alike")
_LISTED: Final = ("references", "task_rows", "same_prompts", "audit", "certificates", "misread")


@dataclass(slots=True)
class Sums:
    """What the parts of one track of one split found, see :class:`Findings`; ``flat`` sums the
    marks of what the flat table must say."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTED, 0))
    problems: dict[str, list[str]] = field(default_factory=lambda: {n: [] for n in _LISTED})
    points: PointSums = field(default_factory=PointSums)
    leaks: Gathered = field(default_factory=Gathered)
    flat: SetSum = field(default_factory=SetSum)

    def add(self, found: Findings) -> None:
        """Adds what a part found."""
        for name in _COUNTED:
            self.counts[name] += getattr(found, name)
        for name in _LISTED:
            self.problems[name] += getattr(found, name)
        self.points.add(found.points)
        self.leaks.add(found.leaks)
        for mark in found.flat:
            self.flat.add(mark)


@dataclass(frozen=True, slots=True)
class Checked:
    """The findings of every part, and what hinders them from standing for the release; ``marks``
    gives the marks of a track's flat rows once more."""

    sums: Mapping[Key, Sums]
    same_prompts: Sequence[str]
    unchecked: Sequence[str]
    different: Sequence[str]
    parts: int
    marks: Callable[[Key], Iterable[Mark]]

    def count(self, name: str) -> int:
        """What was counted, over all parts."""
        return sum(sums.counts[name] for sums in self.sums.values())

    def problems(self, name: str) -> list[str]:
        """What was listed, over all parts."""
        return [line for sums in self.sums.values() for line in sums.problems[name]]


def check_anew(release: Path, found: Sequence[Roll], workers: Workers, folder: Path) -> Checked:
    """Takes a release apart into ``folder`` and checks every part of it."""
    staged = [part for roll in found for part in restaged(release, roll, folder)]
    for _ in map_instances(check_part, staged, workers):
        pass
    return _added(staged)


def added(found: Sequence[Roll], parts: Parts) -> Checked:
    """The checks of staged parts, as far as they hold."""
    return _added([part for roll in found for part in parts.get((roll.split, roll.track), ())])


def are_many(found: Sequence[Roll]) -> bool:
    """Whether a finished release has so many instances that more processes pay for their start."""
    return sum(len(roll.worlds) for roll in found) >= MANY_INSTANCES


def _added(parts: Sequence[Part]) -> Checked:
    sums: dict[Key, Sums] = {}
    unchecked = []
    repeats = Repeats(lambda number: read_check(parts[number]).prompts)
    for number, part in enumerate(parts):
        try:
            found = read_check(part)
        except Unchecked as problem:
            unchecked.append(str(problem))
            continue
        sums.setdefault((part.origin.split, part.origin.track), Sums()).add(found)
        repeats.add(number, found.prompts)

    def marks(key: Key) -> Iterable[Mark]:
        own = (part for part in parts if (part.origin.split, part.origin.track) == key)
        return (mark for part in own for mark in read_check(part).flat)

    same = [f"{one} and {other}: the same prompt" for one, other in repeats.pairs()]
    return Checked(sums, same, unchecked, [], len(parts), marks)
