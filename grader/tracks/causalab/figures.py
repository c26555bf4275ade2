"""The figures of a suite that a report names beyond its rows: over everything, and in tables.

How each is summed up stands in ``sql/suites.sql``.
"""

from dataclasses import dataclass
from typing import Final


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
