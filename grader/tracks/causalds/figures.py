"""What report, comparison and board say of causalds beyond points: readings, slices, ranks.

And repeated attempts: pass@k, pass^k, best and worst of k, run-to-run spread of the losses. Their
pools follow the truth alone (CausalDS A.11): a target that is not identifiable is a pass/fail task
that only an abstention passes, an identifiable one keeps its own pool, and abstaining from it is
no candidate.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter, itemgetter
from statistics import fmean
from typing import Any, Final

from grader.io import parquet
from grader.reports.table import ScoreTable, TrackResults, sql
from grader.scoring.model import Score
from grader.scoring.shape import LOSS_CAP
from grader.statistics import bootstrap
from grader.statistics.bootstrap import Draws
from grader.statistics.paired_tests import Pairs, compare_by_level, difference
from grader.statistics.skill import on_scale
from grader.tracks.causalds.matched_tasks import matched_figures

SMALL_EXAM: Final = 5_000
"""Exams with more tasks have intervals of points and skill only; others are narrow and slow."""

MEDIANS: Final[Mapping[str, Collection[str]]] = {"paper": ("nrel_point", "f1"), "fixed": ()}
"""The pools of which a reading takes the median; of the others, the mean of the capped losses."""


def extend(track: dict[str, Any], results: TrackResults) -> None:
    """Fill in readings, costs for quality, calibration and ablations of a part, in place."""
    table, own = results.table, results.scores
    draws = None
    if len(own) <= SMALL_EXAM:
        seed = bootstrap.seed_of(score.task_id for score in own)
        draws = bootstrap.draw_instances(sorted({score.instance_id for score in own}), seed)
    track["readings"], slices = {}, []
    for row in table.query("causalds/readings", LOSS_CAP):
        axis, level, name = row.pop("axis"), row.pop("level"), row.pop("reading")
        if axis == "exam":
            del row["mean_nrel_err"]  # a figure of views alone (Table 6)
            track["readings"][name] = row
        else:
            slices.append((axis, level, name, row))
    losses = losses_by_reading(own) if draws is not None else {}
    for name, reading in track["readings"].items():
        reading["causalds_score_interval"] = draws and interval(
            score_replicates(draws, losses[name], name)
        )
    track["usage"]["tokens_per_quality"] = quality(track["usage"], track["readings"])
    if not results.tables:
        return
    for axis, level, name, reading in slices:
        track["slices"][axis][level].setdefault("readings", {})[name] = reading
    for row in table.query("causalds/slice_rates"):
        level = track["slices"][row.pop("axis")][row.pop("level")]
        level.setdefault("rates", {})[row.pop("reading")] = row
    track["composition"] = table.query("causalds/composition")
    if draws is not None and results.slice_intervals:
        _fill_slice_intervals(track, table, draws)
    track["calibration"] = _calibration(table, draws)
    if found := matched_figures(table):
        track["matched"] = found


def losses_by_reading(scores: Sequence[Score]) -> dict[str, list[tuple[str, str, float]]]:
    """Return (instance, pool, loss) of tasks by reading; the paper's drops some tasks."""
    ordered = sorted(scores, key=attrgetter("instance_id", "task_id"))
    return {
        "fixed": [(score.instance_id, score.pool, score.loss) for score in ordered],
        "paper": [
            (score.instance_id, score.paper_pool, score.paper_loss)
            for score in ordered
            if score.paper_pool is not None and score.paper_loss is not None
        ],
    }


def score_replicates(
    draws: Draws, losses: Iterable[tuple[str, str, float]], reading: str
) -> list[float | None]:
    """Return replicates of CausalDSScore (Eq. 4) from (instance, pool, loss) of tasks, one per
    draw; ``None`` where a draw is empty.

    A pool of means adds its sum of losses, a pool of medians as many medians as it has tasks.
    """
    averaged: list[tuple[str, float]] = []
    ranked: dict[str, list[tuple[str, float]]] = {}
    for instance, pool, loss in losses:
        if pool in MEDIANS[reading]:
            ranked.setdefault(pool, []).append((instance, loss))
        else:
            averaged.append((instance, min(loss, LOSS_CAP)))
    total, tasks = draws.sums(averaged), draws.sums([(name, 1) for name, _ in averaged])
    for column in ranked.values():
        median, count = draws.medians(column)
        total, tasks = total + median * count, tasks + count
    pairs = zip(total.tolist(), tasks.tolist(), strict=True)
    return [loss / count if count else None for loss, count in pairs]


def interval(replicates: Iterable[float | None]) -> list[float] | None:
    """Return the central 95% of the replicates present; None unless half of them are."""
    values = list(replicates)
    present = [value for value in values if value is not None]
    if not present or len(present) < len(values) / 2:
        return None
    return bootstrap.percentile_interval(present)


def score_by_reading(results: TrackResults) -> dict[str, float | None]:
    """Return the CausalDSScore of one run by reading."""
    rows = results.table.query("causalds/readings", LOSS_CAP)
    return {row["reading"]: row["causalds_score"] for row in rows if row["axis"] == "exam"}


def quality(
    usage: Mapping[str, Any], readings: Mapping[str, Mapping[str, Any]]
) -> dict[str, float | None]:
    """Return tokens / (1 - CausalDSScore) by reading (Table 18).

    Null where the score is 1 or worse, and where an answered task has no token figure: a total
    that leaves tasks out would make a system look cheap.
    """
    found: dict[str, float | None] = {}
    for name, reading in readings.items():
        score, total = reading["causalds_score"], usage["total_tokens"]
        usable = total is not None and not usage["unmetered"] and score is not None and score < 1
        found[name] = total / (1 - score) if usable else None
    return found


def _fill_slice_intervals(track: dict[str, Any], table: ScoreTable, draws: Draws) -> None:
    """Fill in the intervals of points, skill and CausalDSScore of every slice."""
    rows = table.query("causalds/slice_losses")
    for (axis, level), members in groupby(rows, itemgetter("axis", "level")):
        part = track["slices"][axis][level]
        for reading, losses in groupby(members, itemgetter("reading")):
            column = list(losses)
            if reading == "fixed":  # every task has a row in it, once
                points = _mean_replicates(column, "points", draws)
                part["points_interval"] = interval([100 * mean for mean in points])
                if part.get("skill") is not None:
                    floors = _mean_replicates(column, "floor", draws)
                    pairs = zip(points, floors, strict=True)
                    part["skill_interval"] = interval(
                        [on_scale(100 * mean, 100 * floor) for mean, floor in pairs]
                    )
            if reading in part.get("readings", {}):
                of_slice = [(row["instance_id"], row["pool"], row["loss"]) for row in column]
                part["readings"][reading]["causalds_score_interval"] = interval(
                    score_replicates(draws, of_slice, reading)
                )


def _mean_replicates(column: Sequence[Mapping[str, Any]], member: str, draws: Draws) -> list[float]:
    """Return bootstrap replicates of the mean of a member of rows by ``instance_id``."""
    return draws.means(
        bootstrap.sum_by_instance((row["instance_id"], row[member]) for row in column)
    )


def _calibration(table: ScoreTable, draws: Draws | None) -> list[dict[str, Any]]:
    """Return a row a variant: coverage, its 95% interval (None without draws), width (Table 6).

    The interval is Wilson's where every interval holds the truth or does not, as those of effects
    do. Else it is the bootstrap's, which needs two tasks.
    """
    held = table.query("causalds/coverages") if draws is not None else []
    found = []
    for row in table.query("causalds/calibration"):
        key = row["level"], row["nominal"]
        same = [line for line in held if (line["level"], line["nominal"]) == key]
        coverages, ends = [line["coverage"] for line in same], None
        if draws is not None and set(coverages) <= {0.0, 1.0}:
            ends = bootstrap.wilson(sum(coverages), len(coverages))
        elif draws is not None and len(same) > 1:
            ends = interval(_mean_replicates(same, "coverage", draws))
        found.append({"variant": row.pop("level"), **row, "coverage_interval": ends})
    return found


def compare(pairs: Pairs, first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return the comparison of points by pool, and of CausalDSScore in both readings.

    ``first`` and ``second`` are the causalds parts of two reports. Differences are first minus
    second. In the paper's reading each submission has pools of its own.
    """
    names = first["readings"].keys() & second["readings"].keys()
    seed = bootstrap.seed_of(a.task_id for a, _ in pairs)
    count = bootstrap.REPLICATES if len(pairs) <= SMALL_EXAM else 0
    draws = bootstrap.draw_instances(sorted({a.instance_id for a, _ in pairs}), seed, count)
    losses = [losses_by_reading([pair[side] for pair in pairs]) for side in (0, 1)]
    readings = {}
    for name in sorted(names):
        both = zip(*(score_replicates(draws, side[name], name) for side in losses), strict=True)
        replicates = [a - b for a, b in both if a is not None and b is not None]
        plain = [dict(part["readings"][name]) for part in (first, second)]
        for reading in plain:
            reading.pop("causalds_score_interval", None)  # it is of one submission alone
        ours, theirs = (reading["causalds_score"] for reading in plain)
        readings[name] = {
            "causalds_score": difference(ours, theirs, replicates),
            "first": plain[0],
            "second": plain[1],
        }
    return {"pools": compare_by_level(pairs, lambda score: score.pool), "readings": readings}


COLUMNS: Final = ("pass_rate", "s_nr", "f1_loss")
"""The columns ranked: the three components of CausalDSScore."""


def composite_ranks(systems: Sequence[Mapping[str, Any]]) -> list[float | None]:
    """Return the Composite Rank of each system, 0 best and 1 worst, in the order given.

    Each item holds :data:`COLUMNS` (``None`` where a system has no number). ``None`` for a single
    system, and where no column has a number (``sql/composite_rank.sql``).
    """
    if len(systems) < 2:
        return [None] * len(systems)
    with parquet.connect(closed=True) as connection:
        types = ", ".join(f"{column} DOUBLE" for column in COLUMNS)
        connection.execute(f"CREATE TEMP TABLE systems (system INTEGER, {types})")
        for place, reading in enumerate(systems):
            row = [place, *(reading.get(column) for column in COLUMNS)]
            connection.execute("INSERT INTO systems VALUES (?, ?, ?, ?)", row)
        found = dict(connection.execute(sql("causalds/composite_rank")).fetchall())
    return [found.get(place) for place in range(len(systems))]


def leaderboard_ranks(reports: Sequence[Mapping[str, Any]]) -> list[dict[str, float | None]]:
    """Return each report's Composite Rank by reading; {} if it answers no causalds task."""
    ranks: list[dict[str, float | None]] = [{} for _ in reports]
    tracks = [report["tracks"].get("causalds", {}) for report in reports]
    places = [place for place, track in enumerate(tracks) if track.get("attempted")]
    for reading in ("fixed", "paper"):
        columns = [tracks[place]["readings"].get(reading, {}) for place in places]
        for place, rank in zip(places, composite_ranks(columns), strict=True):
            ranks[place][reading] = rank
    return ranks


def axis_ranks(
    tracks: Sequence[Mapping[str, Any]], axis: str, reading: str
) -> dict[str, list[float | None]]:
    """Return Composite Ranks in each level of an axis, in the order of ``tracks`` (Table 14)."""
    slices = [track["slices"].get(axis, {}) for track in tracks]
    levels = dict.fromkeys(level for found in slices for level in found)
    return {
        level: composite_ranks(
            [found.get(level, {}).get("readings", {}).get(reading, {}) for found in slices]
        )
        for level in levels
    }


def pass_at_k(attempts: int, passed: int, k: int) -> float:
    """Return the chance that at least one of k attempts, drawn without replacement, passes.

    With n ``attempts`` of which c ``passed``: 1 - C(n - c, k) / C(n, k) (Chen et al., 2021). Raises
    ``ValueError`` unless 1 <= k <= n and 0 <= c <= n.
    """
    _refuse_misuse(attempts, passed, k)
    return 1 - math.comb(attempts - passed, k) / math.comb(attempts, k)


def pass_all_k(attempts: int, passed: int, k: int) -> float:
    """Return pass^k = C(c, k) / C(n, k), that k drawn attempts all pass (Yao et al., 2024)."""
    _refuse_misuse(attempts, passed, k)
    return math.comb(passed, k) / math.comb(attempts, k)


def _refuse_misuse(attempts: int, passed: int, k: int) -> None:
    if not 1 <= k <= attempts:
        raise ValueError(f"k is {k}, but there are {attempts} attempts")
    if not 0 <= passed <= attempts:
        raise ValueError(f"{passed} of {attempts} attempts passed")


def repeats(attempts: Sequence[Sequence[Score]]) -> dict[str, Any]:
    """Return the figures of repeated attempts: ``attempts`` (their number), ``binary``, ``slices``
    and ``pools``. There are at least two, each with a score row for every task."""
    count = len(attempts)
    with ScoreTable(attempts[0]) as table:
        _fill_attempts(table, attempts)
        passes = table.query("causalds/attempt_passes")
        losses = table.query("causalds/attempt_losses", count)
        spread = table.query("causalds/attempt_spread", count)
    grouped = {key: list(rows) for key, rows in groupby(passes, itemgetter("axis", "level"))}
    exam = grouped.pop(("exam", ""), [])
    slices: dict[str, dict[str, Any]] = {}  # Tables 21 and 22
    for (axis, level), rows in grouped.items():
        figures = {"tasks": len(rows), **_estimates(rows, count)}
        slices.setdefault(axis, {})[level] = figures
    binary = _binary(exam, count) if exam else None
    pools = _pools(losses, spread)
    return {"attempts": count, "binary": binary, "slices": slices, "pools": pools}


def _fill_attempts(table: ScoreTable, attempts: Sequence[Sequence[Score]]) -> None:
    """Create and fill the table ``attempts``: a row for each attempt, from 1, and task.

    ``valid``: a committed, valid answer to an identifiable target. ``loss`` is the paper's,
    ``fixed_loss`` the fixed reading's.
    """
    table.connection.execute(
        "CREATE TEMP TABLE attempts (attempt INTEGER, task_id VARCHAR, pool VARCHAR, "
        "passed BOOLEAN, valid BOOLEAN, loss DOUBLE, fixed_loss DOUBLE)"
    )
    rows = []
    for number, scores in enumerate(attempts, start=1):
        for one in scores:
            valid = one.status == "scored" and not one.abstained and not one.should_abstain
            passed, losses = one.loss == 0, (one.paper_loss, one.loss)
            rows.append((number, one.task_id, one.pool, passed, valid, *losses))
    columns = ("attempt", "task_id", "pool", "passed", "valid", "loss", "fixed_loss")
    table.fill("attempts", columns, rows)


def _binary(rows: Sequence[Mapping[str, Any]], count: int) -> dict[str, Any]:
    """Return figures of the pass/fail pool of the whole exam (Tables 7 and 20), as shares.

    Lists are by k = 1 to ``count``. ``unstable`` tasks pass in some attempts and fail in others.
    """
    tasks = len(rows)
    firsts = [row["first_passed"] for row in rows if row["first_passed"] is not None]
    return {
        "tasks": tasks,
        **_estimates(rows, count),
        "pass_at_first": [sum(one <= k for one in firsts) / tasks for k in range(1, count + 1)],
        "unstable": sum(0 < row["passed"] < count for row in rows) / tasks,
        "stable_fail": sum(row["passed"] == 0 for row in rows) / tasks,
        "mean_success": sum(row["passed"] for row in rows) / (tasks * count),
    }


def _estimates(rows: Sequence[Mapping[str, Any]], count: int) -> dict[str, list[float]]:
    """Return pass@k and pass^k averaged over the tasks, each a list by k = 1 to ``count``."""
    return {
        name: [
            fmean(estimator(count, row["passed"], k) for row in rows) for k in range(1, count + 1)
        ]
        for name, estimator in (("pass_at", pass_at_k), ("pass_all", pass_all_k))
    }


def _pools(
    losses: Sequence[Mapping[str, Any]], spread: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return best and worst of the first k (Table 19) and the median run SD (Table 20), by pool.

    ``best`` and ``worst`` are lists by k of a median loss over tasks, the number of tasks it is
    over, and the median in the fixed reading.
    """
    found: dict[str, Any] = {}
    for row in losses:
        pool = found.setdefault(row["pool"], {"tasks": row["tasks"], "best": [], "worst": []})
        for side in ("best", "worst"):
            valid, fixed = row[f"{side}_valid"], row[f"{side}_fixed"]
            pool[side].append({"median": row[side], "valid": valid, "median_fixed": fixed})
    for row in spread:
        found[row["pool"]] |= {"run_sd": row["run_sd"], "run_sd_tasks": row["tasks"]}
    return found
