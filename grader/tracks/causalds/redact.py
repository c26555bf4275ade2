"""What a redacted report or comparison keeps of the losses: figures of enough tasks, capped."""

from collections.abc import Mapping
from typing import Any, Final

from grader.report.coarse import FEWEST, LOSS_DIGITS, TRUTH_AXES, redact_loss, rounded
from grader.tracks.causalds.figures import quality

_POOL_OF: Final = {
    "pass_rate": "n_pass",
    "med_nrel_err": "n_nrel",
    "s_nr": "n_nrel",
    "f1_loss": "n_f1",
    "med_f1_loss": "n_f1",
}


def redact(part: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    """Both readings, of the whole and of its slices, the coverages and what attempts add."""
    readings = {name: redact_reading(reading) for name, reading in part["readings"].items()}
    kept: dict[str, Any] = {
        "readings": readings,
        "usage": {**part["usage"], "tokens_per_quality": quality(part["usage"], readings)},
        "slices": {
            axis: {level: row | _slice(part["slices"][axis][level]) for level, row in rows.items()}
            for axis, rows in shown["slices"].items()
        },
    }
    calibration = part.get("calibration", [])
    metrics = part["metrics"]
    if "coverage" in metrics and sum(row["valid"] for row in calibration) >= FEWEST:
        kept["metrics"] = {"coverage": rounded(metrics["coverage"], LOSS_DIGITS)}
    if "calibration" in part:
        kept["calibration"] = [_coverage(row) for row in calibration]
    if "attempts" in part:
        kept["attempts"] = _attempts(part["attempts"])
    return kept


def _slice(row: Mapping[str, Any]) -> dict[str, Any]:
    """The readings of one slice, and its figures as the fixed one has them."""
    if "readings" not in row:
        return {}
    readings = {name: redact_reading(reading) for name, reading in row["readings"].items()}
    fixed = readings.get("fixed", {})
    figures = {name: fixed.get(name) for name in ("pass_rate", "med_nrel_err", "med_f1_loss")}
    return {"readings": readings, **figures}


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
            if axis not in TRUTH_AXES
        },
        "pools": {
            name: {
                "tasks": None,
                "best": [*map(_candidates, pool["best"])],
                "worst": [*map(_candidates, pool["worst"])],
            }
            for name, pool in attempts["pools"].items()
        },
    }


def _candidates(row: Mapping[str, Any]) -> dict[str, Any]:
    enough = row["valid"] >= FEWEST
    shown = {key: redact_loss(row[key]) if enough else None for key in ("median", "median_fixed")}
    return {"valid": None, **shown}


def redact_comparison(found: Mapping[str, Any]) -> dict[str, Any]:
    """The readings of two submissions and their difference; no pools, which follow the truth."""
    return {"readings": {name: _compared(row) for name, row in found["readings"].items()}}


def _compared(row: Mapping[str, Any]) -> dict[str, Any]:
    first, second = redact_reading(row["first"]), redact_reading(row["second"])
    enough = first["causalds_score"] is not None and second["causalds_score"] is not None
    score = row["causalds_score"]
    return {
        "causalds_score": {
            "first": redact_loss(score["first"]),
            "second": redact_loss(score["second"]),
            **rounded(
                {key: score[key] for key in ("difference", "interval", "detectable")}, LOSS_DIGITS
            ),
        }
        if enough
        else None,
        "first": first,
        "second": second,
    }
