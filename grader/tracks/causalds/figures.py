"""What report, comparison and board say of causalds beyond points: readings, slices, ranks."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, Final

import duckdb

from grader.reports.table import ScoreTable, TrackResults, sql
from grader.scoring.model import Score
from grader.scoring.shape import LOSS_CAP
from grader.statistics import bootstrap
from grader.statistics.bootstrap import REPLICATES, Draws
from grader.statistics.paired import Pairs, difference, lines
from grader.statistics.skill import on_scale
from grader.tracks.causalds.matched import matched
from grader.tracks.causalds.replicates import (
    SLICE_REPLICATES,
    SMALL_EXAM,
    Line,
    Weights,
    interval,
)

Members = dict[str, Any]


def extend(track: Members, results: TrackResults) -> None:
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


def score_by_reading(results: TrackResults) -> dict[str, float | None]:
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


Part = Mapping[str, Any]


def compare(pairs: Pairs, first: Part, second: Part) -> dict[str, Any]:
    """Points by pool, and CausalDSScore in both readings.

    In the paper's reading each submission has pools of its own.
    """
    names = first["readings"].keys() & second["readings"].keys()
    seed = bootstrap.seed_of(a.task_id for a, _ in pairs)
    count = REPLICATES if len(pairs) <= SMALL_EXAM else 0
    weights = Weights.of(Draws.of(sorted({a.instance_id for a, _ in pairs}), seed, count))
    losses = [losses_by_reading([pair[side] for pair in pairs]) for side in (0, 1)]
    readings = {}
    for name in sorted(names):
        both = zip(*(weights.scores(side[name], name) for side in losses), strict=True)
        replicates = [a - b for a, b in both if a is not None and b is not None]
        values = [_plain(part["readings"][name]) for part in (first, second)]
        first_score, second_score = (value["causalds_score"] for value in values)
        readings[name] = {
            "causalds_score": difference(first_score, second_score, replicates),
            "first": values[0],
            "second": values[1],
        }
    return {"pools": lines(pairs, lambda score: score.pool), "readings": readings}


def _plain(reading: Part) -> dict[str, Any]:
    """A reading without the interval of one submission alone."""
    return {name: value for name, value in reading.items() if name != "causalds_score_interval"}


COLUMNS: Final = ("pass_rate", "s_nr", "f1_loss")
"""The columns ranked: the three components of CausalDSScore."""

_Reading = Mapping[str, Any]


def composite_ranks(systems: Sequence[_Reading]) -> list[float | None]:
    """The Composite Rank of each system, 0 best and 1 worst, in the order given.

    Each item holds :data:`COLUMNS` (``None`` where a system has no number). ``None`` for a single
    system, and where no column has a number (``sql/composite_rank.sql``).
    """
    if len(systems) < 2:
        return [None] * len(systems)
    with duckdb.connect(config={"threads": 1, "enable_external_access": "false"}) as connection:
        types = ", ".join(f"{column} DOUBLE" for column in COLUMNS)
        connection.execute(f"CREATE TABLE systems (system INTEGER, {types})")
        for place, reading in enumerate(systems):
            row = [place, *(reading.get(column) for column in COLUMNS)]
            connection.execute("INSERT INTO systems VALUES (?, ?, ?, ?)", row)
        found = dict(connection.execute(sql("causalds/composite_rank")).fetchall())
    return [found.get(place) for place in range(len(systems))]


def leaderboard_ranks(reports: Sequence[Mapping[str, Any]]) -> list[dict[str, float | None]]:
    """Composite Rank of each report by reading; systems that answer no causalds task have none."""
    ranks: list[dict[str, float | None]] = [{} for _ in reports]
    tracks = [report["tracks"].get("causalds", {}) for report in reports]
    places = [place for place, track in enumerate(tracks) if track.get("attempted")]
    for reading in ("fixed", "paper"):
        columns = [tracks[place]["readings"].get(reading, {}) for place in places]
        for place, rank in zip(places, composite_ranks(columns), strict=True):
            ranks[place][reading] = rank
    return ranks


def board_members(reports: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What ``leaderboard --json`` says of each report."""
    return [{"composite_rank": ranks} for ranks in leaderboard_ranks(reports)]


def axis_ranks(
    tracks: Sequence[Mapping[str, Any]], axis: str, reading: str
) -> dict[str, list[float | None]]:
    """Composite Rank inside every level of one axis (Table 14), by level in the tracks' order."""
    slices = [track["slices"].get(axis, {}) for track in tracks]
    levels = dict.fromkeys(level for found in slices for level in found)
    return {
        level: composite_ranks(
            [found.get(level, {}).get("readings", {}).get(reading, {}) for found in slices]
        )
        for level in levels
    }
