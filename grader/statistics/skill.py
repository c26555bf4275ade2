"""Skill: points on a scale where 0 is what knowing nothing earns and 100 is gold.

100 times the sum of (points - floor) over the sum of (1 - floor): a ratio of sums, so that a
variant on which a constant nearly wins weighs little. The floor of a task is what the best answer
to its variant earns that looks neither at story nor at data, as a manifest states it. Below 0 is
worse than knowing nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Final, Self

from grader.scoring.model import Score, Unit
from grader.scoring.shape import Task
from grader.scoring.track import Track
from grader.statistics import bootstrap
from grader.statistics.bootstrap import draw_instances, mean_over_tracks

_NO_ROOM: Final = 1e-9
WHOLE: Final = 100.0


@dataclass(frozen=True, slots=True)
class Floors:
    """The floors of one split: track to variant to a share of the points.

    A track without floors for all its tasks, or with those of other rules, is left out;
    ``notices`` say why, a line each.
    """

    shares: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    @classmethod
    def from_manifest(
        cls,
        manifest: Mapping[str, Any],
        split: str,
        tasks: Sequence[Task],
        tracks: Mapping[str, Track],
    ) -> Self:
        """Return the floors that a release's manifest states for a split and the tracks of
        ``tasks``; never raises for what stands in it."""
        shares: dict[str, Mapping[str, float]] = {}
        notices = []
        for track in sorted({task.track for task in tasks}):
            try:
                entry = manifest["floors"][split][track]
                own = {key: float(floor["points"]) for key, floor in entry["variants"].items()}
                absent = sorted({t.spec.key for t in tasks if t.track == track} - own.keys())
                wrong = [key for key, share in own.items() if not 0 <= share <= 1]
                if absent:
                    problem = f"{absent[0]} has no floor; raise floor_tasks and build again"
                elif entry["rules"] != tracks[track].rules:
                    problem = "its floors were graded by other rules; build the release again"
                elif wrong:
                    problem = f"the floor of {wrong[0]} is no share of its points; fetch it again"
                else:
                    shares[track] = own
                    continue
            except (AttributeError, KeyError, TypeError, ValueError):
                problem = "the release has no floors of this split"
            notices.append(f"no skill in {track}: {problem}")
        return cls(shares, tuple(notices))

    def of_variant(self, track: str, key: str) -> float | None:
        """Return the floor (0 to 1) of the variant ``key``, ``family.variant``, or None."""
        return self.shares.get(track, {}).get(key)


@dataclass(frozen=True, slots=True)
class Skill:
    """Skill and its replicates: 0 at the floor, 100 at gold. ``floor`` is in points, 0 to 100."""

    value: float
    replicates: Sequence[float]
    floor: float


def on_scale(points: float, floor: float | None) -> float | None:
    """Return where points (0 to 100) lie from floor (0) to 100; None for a floor of 100 or None."""
    if floor is None or WHOLE - floor <= _NO_ROOM:
        return None
    return WHOLE * ((points - floor) / (WHOLE - floor))


def units_of(scores: Iterable[Score]) -> list[Unit]:
    """Return every task as a unit of its own."""
    return [Unit(row.instance_id, row.points, row.floor) for row in scores]


def measure(units: Sequence[Unit], seed: int) -> Skill | None:
    """Return the skill of ``units``, or None: without units, without a floor of each, or with a
    mean floor of full points.

    Replicates draw instances, and both sums of each draw are of the same ones.
    """
    floors = [unit.floor for unit in units if unit.floor is not None]
    if not units or len(floors) < len(units):
        return None
    value = on_scale(WHOLE * fmean(unit.points for unit in units), WHOLE * fmean(floors))
    if value is None:
        return None
    sums: dict[str, tuple[float, float, int]] = {}
    for unit in sorted(units, key=lambda unit: unit.instance):
        gained, room, count = sums.get(unit.instance, (0.0, 0.0, 0))
        floor = unit.floor or 0.0
        sums[unit.instance] = (gained + unit.points - floor, room + 1 - floor, count + 1)
    draws = draw_instances(sums, seed)
    pairs = zip(
        draws.means({name: (gained, count) for name, (gained, _, count) in sums.items()}),
        draws.means({name: (room, count) for name, (_, room, count) in sums.items()}),
        strict=True,
    )
    replicates = [WHOLE * (gained / room) for gained, room in pairs if room > _NO_ROOM]
    return Skill(value, replicates, WHOLE * fmean(floors))


def overall_skill(skills: Mapping[str, Skill | None]) -> Skill | None:
    """Return the unweighted mean over tracks; ``None`` unless every track has a skill."""
    known = [skill for skill in skills.values() if skill is not None]
    if not known or len(known) < len(skills):
        return None
    return Skill(
        fmean(skill.value for skill in known),
        mean_over_tracks(skill.replicates for skill in known),
        fmean(skill.floor for skill in known),
    )


def members(skill: Skill | None) -> dict[str, Any]:
    """Return ``skill`` and its 95% interval, detectable difference and floor, or nulls."""
    if skill is None:
        return dict.fromkeys(("skill", "skill_interval", "skill_detectable", "floor"))
    return {
        "skill": skill.value,
        "skill_interval": bootstrap.percentile_interval(skill.replicates),
        "skill_detectable": bootstrap.between_systems(skill.replicates),
        "floor": skill.floor,
    }
