"""What the report says of causalds beyond points: readings, slices, calibration, ablations."""

import math
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from grader.model import Score
from grader.report.table import ScoreTable
from grader.shape import LOSS_CAP
from grader.statistics import bootstrap
from grader.statistics.resample import Draws
from grader.tracks.causalds.matched import matched
from grader.tracks.causalds.replicates import (
    SLICE_REPLICATES,
    SMALL_EXAM,
    Line,
    Weights,
    interval,
)

Members = dict[str, Any]


def extend(track: Members, table: ScoreTable, scores: Sequence[Score]) -> None:
    """Fill in ``readings``, the readings of each slice, ``calibration`` and ``matched``."""
    own = [score for score in scores if score.track == "causalds"]
    seed = bootstrap.seed_of(score.task_id for score in own)
    draws = None
    if len(own) <= SMALL_EXAM:
        draws = Weights.of(Draws.of(sorted({score.instance_id for score in own}), seed))
    track["readings"] = _readings(table, draws)
    _slice_readings(track, table)
    if draws is not None:
        _slice_intervals(track, table, draws.first(SLICE_REPLICATES))
    track["calibration"] = _calibration(table, draws)
    if found := matched(table):
        track["matched"] = found


def _readings(table: ScoreTable, draws: Weights | None) -> Members:
    readings = {row.pop("reading"): row for row in table.query("readings", LOSS_CAP)}
    lines = losses_by_reading(table) if draws is not None else {}
    for name, reading in readings.items():
        reading["causalds_score_interval"] = draws and interval(draws.scores(lines[name]))
    return readings


def losses_by_reading(table: ScoreTable) -> dict[str, list[Line]]:
    """What :meth:`grader.tracks.causalds.replicates.Weights.scores` resamples, by reading."""
    lines: dict[str, list[Line]] = {}
    for row in table.query("losses"):
        lines.setdefault(row["reading"], []).append((row["instance_id"], row["pool"], row["loss"]))
    return lines


def _slice_readings(track: Members, table: ScoreTable) -> None:
    for row in table.query("slice_readings", LOSS_CAP):
        level = track["slices"][row.pop("axis")][row.pop("level")]
        level.setdefault("readings", {})[row.pop("reading")] = row


def _slice_intervals(track: Members, table: ScoreTable, draws: Weights) -> None:
    rows = table.query("slice_losses")
    for (axis, level), members in groupby(rows, itemgetter("axis", "level")):
        part = track["slices"][axis][level]
        for reading, losses in groupby(members, itemgetter("reading")):
            column = list(losses)
            if reading == "fixed":  # every task has a row in it, once
                means = draws.means((row["instance_id"], row["points"]) for row in column)
                part["points_interval"] = interval([100 * mean for mean in means])
            if reading in part.get("readings", {}):
                part["readings"][reading]["causalds_score_interval"] = interval(
                    draws.scores((row["instance_id"], row["pool"], row["loss"]) for row in column)
                )


def _calibration(table: ScoreTable, draws: Weights | None) -> list[Members]:
    held = table.query("coverages") if draws is not None else []
    found = []
    for row in table.query("calibration"):
        same = [
            (line["instance_id"], line["coverage"])
            for line in held
            if (line["level"], line["nominal"]) == (row["level"], row["nominal"])
        ]
        row["coverage_interval"] = draws and _coverage_interval(same, draws)
        found.append({"variant": row.pop("level"), **row})
    return found


def _coverage_interval(same: Sequence[tuple[str, float]], draws: Weights) -> list[float] | None:
    """Wilson's interval of single intervals, which hold the truth or not; else the bootstrap's."""
    if not same:
        return None
    if all(coverage in (0.0, 1.0) for _, coverage in same):
        return _wilson(sum(coverage for _, coverage in same), len(same))
    return interval(draws.means(same)) if len(same) > 1 else None


def _wilson(successes: float, trials: int) -> list[float]:
    share, z = successes / trials, 1.959964
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = math.sqrt(share * (1 - share) / trials + z * z / (4 * trials**2)) * z
    half /= 1 + z * z / trials
    return [max(0.0, middle - half), min(1.0, middle + half)]
