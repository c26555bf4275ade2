"""Repeated attempts: pass@k, pass^k, best and worst of k, run-to-run spread of the losses.

Pools follow the truth alone (CausalDS A.11): a target that is not identifiable is a pass/fail task
that only an abstention passes, an identifiable one keeps its own pool, and abstaining from it is
no candidate.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from statistics import fmean
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
