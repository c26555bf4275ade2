"""What a report of a private-truth split may say to others than the maintainer.

Any score is a bit of truth, but a report must not hand truths over: the hidden structure of a
task is a slice, the pools count who must abstain, and a loss to sixteen digits can be solved for
its target. ``--reveal`` gives the maintainer everything.
"""

from typing import Any, Final

POINT_DIGITS: Final = 1
LOSS_DIGITS: Final = 2
_TRUTH_SLICES: Final = frozenset({"structure"})
_KEPT_METRICS: Final = frozenset({"coverage", "median_width"})


def redact(report: dict[str, Any]) -> dict[str, Any]:
    """A copy without per-structure slices, truth-derived counts, details, and fine digits."""
    tracks = {name: _track(track) for name, track in report["tracks"].items()}
    return {
        **report,
        "redacted": True,
        "points": _rounded(report["points"], POINT_DIGITS),
        "points_interval": _rounded(report["points_interval"], POINT_DIGITS),
        "tracks": tracks,
    }


def _track(track: dict[str, Any]) -> dict[str, Any]:
    slices = {
        axis: {level: _row(row) for level, row in levels.items()}
        for axis, levels in track["slices"].items()
        if axis not in _TRUTH_SLICES
    }
    readings = {
        name: {
            key: None if key.startswith("n_") else _rounded(value, LOSS_DIGITS)
            for key, value in reading.items()
        }
        for name, reading in track["readings"].items()
    }
    return {
        "points": _rounded(track["points"], POINT_DIGITS),
        "points_interval": _rounded(track["points_interval"], POINT_DIGITS),
        "tasks": track["tasks"],
        "attempted": track["attempted"],
        "metrics": {
            key: _rounded(value, LOSS_DIGITS)
            for key, value in track["metrics"].items()
            if key in _KEPT_METRICS
        },
        "readings": readings,
        "slices": slices,
    }


def _row(row: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _rounded(value, POINT_DIGITS if key == "points" else LOSS_DIGITS)
        for key, value in row.items()
    }


def _rounded(value: Any, digits: int) -> Any:
    if isinstance(value, list):
        return [_rounded(item, digits) for item in value]
    return round(value, digits) if isinstance(value, float) else value
