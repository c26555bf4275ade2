"""What the report says of causalab beyond points: suites with their intervals, and the evidence."""

from grader.model import TrackSummary
from grader.report.table import Results
from grader.statistics.bootstrap import wilson
from grader.tracks.causalab.figures import FIGURES, INTERVALS


def summarise(results: Results) -> TrackSummary:
    """The mean of the tasks' points as headline, with suites beside it.

    The member ``suites`` maps "suite regime" to its figures, with Wilson intervals of the yes-or-no
    ones; some of the figures over everything join ``metrics``.
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
    metrics = {figure.name: whole[figure.name] for figure in FIGURES}
    for name, interval in whole["intervals"].items():
        for side, bound in zip(("low", "high"), interval or (None, None), strict=True):
            metrics[f"{name}_{side}"] = bound
    return TrackSummary(None, (), metrics, {"suites": rows})
