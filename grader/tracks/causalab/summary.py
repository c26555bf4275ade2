"""What the report says of causalab beyond points: suites with their intervals, and the evidence."""

from typing import Final

from grader.model import TrackSummary
from grader.report.table import Results
from grader.statistics.bootstrap import wilson

PROPORTIONS: Final = (
    ("accuracy", "n_accurate", "tasks"),
    ("exact", "n_exact", "tasks"),
    ("graph_exact", "n_graph_exact", "tasks"),
    ("premature", "n_premature", "n_stopping"),
)
"""Rates of yes-or-no figures with the counts they are made of."""

_HEADLINES: Final = (
    "accuracy", "exact", "edge_precision", "edge_recall", "edge_f1", "edge_f1_full", "skeleton_f1",
    "shd", "freq_edge_f1", "root_f1", "coefficient_f1", "coefficient_f1_reference", "graph_exact",
    "class_size", "budget_share", "premature", "consistent", "n_transcripts", "n_signed",
)  # fmt: skip


def summarise(results: Results) -> TrackSummary:
    """The mean of the tasks' points as headline, with suites beside it.

    The member ``suites`` maps "suite regime" to the figures of ``sql/suites.sql``,
    with Wilson intervals of the yes-or-no ones; the figures over everything join ``metrics``.
    """
    rows = {row.pop("label"): row for row in results.table.query("causalab/suites")}
    for row in rows.values():
        row["intervals"] = {
            name: wilson(row[count] or 0, row[trials]) for name, count, trials in PROPORTIONS
        }
    whole = rows.pop("all")
    metrics = {name: whole[name] for name in _HEADLINES}
    for name, interval in whole["intervals"].items():
        for side, bound in zip(("low", "high"), interval or (None, None), strict=True):
            metrics[f"{name}_{side}"] = bound
    return TrackSummary(None, (), metrics, {"suites": rows})
