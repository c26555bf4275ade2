"""causalab: discovery by experiment in a laboratory, graded from transcripts that replay."""

from typing import Final

from grader.reports.table import TrackResults
from grader.scoring.model import TrackSummary
from grader.scoring.track import Track, TrackPages
from grader.statistics.bootstrap import wilson
from grader.tracks.causalab.shapes import CAUSALAB

FIGURES: Final = (
    "accuracy", "exact", "edge_precision", "edge_recall", "edge_f1", "skeleton_f1", "shd",
    "freq_edge_f1", "coefficient_f1", "coefficient_f1_reference", "root_f1", "graph_exact",
    "class_size", "budget_share", "premature", "consistent", "budget_share_accurate",
    "budget_share_inaccurate", "consistent_accurate", "consistent_inaccurate",
    "premature_accurate", "premature_inaccurate", "n_transcripts", "n_signed",
)  # fmt: skip
"""The figures of a suite that a report has of all suites, too."""

INTERVALS: Final = {
    "accuracy": ("n_accurate", "tasks"),
    "exact": ("n_exact", "tasks"),
    "graph_exact": ("n_graph_exact", "tasks"),
    "premature": ("n_premature", "n_stopping"),
}
"""The counts that a yes-or-no figure is the quotient of: successes and trials."""


def summarise(results: TrackResults) -> TrackSummary:
    """Return the figures of suites; the headline stays the mean of the tasks' points.

    The member ``suites`` maps "suite regime" to its figures, with 95% Wilson intervals of the
    yes-or-no ones. ``FIGURES`` over everything join ``metrics``, with ``_low`` and ``_high`` ends
    of intervals.
    """
    if not results.tables:
        return TrackSummary(None, (), {}, {})
    rows = {row.pop("label"): row for row in results.table.query("causalab/suites")}
    for row in rows.values():
        row["intervals"] = {
            name: wilson(row[successes] or 0, row[trials])
            for name, (successes, trials) in INTERVALS.items()
        }
    whole = rows.pop("all")
    metrics = {name: whole[name] for name in FIGURES}
    for name, interval in whole["intervals"].items():
        for side, bound in zip(("low", "high"), interval or (None, None), strict=True):
            metrics[f"{name}_{side}"] = bound
    return TrackSummary(None, (), metrics, {"suites": rows})


def _pages() -> TrackPages:
    from grader.tracks.causalab.tables import PAGES

    return PAGES


TRACK: Final = Track(
    name="causalab",
    variants=CAUSALAB,
    summarise=summarise,
    pages=_pages,
)
