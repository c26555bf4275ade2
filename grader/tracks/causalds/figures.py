"""What the report says of causalds beyond points: readings, slices, calibration, ablations."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

from grader.model import Score
from grader.report.skill import on_scale
from grader.report.table import Results, ScoreTable
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


def extend(track: Members, results: Results) -> None:
    """Fill in readings, also those of each slice, costs for quality, calibration and ablations."""
    table, own = results.table, results.scores
    seed = bootstrap.seed_of(score.task_id for score in own)
    draws = None
    if len(own) <= SMALL_EXAM:
        draws = Weights.of(Draws.of(sorted({score.instance_id for score in own}), seed))
    track["readings"] = _readings(table, own, draws)
    track["usage"]["tokens_per_quality"] = quality(track["usage"], track["readings"])
    if not results.tables:
        return
    _slice_readings(track, table)
    _slice_rates(track, table)
    track["composition"] = table.query("causalds/composition")
    if draws is not None and results.slice_intervals:
        _slice_intervals(track, table, draws.first(SLICE_REPLICATES))
    track["calibration"] = _calibration(table, draws)
    if found := matched(table):
        track["matched"] = found


def _readings(table: ScoreTable, scores: Sequence[Score], draws: Weights | None) -> Members:
    readings = {row.pop("reading"): row for row in table.query("causalds/readings", LOSS_CAP)}
    lines = losses_by_reading(scores) if draws is not None else {}
    for name, reading in readings.items():
        reading["causalds_score_interval"] = draws and interval(draws.scores(lines[name], name))
    return readings


def losses_by_reading(scores: Sequence[Score]) -> dict[str, list[Line]]:
    """What :meth:`grader.tracks.causalds.replicates.Weights.scores` resamples, by reading."""
    ordered = sorted(scores, key=attrgetter("instance_id", "task_id"))
    return {
        "fixed": [(score.instance_id, score.pool, score.loss) for score in ordered],
        "paper": [
            (score.instance_id, score.paper_pool, score.paper_loss)
            for score in ordered
            if score.paper_pool is not None and score.paper_loss is not None
        ],
    }


def score_by_reading(results: Results) -> dict[str, float | None]:
    """CausalDSScore of one run in both readings."""
    rows = results.table.query("causalds/readings", LOSS_CAP)
    return {row["reading"]: row["causalds_score"] for row in rows}


def quality(
    usage: Mapping[str, Any], readings: Mapping[str, Mapping[str, Any]]
) -> dict[str, float | None]:
    """Tokens / (1 - CausalDSScore) by reading (Table 18).

    Null where the score is 1 or worse, and where an answered task has no token figure: a total
    that leaves tasks out would make a system look cheap.
    """
    found: dict[str, float | None] = {}
    for name, reading in readings.items():
        score, total = reading["causalds_score"], usage["total_tokens"]
        usable = total is not None and not usage["unmetered"] and score is not None and score < 1
        found[name] = total / (1 - score) if usable else None
    return found


def _slice_readings(track: Members, table: ScoreTable) -> None:
    for row in table.query("causalds/slice_readings", LOSS_CAP):
        level = track["slices"][row.pop("axis")][row.pop("level")]
        level.setdefault("readings", {})[row.pop("reading")] = row


def _slice_rates(track: Members, table: ScoreTable) -> None:
    for row in table.query("causalds/slice_rates"):
        level = track["slices"][row.pop("axis")][row.pop("level")]
        level.setdefault("rates", {})[row.pop("reading")] = row


def _slice_intervals(track: Members, table: ScoreTable, draws: Weights) -> None:
    rows = table.query("causalds/slice_losses")
    for (axis, level), members in groupby(rows, itemgetter("axis", "level")):
        part = track["slices"][axis][level]
        for reading, losses in groupby(members, itemgetter("reading")):
            column = list(losses)
            if reading == "fixed":  # every task has a row in it, once
                means = draws.means((row["instance_id"], row["points"]) for row in column)
                part["points_interval"] = interval([100 * mean for mean in means])
                if part.get("skill") is not None:
                    part["skill_interval"] = interval(_skills(column, draws))
            if reading in part.get("readings", {}):
                part["readings"][reading]["causalds_score_interval"] = interval(
                    draws.scores(
                        ((row["instance_id"], row["pool"], row["loss"]) for row in column), reading
                    )
                )


def _skills(column: Sequence[Mapping[str, Any]], draws: Weights) -> list[float | None]:
    """Replicates of a slice's skill; none where a draw has no room above the floor."""
    points, floors = (
        draws.means((row["instance_id"], row[name]) for row in column)
        for name in ("points", "floor")
    )
    return [on_scale(100 * own, 100 * floor) for own, floor in zip(points, floors, strict=True)]


def _calibration(table: ScoreTable, draws: Weights | None) -> list[Members]:
    held = table.query("causalds/coverages") if draws is not None else []
    found = []
    for row in table.query("causalds/calibration"):
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
        return bootstrap.wilson(sum(coverage for _, coverage in same), len(same))
    return interval(draws.means(same)) if len(same) > 1 else None
