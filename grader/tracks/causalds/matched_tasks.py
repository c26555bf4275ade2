"""Matched ablations: one formal problem asked several times, so that only one thing differs.

Tasks of one *bundle* have the same target. In the observation-layer ablation its *arms* are views
of the same scene (CausalDS A.13), in the verbalisation swap they are tellings of the same problem
(A.12). An exam says which tasks belong together in two optional columns of ``<track>_exams``,
``bundle`` and ``arm``; without them, tasks that put the same question to the same scene under
different views are a bundle, and the view is the arm.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import groupby
from operator import add, itemgetter
from typing import Any, Final

from grader.io.jsonio import canonical_json
from grader.reports.table import ScoreTable
from grader.scoring.shape import Task
from grader.statistics.bootstrap import mean_interval

REFERENCE: Final = "clean"
"""The arm that the others are compared with."""
DIAGNOSTIC_CAP: Final = 1.0
"""Cap on the diagnostic loss; what is missing, invalid or wrongly abstained costs it (A.13)."""
NONTRIVIAL: Final = 0.001
LARGE: Final = 0.05
"""Ranges inside a bundle that count as movement, and as a large swing (Table 23)."""
_PAIR: Final = (
    "arm", "bundle", "instance_id", "loss", "reference_loss", "valid", "reference_valid",
    "mark", "reference_mark",
)  # fmt: skip
LISTED: Final = 200
"""Bundles listed one by one in a report."""
_VALIDITY: Final = {
    (True, True): "valid in both",
    (True, False): "valid in the reference only",
    (False, True): "valid in the other only",
    (False, False): "valid in neither",
}
"""What became of a pair, by whether the answers of the reference and of the other arm are valid."""


def bundle(task: Task) -> tuple[str, str] | None:
    """Return a digest of what a task asks of its scene, and the view it asks under; or ``None``.

    Stories are the same under every view, so only tasks with data are matched by themselves.
    """
    if task.input_mode != "data":
        return None
    # The columns describe the data of a view, not the question.
    inputs = {key: value for key, value in task.inputs.items() if key != "columns"}
    text = canonical_json([task.instance_id, task.spec.key, inputs])
    return hashlib.sha256(text.encode()).hexdigest()[:16], task.view


def matched_figures(table: ScoreTable) -> dict[str, Any] | None:
    """Return contrasts, arms, ranges and up to ``LISTED`` pairs of bundles, or None."""
    by_arm = table.query("causalds/matched_arms", DIAGNOSTIC_CAP)
    if not by_arm:
        return None
    pairs = table.query("causalds/matched_pairs", DIAGNOSTIC_CAP, REFERENCE)
    return {
        "arms": by_arm,
        "contrasts": [
            _contrast(arm, list(rows)) for arm, rows in groupby(pairs, itemgetter("arm"))
        ],
        "ranges": _ranges(table.query("causalds/matched_ranges", DIAGNOSTIC_CAP)),
        "pairs": [
            {name: row[name] for name in _PAIR}
            for row in sorted(pairs, key=itemgetter("bundle", "arm"))[:LISTED]
        ],
    }


def _contrast(arm: str, pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return one row of Table 24: paired differences of the capped loss, resampled by scene.

    A difference is that of ``arm`` minus the reference, so that above 0 ``arm`` is worse. Survivors
    are the pairs with a valid answer in both arms. The contributions of ``parts``, by which answers
    are valid, are sums over the number of all pairs: they add up to the mean (Figure 10).
    """
    deltas = [pair["delta"] for pair in pairs]
    survivors = [pair["delta"] for pair in pairs if pair["both_valid"]]
    parts = {name: {"pairs": 0, "contribution": 0.0} for name in _VALIDITY.values()}
    for pair in pairs:
        part = parts[_VALIDITY[pair["reference_valid"], pair["valid"]]]
        part["pairs"] += 1
        part["contribution"] += pair["delta"] / len(pairs)
    return {
        "arm": arm,
        "reference": REFERENCE,
        "pairs": len(pairs),
        "scenes": len({pair["instance_id"] for pair in pairs}),
        "mean": _mean(deltas),
        "sd": _sd(deltas),
        "interval": mean_interval([(pair["instance_id"], pair["delta"]) for pair in pairs]),
        "worse": sum(delta > 0 for delta in deltas),
        "better": sum(delta < 0 for delta in deltas),
        "survivor_pairs": len(survivors),
        "survivor_mean": _mean(survivors) if survivors else None,
        "parts": parts,
    }


def _ranges(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return how far capped losses move in a bundle, how often (Table 23); None without rows."""
    if not rows:
        return None
    widths = [row["range"] for row in rows]
    return {
        "bundles": len(rows),
        "nontrivial": sum(width > NONTRIVIAL for width in widths),
        "large": sum(width > LARGE for width in widths),
        "mean": _mean(widths),
        "max": max(widths),
        "interval": mean_interval([(row["bundle"], row["range"]) for row in rows]),
        "mean_sd": _mean([row["sd"] for row in rows]),
        "listed": [dict(row) for row in rows[:LISTED]],
    }


def _mean(values: Sequence[float]) -> float:
    """Return the mean, added in order: what ``sum`` does with rounding depends on the Python."""
    return reduce(add, values, 0.0) / len(values)


def _sd(values: Sequence[float]) -> float | None:
    """Return the sample standard deviation; ``None`` for a single value."""
    if len(values) < 2:
        return None
    mean = _mean(values)
    squares = reduce(add, [(value - mean) ** 2 for value in values], 0.0)
    return math.sqrt(squares / (len(values) - 1))
