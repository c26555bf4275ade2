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
- **No slices by hidden structure**, and no drawings, pools or ablations of single worlds.

What is left are shares of yes/no marks, and capped medians, over at least so many tasks. Each
submission still tells a little: only a limit on their number helps (``docs/scoring.md``).
``--reveal`` gives the maintainer everything.
"""

from collections.abc import Mapping
from typing import Any

from grader.report.attempts import spreads
from grader.report.coarse import FEWEST, LOSS_DIGITS, SPREAD, TRUTH_AXES, redact_points, rounded
from grader.tracks import TRACKS


def redact(report: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that keeps the rules of this module."""
    shown = {
        **report,
        "redacted": True,
        **_headline(report, report["census"]["tasks"]),
        "tracks": {name: _track(name, track) for name, track in report["tracks"].items()},
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


def _track(name: str, part: Mapping[str, Any]) -> dict[str, Any]:
    """What any track may say; a track knows what else of its own may be said."""
    shown = {
        **_headline(part, part["tasks"]),
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
    return shown


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
