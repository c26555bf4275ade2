"""What a report of a private-truth split may say: nothing that its answers were marked for.

A figure is a question to the truth, and many small ones answer what none of them does: family
points, medians, coverages and ranks of a few dozen submissions spell out the answers. So all that
marks brought is left out, counts that follow the truth too. What stays is public: how many answers
were read, what they cost, where the scale of skill lies. One figure may come back, in steps that
are counted: :mod:`grader.report.ladder`. ``--reveal`` gives the maintainer everything.
"""

from collections.abc import Mapping
from typing import Any, Final

from grader.report.skill import WHOLE, on_scale

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
