"""Repeated attempts: pass@k, pass^k, best and worst of k, run-to-run spread of the losses.

Pools follow the truth alone (CausalDS A.11): a target that is not identifiable is a pass/fail task
that only an abstention passes, an identifiable one keeps its own pool, and abstaining from it is
no candidate.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from grader.reports.table import ScoreTable
from grader.scoring.model import Score


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
    """Raise ``ValueError`` unless 1 <= k <= attempts and 0 <= passed <= attempts."""
    if not 1 <= k <= attempts:
        raise ValueError(f"k is {k}, but there are {attempts} attempts")
    if not 0 <= passed <= attempts:
        raise ValueError(f"{passed} of {attempts} attempts passed")


def repeats(attempts: Sequence[Sequence[Score]]) -> dict[str, Any]:
    """Return the figures of repeated attempts: ``attempts`` (their number), ``binary``, ``slices``
    and ``pools``.

    There are at least two, each with a score row for every task.
    """
    count = len(attempts)
    with ScoreTable(attempts[0]) as table:
        _fill_attempts(table, attempts)
        passes = table.query("causalds/attempt_passes")
        losses = table.query("causalds/attempt_losses", count)
        spread = table.query("causalds/attempt_spread", count)
    return {
        "attempts": count,
        "binary": _binary(passes, count),
        "slices": _slices(passes, count),
        "pools": _pools(losses, spread),
    }


def _fill_attempts(table: ScoreTable, attempts: Sequence[Sequence[Score]]) -> None:
    """Create the table ``attempts`` and fill it with a row for each attempt, from 1, and task.

    ``loss`` is the paper's, NULL where the answer is no candidate. ``fixed_loss`` is the fixed
    reading's.
    """
    table.connection.execute(
        "CREATE TEMP TABLE attempts (attempt INTEGER, task_id VARCHAR, pool VARCHAR, "
        "passed BOOLEAN, valid BOOLEAN, loss DOUBLE, fixed_loss DOUBLE)"
    )
    table.fill(
        "attempts",
        ("attempt", "task_id", "pool", "passed", "valid", "loss", "fixed_loss"),
        [
            (
                number,
                score.task_id,
                score.pool,
                score.loss == 0,
                _is_candidate(score),
                score.paper_loss if _is_candidate(score) else None,
                score.loss,
            )
            for number, scores in enumerate(attempts, start=1)
            for score in scores
        ],
    )


def _is_candidate(score: Score) -> bool:
    """Return whether a row is of a committed, valid answer to an identifiable target."""
    return score.status == "scored" and not score.abstained and not score.should_abstain


def _binary(passes: Sequence[Mapping[str, Any]], count: int) -> dict[str, Any] | None:
    """Return figures of the pass/fail pool of the whole exam (Tables 7 and 20); ``None`` where it
    is empty. All but ``tasks`` are shares, 0 to 1.

    Lists are by k = 1 to ``count``. ``unstable`` tasks pass in some attempts and fail in others.
    """
    rows = [row for row in passes if row["axis"] == "exam"]
    if not rows:
        return None
    tasks = len(rows)
    return {
        "tasks": tasks,
        **_estimates(rows, count),
        "pass_at_first": [
            sum(row["first_passed"] is not None and row["first_passed"] <= k for row in rows)
            / tasks
            for k in range(1, count + 1)
        ],
        "unstable": sum(0 < row["passed"] < count for row in rows) / tasks,
        "stable_fail": sum(row["passed"] == 0 for row in rows) / tasks,
        "mean_success": sum(row["passed"] for row in rows) / (tasks * count),
    }


def _estimates(rows: Sequence[Mapping[str, Any]], count: int) -> dict[str, list[float]]:
    """Return pass@k and pass^k averaged over the tasks, each a list by k = 1 to ``count``."""
    return {
        name: [
            math.fsum(estimator(count, row["passed"], k) for row in rows) / len(rows)
            for k in range(1, count + 1)
        ]
        for name, estimator in (("pass_at", pass_at_k), ("pass_all", pass_all_k))
    }


def _slices(passes: Sequence[Mapping[str, Any]], count: int) -> dict[str, dict[str, Any]]:
    """Return ``tasks``, ``pass_at`` and ``pass_all`` by axis and level (Tables 21 and 22)."""
    grouped: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for row in passes:
        if row["axis"] != "exam":
            grouped.setdefault(row["axis"], {}).setdefault(row["level"], []).append(row)
    return {
        axis: {
            level: {"tasks": len(rows), **_estimates(rows, count)} for level, rows in levels.items()
        }
        for axis, levels in grouped.items()
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
            pool[side].append(
                {
                    "median": row[side],
                    "valid": row[f"{side}_valid"],
                    "median_fixed": row[f"{side}_fixed"],
                }
            )
    for row in spread:
        found[row["pool"]] |= {"run_sd": row["run_sd"], "run_sd_tasks": row["tasks"]}
    return found
