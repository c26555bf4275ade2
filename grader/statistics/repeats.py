"""What repeated attempts say: pass@k, pass^k, best and worst of k, run-to-run spread.

Pools follow the truth alone (CausalDS A.11): a target that is not identifiable is a pass/fail task
that only an abstention passes, an identifiable one keeps its own pool, and abstaining from it is
no candidate. Run-to-run spread is of complete exams, each scored like a submission of its own.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from grader.model import Score, Truth
from grader.report.summaries import summaries
from grader.report.table import ScoreTable
from grader.report.usage import usage_means
from grader.shape import LOSS_CAP
from grader.submission.attempts import Attempt


def pass_at_k(attempts: int, passed: int, k: int) -> float:
    """The chance that at least one of k attempts, drawn without replacement, passes.

    1 - C(n - c, k) / C(n, k) (Chen et al., 2021). Raises ``ValueError`` unless 1 <= k <= n and
    0 <= c <= n.
    """
    _refuse_misuse(attempts, passed, k)
    return 1 - math.comb(attempts - passed, k) / math.comb(attempts, k)


def pass_all_k(attempts: int, passed: int, k: int) -> float:
    """The chance that all of k attempts, drawn without replacement, pass: C(c, k) / C(n, k).

    Known as pass^k (Yao et al., 2024). Raises ``ValueError`` like :func:`pass_at_k`.
    """
    _refuse_misuse(attempts, passed, k)
    return math.comb(passed, k) / math.comb(attempts, k)


def _refuse_misuse(attempts: int, passed: int, k: int) -> None:
    if not 1 <= k <= attempts:
        raise ValueError(f"k is {k}, but there are {attempts} attempts")
    if not 0 <= passed <= attempts:
        raise ValueError(f"{passed} of {attempts} attempts passed")


def repeats(attempts: Sequence[Sequence[Score]]) -> dict[str, Any] | None:
    """The causalds figures of a complete grid: every attempt holds a row for every task.

    ``None`` without causalds tasks. Raises ``ValueError`` when the attempts differ in their tasks
    or there is only one.
    """
    if len(attempts) < 2:
        raise ValueError("one attempt does not repeat anything")
    rows = [
        (number, score)
        for number, scores in enumerate(attempts, start=1)
        for score in scores
        if score.track == "causalds"
    ]
    if not rows:
        return None
    grids = {tuple(sorted(score.task_id for score in scores)) for scores in attempts}
    if len(grids) != 1:
        raise ValueError("the attempts are at different tasks")
    count = len(attempts)
    with ScoreTable([score for score in attempts[0] if score.track == "causalds"]) as table:
        _fill(table, rows)
        passes = table.query("attempt_passes")
        losses = table.query("attempt_losses", count)
        spread = table.query("attempt_spread", count)
    return {
        "attempts": count,
        "binary": _binary(passes, count),
        "slices": _slices(passes, count),
        "pools": _pools(losses, spread),
    }


def _fill(table: ScoreTable, rows: Iterable[tuple[int, Score]]) -> None:
    table.connection.execute(
        "CREATE TABLE attempts (attempt INTEGER, task_id VARCHAR, pool VARCHAR, passed BOOLEAN, "
        "valid BOOLEAN, loss DOUBLE, fixed_loss DOUBLE)"
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
            for number, score in rows
        ],
    )


def _is_candidate(score: Score) -> bool:
    """A committed, valid answer to an identifiable target; its loss is uncapped."""
    return score.status == "scored" and not score.abstained and not score.should_abstain


def _binary(passes: Sequence[Mapping[str, Any]], count: int) -> dict[str, Any] | None:
    """The pass/fail pool of the whole exam (Tables 7 and 20); ``None`` where it is empty."""
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
    """pass@k and pass^k for k = 1 … n, averaged over the tasks."""
    return {
        name: [
            math.fsum(estimator(count, row["passed"], k) for row in rows) / len(rows)
            for k in range(1, count + 1)
        ]
        for name, estimator in (("pass_at", pass_at_k), ("pass_all", pass_all_k))
    }


def _slices(passes: Sequence[Mapping[str, Any]], count: int) -> dict[str, dict[str, Any]]:
    """The same by rung, view, input mode and family (Table 21), and due abstentions (Table 22)."""
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
    """Best and worst of the first k (Table 19) and the median run SD (Table 20), by pool."""
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


def add_attempts(
    report: dict[str, Any],
    attempts: Sequence[Attempt],
    grid: Sequence[Sequence[Score]],
    truths: Mapping[str, Truth],
) -> None:
    """Put what several attempts say into ``report``: ``attempts`` and causalds' ``attempts``.

    ``grid`` holds the score rows of each attempt by itself.
    """
    runs = []
    for attempt, scores in zip(attempts, grid, strict=True):
        own = summaries(scores, truths, attempt.checked)
        points = {track: s.points for track, s in own.items() if s.points is not None}
        ids = [score.task_id for score in scores]
        runs.append(
            {
                "attempt": attempt.label,
                **run_figures(scores, points),
                "usage": usage_means(attempt.found.usage, ids),
            }
        )
    report["attempts"] = {
        "runs": runs,
        "points": {
            track: spread_of([run["points"].get(track) for run in runs])
            for track in report["tracks"]
        },
        "causalds_score": {
            reading: spread_of([run["causalds_score"].get(reading) for run in runs])
            for reading in ("fixed", "paper")
        },
    }
    figures = repeats(grid)
    if figures is not None:
        report["tracks"]["causalds"]["attempts"] = figures


def run_figures(scores: Sequence[Score], own_points: Mapping[str, float]) -> dict[str, Any]:
    """Points by track and CausalDSScore by reading of one attempt, as a complete exam.

    ``own_points`` are the headlines of tracks whose headline is no mean of points.
    """
    with ScoreTable(scores) as table:
        points = {row["track"]: row["points"] for row in table.query("tracks")}
        readings = table.query("readings", LOSS_CAP)
    return {
        "points": points | dict(own_points),
        "causalds_score": {row["reading"]: row["causalds_score"] for row in readings},
    }


def spread_of(values: Sequence[float | None]) -> dict[str, Any] | None:
    """Mean, sample SD and SD over mean of complete runs (Table 7); ``None`` if one has no value."""
    present = [value for value in values if value is not None]
    if len(present) < 2 or len(present) != len(values):
        return None
    mean = math.fsum(present) / len(present)
    sd = math.sqrt(math.fsum((v - mean) ** 2 for v in present) / (len(present) - 1))
    return {"runs": present, "mean": mean, "sd": sd, "relative_sd": sd / mean if mean else None}
