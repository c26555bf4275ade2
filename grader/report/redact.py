"""What a report of a private-truth split may say to others than the maintainer.

Any score is a bit of truth, but a report must not hand truths over. So, besides fewer digits:

- **No figure that a target can be solved for.** Widths of intervals and means of uncapped losses
  are out: a submitter who gives each task a width, or an error, of its own reads off the mean which
  tasks are identifiable, or the target itself. Losses end at the cap c.
- **No figure of a few answers.** A median or a coverage over one valid answer *is* that answer's
  score: a submission with one answer could bisect its target. Figures of fewer than
  :data:`~grader.report.coarse.FEWEST` tasks are withheld, each counted in its own pool.
- **No counts that follow the truth**: sizes of pools say who must abstain.
- **No more digits of few tasks than of many.** Points come in steps of a tenth of one task, so
  that a single answer shows its own points to one digit whatever the slice; what the bootstrap
  makes of them in steps five times as wide, because a spread answers more strongly to one task.
- **No second sum of the same marks.** Skill is where the points that are shown lie between floor
  and ceiling, and its interval where theirs lie: exact skill would weigh tasks in another way, and
  two sums of few marks can be solved for single ones.
- **No slices by hidden structure**, and no drawings, pools or ablations of single worlds.

What is left are shares of yes/no marks, and capped medians, over at least so many tasks. Each
submission still tells a little: only a limit on their number helps (``docs/scoring.md``).
``--reveal`` gives the maintainer everything.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from grader.report.attempts import spreads
from grader.report.coarse import (
    FEWEST,
    LOSS_DIGITS,
    POINTS_DIGITS,
    SPREAD,
    TRUTH_AXES,
    redact_points,
    rounded,
)
from grader.report.skill import WHOLE, on_scale
from grader.tracks import TRACKS


def redact(report: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that keeps the rules of this module."""
    tracks = {name: _track(name, track) for name, track in report["tracks"].items()}
    shown = {
        **report,
        "redacted": True,
        **_headline(report, report["census"]["tasks"]),
        **_overall_skill(report, list(tracks.values())),
        "tracks": tracks,
    }
    if "attempts" in report:
        sizes = {name: track["tasks"] for name, track in report["tracks"].items()}
        shown["attempts"] = _runs(report["attempts"], sizes)
    return shown


def _headline(part: Mapping[str, Any], tasks: int) -> dict[str, Any]:
    return {
        "points": redact_points(part["points"], tasks),
        **{
            name: redact_points(part[name], tasks, SPREAD)
            for name in ("points_interval", "detectable")
        },
    }


def _skill(part: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    """Skill as it follows from the points that are shown, on a scale of one digit."""
    floor, ceiling = (rounded(part[name], POINTS_DIGITS) for name in ("floor", "ceiling"))
    figures: dict[str, Any] = {"floor": floor, "ceiling": ceiling}
    points, interval = shown["points"], shown["points_interval"]
    ends = [None, None] if interval is None else [on_scale(end, floor, ceiling) for end in interval]
    figures["skill"] = None if points is None else on_scale(points, floor, ceiling)
    figures["skill_interval"] = None if None in ends else ends
    if "detectable" in shown:
        step = shown["detectable"]
        figures["skill_detectable"] = None if step is None else on_scale(step, 0, _room(figures))
    found: dict[str, Any] = rounded(figures, POINTS_DIGITS)
    return found


def _room(figures: Mapping[str, Any]) -> float | None:
    if figures["skill"] is None:
        return None
    return float(figures["ceiling"] - figures["floor"])


def _overall_skill(report: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The mean of the skills that tracks show; its interval as if these were independent."""
    names = ("skill", "skill_interval", "skill_detectable", "floor", "ceiling")
    if report["skill"] is None or any(part["skill"] is None for part in parts):
        return dict.fromkeys(names)
    count = len(parts)
    shown = {
        name: math.fsum(part[name] for part in parts) / count
        for name in ("skill", "floor", "ceiling")
    }
    ends = [math.hypot(*(_distance(part, side) for part in parts)) / count for side in (0, 1)]
    shown_interval = [shown["skill"] - ends[0], min(WHOLE, shown["skill"] + ends[1])]
    steps = [part["skill_detectable"] or 0.0 for part in parts]
    figures = {
        **shown,
        "skill_interval": shown_interval,
        "skill_detectable": math.hypot(*steps) / count if any(steps) else None,
    }
    found: dict[str, Any] = rounded(figures, POINTS_DIGITS)
    return found


def _distance(part: Mapping[str, Any], side: int) -> float:
    """How far an end of a track's interval is from its skill."""
    interval = part["skill_interval"]
    return 0.0 if interval is None else abs(float(interval[side] - part["skill"]))


def _track(name: str, part: Mapping[str, Any]) -> dict[str, Any]:
    """What any track may say; a track knows what else of its own may be said."""
    headline = _headline(part, part["tasks"])
    shown = {
        **headline,
        **_skill(part, headline),
        "tasks": part["tasks"],
        "attempted": part["attempted"],
        "metrics": {},
        "readings": {},
        "usage": {**part["usage"], "tokens_per_quality": {}},
        "slices": {
            axis: {level: _slice(row) for level, row in levels.items()}
            for axis, levels in part["slices"].items()
            if axis not in TRUTH_AXES
        },
    }
    own = TRACKS[name].redact
    return shown if own is None else {**shown, **own(part, shown)}


def _slice(row: Mapping[str, Any]) -> dict[str, Any]:
    """Counts of answers, and points where the slice is no handful of tasks."""
    shown: dict[str, Any] = {name: row[name] for name in ("tasks", "missing", "invalid")}
    enough = row["tasks"] >= FEWEST
    for name, width in (("points", 1), ("points_interval", SPREAD)):
        shown[name] = redact_points(row.get(name), row["tasks"], width) if enough else None
    return shown | _skill(row, shown)


def _runs(attempts: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The runs with fewer digits, and their spread computed again from those."""
    figures = [figure for track in TRACKS.values() if (figure := track.run_figure) is not None]
    runs = [
        {
            **run,
            "points": {name: redact_points(v, sizes[name]) for name, v in run["points"].items()},
            **{
                figure.name: {level: figure.coarse(v) for level, v in run[figure.name].items()}
                for figure in figures
            },
        }
        for run in attempts["runs"]
    ]
    return {"runs": runs, **rounded(spreads(runs, sizes), LOSS_DIGITS)}
