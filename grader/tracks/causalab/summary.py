"""What the report says of causalab beyond points: suites with their intervals, and the evidence.

How each figure is summed up stands in ``sql/suites.sql``.
"""

from dataclasses import dataclass
from typing import Final

from grader.model import TrackSummary
from grader.report.table import Results
from grader.statistics.bootstrap import wilson


@dataclass(frozen=True, slots=True)
class SuiteFigure:
    """One figure that is also reported over all suites.

    ``label`` heads its column in the table of suites, which without one it is not in; ``brief``
    ones stand in the terminal too.
    """

    name: str
    label: str = ""
    brief: bool = False


FIGURES: Final = (
    SuiteFigure("accuracy"),
    SuiteFigure("exact", "exact"),
    SuiteFigure("edge_precision"),
    SuiteFigure("edge_recall"),
    SuiteFigure("edge_f1", "edge F1", brief=True),
    SuiteFigure("skeleton_f1", "skeleton F1"),
    SuiteFigure("shd", "SHD ↓", brief=True),
    SuiteFigure("freq_edge_f1", "freq. edge F1"),
    SuiteFigure("coefficient_f1", "coefficient F1", brief=True),
    SuiteFigure("coefficient_f1_reference", "(reference)"),
    SuiteFigure("root_f1", "root F1", brief=True),
    SuiteFigure("graph_exact"),
    SuiteFigure("class_size", "class size"),
    SuiteFigure("budget_share", "budget used", brief=True),
    SuiteFigure("premature", "premature", brief=True),
    SuiteFigure("consistent", "consistent", brief=True),
    *(
        SuiteFigure(f"{name}_{outcome}")
        for name in ("budget_share", "consistent", "premature")
        for outcome in ("accurate", "inaccurate")
    ),
    SuiteFigure("n_transcripts"),
    SuiteFigure("n_signed"),
)

INTERVALS: Final = {
    "accuracy": ("n_accurate", "tasks"),
    "exact": ("n_exact", "tasks"),
    "graph_exact": ("n_graph_exact", "tasks"),
    "premature": ("n_premature", "n_stopping"),
}
"""The counts that a yes-or-no figure is the quotient of: successes and trials."""

LABELS: Final = {figure.name: figure.label for figure in FIGURES if figure.label}
"""What the figures with a column are called."""


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
