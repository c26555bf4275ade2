"""What a report of a private-truth split may say to others than the maintainer.

Any score is a bit of truth, but a report must not hand truths over. So, besides fewer digits:

- **No figure that a target can be solved for.** Widths of intervals and means of uncapped losses
  are out: a submitter who gives each task a width, or an error, of its own reads off the mean which
  tasks are identifiable, or the target itself. Losses end at the cap c.
- **No figure of a few answers.** A median or a coverage over one valid answer *is* that answer's
  score: a submission with one answer could bisect its target. Figures of fewer than
  :data:`FEWEST` tasks are withheld, each counted in its own pool.
- **No counts that follow the truth**: sizes of pools say who must abstain.
- **No more digits of few tasks than of many.** Points come in steps of a tenth of one task, so
  that a single answer shows its own points to one digit whatever the slice; what the bootstrap
  makes of them in steps five times as wide, because a spread answers more strongly to one task.
- **No slices by hidden structure**, and no drawings, pools or ablations of single worlds.

What is left are shares of yes/no marks, and capped medians, over at least so many tasks. Each
submission still tells a little: only a limit on their number helps (``docs/scoring.md``).
``--reveal`` gives the maintainer everything.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from grader.report.usage import with_quality
from grader.shape import LOSS_CAP
from grader.statistics.repeats import spread_of

TASK_STEPS: Final = 10
"""Steps of points into which one task is divided."""
SPREAD: Final = 5
"""Intervals and detectable differences come in steps so many times as wide."""
LOSS_DIGITS: Final = 2
FEWEST: Final = 5
"""Tasks (or contexts of ccr) that a figure must be about."""
FEWEST_PAIRS: Final = 20
"""Pairs or compositions that a share of ccr must be about: its contexts hold several each."""

_TRUTH_AXES: Final = frozenset({"structure", "abstention"})
_POOL_OF: Final = {
    "pass_rate": "n_pass",
    "med_nrel_err": "n_nrel",
    "s_nr": "n_nrel",
    "med_f1_loss": "n_f1",
}
_POINTS: Final = {"points_simulation", "points_stated", "points_direct", "points_deductive"}
_OF_CONTEXTS: Final = {"complete_share", "contexts_vc", "contexts_vi", "contexts_ic", "contexts_ii"}
_OF_COMPOSITIONS: Final = {
    *(f"compositions_{name}" for name in ("vc", "vi", "ic", "ii", "near_valid")),
    *("pn_vc", "ps_vc", "ate_vc"),
}
_OF_PAIRS: Final = {"pairs_valid", "pairs_near_valid"}
_OF_ANSWERED_PAIRS: Final = {
    *(f"accuracy_{name}" for name in ("factual", "do_true", "do_false")),
    "monotonicity_violations",
}
_OWN_COUNTS: Final = {"contexts", "unit_answers", "unit_answers_invalid"}
"""Counts that follow from the exam and the answers, not from the truth."""


def redact(report: dict[str, Any]) -> dict[str, Any]:
    """A copy that keeps the rules of this module."""
    shown = {
        **report,
        "redacted": True,
        **_headline(report, report["census"]["tasks"]),
        "tracks": {name: _track(track) for name, track in report["tracks"].items()},
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


def redact_points(value: Any, tasks: int, width: int = 1) -> Any:
    """Points about so many tasks, in steps of ``width`` tenths of one task, at least 0.1."""
    if isinstance(value, list):
        return [redact_points(item, tasks, width) for item in value]
    if not isinstance(value, (int, float)):
        return value
    step = max(0.1, 100 / (TASK_STEPS * tasks)) * width
    return round(round(value / step) * step, 1)


def _track(track: dict[str, Any]) -> dict[str, Any]:
    readings = {name: redact_reading(reading) for name, reading in track["readings"].items()}
    shown = {
        **_headline(track, track["tasks"]),
        "tasks": track["tasks"],
        "attempted": track["attempted"],
        "metrics": _metrics(track),
        "readings": readings,
        "usage": with_quality(track["usage"], readings),
        "slices": {
            axis: {level: _slice(row) for level, row in levels.items()}
            for axis, levels in track["slices"].items()
            if axis not in _TRUTH_AXES
        },
    }
    if "calibration" in track:
        shown["calibration"] = [_coverage(row) for row in track["calibration"]]
    if "attempts" in track:
        shown["attempts"] = _attempts(track["attempts"])
    return shown


def _metrics(track: Mapping[str, Any]) -> dict[str, Any]:
    """Figures beside the headline: coverage, and the shares of ccr."""
    metrics = track["metrics"]
    simulation = track["slices"].get("family", {}).get("simulation", {})
    pairs = simulation.get("tasks", 0)
    answered = pairs - simulation.get("missing", 0) - simulation.get("invalid", 0)
    valid = sum(row["valid"] for row in track.get("calibration", []))
    shares = (
        ({"coverage"}, valid >= FEWEST),
        (_POINTS, track["tasks"] >= FEWEST_PAIRS),
        (_OF_CONTEXTS, metrics.get("contexts", 0) >= FEWEST),
        (_OF_COMPOSITIONS, metrics.get("compositions", 0) >= FEWEST_PAIRS),
        (_OF_PAIRS, pairs >= FEWEST_PAIRS),
        (_OF_ANSWERED_PAIRS, answered >= FEWEST_PAIRS),
        (_OWN_COUNTS, True),
    )
    return {
        name: redact_points(value, FEWEST_PAIRS) if name in _POINTS else rounded(value, LOSS_DIGITS)
        for names, enough in shares
        if enough
        for name, value in metrics.items()
        if name in names
    }


def redact_reading(reading: Mapping[str, Any]) -> dict[str, Any]:
    """One reading without its counts, and without figures of too few tasks."""
    sizes = [reading[name] for name in ("n_pass", "n_nrel", "n_f1")]
    shown: dict[str, Any] = dict.fromkeys(("n_pass", "n_nrel", "n_f1"))
    for name, pool in _POOL_OF.items():
        shown[name] = redact_loss(reading[name]) if reading[pool] >= FEWEST else None
    whole = any(sizes) and all(size == 0 or size >= FEWEST for size in sizes)
    for name in ("causalds_score", "causalds_score_interval"):
        shown[name] = redact_loss(reading.get(name)) if whole else None
    return shown


def _slice(row: Mapping[str, Any]) -> dict[str, Any]:
    """Counts of answers, and points where the slice is no handful of tasks."""
    shown: dict[str, Any] = {name: row[name] for name in ("tasks", "missing", "invalid")}
    enough = row["tasks"] >= FEWEST
    for name, width in (("points", 1), ("points_interval", SPREAD)):
        shown[name] = redact_points(row.get(name), row["tasks"], width) if enough else None
    if "readings" in row:
        shown["readings"] = {
            name: redact_reading(reading) for name, reading in row["readings"].items()
        }
        fixed = shown["readings"].get("fixed", {})
        shown |= {name: fixed.get(name) for name in ("pass_rate", "med_nrel_err", "med_f1_loss")}
    return shown


def _coverage(row: Mapping[str, Any]) -> dict[str, Any]:
    """Coverage alone: the width of its interval would tell how many targets are identifiable."""
    enough = row["valid"] >= FEWEST
    return {
        "variant": row["variant"],
        "nominal": row["nominal"],
        "tasks": None,
        "valid": None,
        "coverage": rounded(row["coverage"], LOSS_DIGITS) if enough else None,
        "coverage_interval": None,
    }


def _runs(attempts: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The runs with fewer digits, and their spread computed again from those."""
    runs = [
        {
            **run,
            "points": {name: redact_points(v, sizes[name]) for name, v in run["points"].items()},
            "causalds_score": {name: redact_loss(v) for name, v in run["causalds_score"].items()},
        }
        for run in attempts["runs"]
    ]
    return {
        "runs": runs,
        **{
            figure: {
                name: rounded(spread_of([run[figure].get(name) for run in runs]), LOSS_DIGITS)
                for name in attempts[figure]
            }
            for figure in ("points", "causalds_score")
        },
    }


def _attempts(attempts: Mapping[str, Any]) -> dict[str, Any]:
    binary = attempts["binary"]
    enough = binary is not None and binary["tasks"] >= FEWEST
    return {
        "attempts": attempts["attempts"],
        "binary": rounded({**binary, "tasks": None}, LOSS_DIGITS) if enough else None,
        "slices": {
            axis: {
                level: rounded({**row, "tasks": None}, LOSS_DIGITS)
                for level, row in levels.items()
                if row["tasks"] >= FEWEST
            }
            for axis, levels in attempts["slices"].items()
            if axis not in _TRUTH_AXES
        },
        "pools": {
            name: {
                "tasks": None,
                "best": list(_candidates(pool["best"])),
                "worst": list(_candidates(pool["worst"])),
            }
            for name, pool in attempts["pools"].items()
        },
    }


def _candidates(column: Iterable[Mapping[str, Any]]) -> Iterable[dict[str, Any]]:
    for row in column:
        enough = row["valid"] >= FEWEST
        yield {
            "valid": None,
            "median": redact_loss(row["median"]) if enough else None,
            "median_fixed": redact_loss(row["median_fixed"]) if enough else None,
        }


def redact_loss(value: Any) -> Any:
    """A loss up to the cap, to two digits: the median over a pool is one task's loss."""
    if isinstance(value, list):
        return [redact_loss(item) for item in value]
    if not isinstance(value, (int, float)):
        return value
    capped = min(float(value), LOSS_CAP)
    return round(capped, LOSS_DIGITS if capped < 1 else LOSS_DIGITS - 1)


def rounded(value: Any, digits: int) -> Any:
    """``value`` with every float in it rounded."""
    if isinstance(value, dict):
        return {key: rounded(item, digits) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item, digits) for item in value]
    return round(value, digits) if isinstance(value, float) else value
