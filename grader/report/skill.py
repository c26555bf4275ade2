"""Skill: points on a scale where 0 is what knowing nothing earns and 100 is gold.

100 times the sum of (points - floor) over the sum of (1 - floor): a ratio of sums, so that a
variant on which a constant nearly wins weighs little. The floor of a task is what the best answer
to its variant earns that looks neither at story nor at data (:mod:`grader.floors`). Below 0 is
worse than knowing nothing.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from grader.model import Score, Unit
from grader.statistics import bootstrap
from grader.statistics.resample import Draws

_NO_ROOM: Final = 1e-9
WHOLE: Final = 100.0


@dataclass(frozen=True, slots=True)
class Skill:
    """Skill of a track, its bootstrap replicates, and the floor in points."""

    value: float
    replicates: Sequence[float]
    floor: float


def on_scale(points: float, floor: float | None) -> float | None:
    """Where points (0 to 100) lie between floor and 100.

    ``None`` without a floor, or with one of 100: nothing can be shown there.
    """
    if floor is None or WHOLE - floor <= _NO_ROOM:
        return None
    return WHOLE * (points - floor) / (WHOLE - floor)


def units_of(scores: Iterable[Score]) -> list[Unit]:
    """Every task as a unit of its own."""
    return [Unit(row.instance_id, row.points, row.floor) for row in scores]


def measure(units: Sequence[Unit], seed: int) -> Skill | None:
    """The skill that units come to; ``None`` where a floor is absent or nothing can be shown.

    Replicates draw instances, and both sums of each draw are of the same ones.
    """
    parts = _parts(units)
    if not parts:
        return None
    points, floor = _scale(parts)
    value = on_scale(points, floor)
    if value is None:
        return None
    columns = [_resampled(part, seed) for part in parts]
    replicates = []
    for draw in zip(*columns, strict=True):
        gained, room = (_mean(part[k] for part in draw) for k in (0, 1))
        if room > _NO_ROOM:
            replicates.append(WHOLE * gained / room)
    return Skill(value, replicates, floor)


def value_of(units: Sequence[Unit]) -> float | None:
    """The value alone of the skill that units come to, as :func:`measure` gives it."""
    parts = _parts(units)
    return on_scale(*_scale(parts)) if parts else None


def _parts(units: Sequence[Unit]) -> list[list[Unit]]:
    """The units part by part, an instance after the other; none where a floor is absent."""
    parts: dict[str, list[Unit]] = {}
    if all(unit.floor is not None for unit in units):
        for unit in sorted(units, key=lambda unit: (unit.part, unit.instance)):
            parts.setdefault(unit.part, []).append(unit)
    return list(parts.values())


def _scale(parts: Sequence[Sequence[Unit]]) -> tuple[float, float]:
    """Points and floor (0 to 100), the parts weighing alike."""
    points, floor = (
        WHOLE * _mean(_mean(getattr(unit, name) for unit in part) for part in parts)
        for name in ("points", "floor")
    )
    return points, floor


def _resampled(part: Sequence[Unit], seed: int) -> list[tuple[float, float]]:
    """Replicates of the mean gain over the floor and of the mean room above it, drawn together."""
    sums: dict[str, tuple[float, float, int]] = {}
    for unit in part:
        floor = unit.floor or 0.0
        gained, room, count = sums.get(unit.instance, (0.0, 0.0, 0))
        gained, room = gained + unit.points - floor, room + 1 - floor
        sums[unit.instance] = (gained, room, count + 1)
    draws = Draws.of(sums, seed)
    return list(
        zip(
            draws.means({name: (gained, count) for name, (gained, _, count) in sums.items()}),
            draws.means({name: (room, count) for name, (_, room, count) in sums.items()}),
            strict=True,
        )
    )


def overall(skills: Mapping[str, Skill | None]) -> Skill | None:
    """The unweighted mean over tracks; ``None`` unless every track has a skill."""
    known = [skill for skill in skills.values() if skill is not None]
    if not known or len(known) < len(skills):
        return None
    return Skill(
        _mean(skill.value for skill in known),
        bootstrap.overall({str(k): skill.replicates for k, skill in enumerate(known)}),
        _mean(skill.floor for skill in known),
    )


def members(skill: Skill | None) -> dict[str, Any]:
    """What a report says of a skill; nulls where there is none."""
    if skill is None:
        return dict.fromkeys(("skill", "skill_interval", "skill_detectable", "floor"))
    return {
        "skill": skill.value,
        "skill_interval": bootstrap.percentile_interval(skill.replicates),
        "skill_detectable": bootstrap.between_systems(skill.replicates),
        "floor": skill.floor,
    }


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return math.fsum(found) / len(found)
