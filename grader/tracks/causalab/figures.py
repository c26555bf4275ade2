"""The figures of a suite, each named once: how it is summed up, what it is called, where it stands.

Every rate has the same denominator, all tasks of the suite: a missing or invalid answer counts as
an empty hypothesis and no prediction (rates 0, SHD the number of true edges). What only a session
can show (diagnostics) is averaged over those that show it, with its count beside it.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class SuiteFigure:
    """One figure: its name in a report, and the SQL that makes it of a suite's score rows.

    ``label`` heads its column in the table of suites, which without one it is not in; ``brief``
    ones stand in the terminal too. A ``metric`` is also reported over all suites. ``successes``
    and ``trials`` are the counts that a yes-or-no figure is the quotient of.
    """

    name: str
    sql: str
    label: str = ""
    brief: bool = False
    metric: bool = False
    successes: str = ""
    trials: str = ""


def _of(key: str) -> str:
    """A figure of the score row, where it has it."""
    return f"CAST(e->>'$.{key}' AS DOUBLE)"


def _rated(key: str) -> str:
    """The figure, 0 where the score row has it not."""
    return f"coalesce({_of(key)}, 0)"


def _rate(key: str) -> str:
    """The mean over all tasks."""
    return f"avg({_rated(key)})"


def _mean(key: str, accurate: int | None = None) -> str:
    """The mean over the tasks that have the figure; of the accurate (1) or the others (0) alone."""
    chosen = "" if accurate is None else f" FILTER ({_rated('accurate')} = {accurate})"
    return f"avg({_of(key)}){chosen}"


def _whole(figure: str) -> str:
    """The sum of marks that are 0 or 1."""
    return f"CAST(sum({figure}) AS INTEGER)"


FIGURES: Final = (
    SuiteFigure("nodes", "min(CAST(e->>'$.nodes' AS INTEGER))"),
    SuiteFigure("setting", "min(CAST(e->>'$.setting' AS INTEGER))"),
    SuiteFigure("tasks", "count(*)"),
    SuiteFigure("answered", "count(*) FILTER (status = 'scored')"),
    SuiteFigure("points", "100 * avg(points)"),
    SuiteFigure("accuracy", _rate("accurate"), metric=True, successes="n_accurate", trials="tasks"),
    SuiteFigure("n_accurate", _whole(_rated("accurate"))),
    SuiteFigure("exact", _rate("exact"), "exact", metric=True, successes="n_exact", trials="tasks"),
    SuiteFigure("n_exact", _whole(_rated("exact"))),
    SuiteFigure("edge_precision", _rate("edge_precision"), metric=True),
    SuiteFigure("edge_recall", _rate("edge_recall"), metric=True),
    SuiteFigure("edge_f1", _rate("edge_f1"), "edge F1", brief=True, metric=True),
    SuiteFigure("edge_f1_full", _rate("edge_f1_full"), "all pairs", metric=True),
    SuiteFigure("skeleton_f1", _rate("skeleton_f1"), "skeleton F1", metric=True),
    SuiteFigure(
        "shd", f"avg(coalesce({_of('shd')}, {_of('true_edges')}))", "SHD ↓", brief=True, metric=True
    ),
    SuiteFigure("freq_edge_f1", _rate("freq_edge_f1"), "freq. edge F1", metric=True),
    SuiteFigure(
        "coefficient_f1", _rate("coefficient_f1"), "coefficient F1", brief=True, metric=True
    ),
    SuiteFigure(
        "coefficient_f1_reference", _rate("coefficient_f1_reference"), "(reference)", metric=True
    ),
    SuiteFigure("root_f1", _rate("root_f1"), "root F1", brief=True, metric=True),
    SuiteFigure(
        "graph_exact",
        _rate("graph_exact"),
        metric=True,
        successes="n_graph_exact",
        trials="tasks",
    ),
    SuiteFigure("n_graph_exact", _whole(_rated("graph_exact"))),
    SuiteFigure("base_error", _mean("base_error")),
    SuiteFigure("n_base", f"count({_of('base_error')})"),
    SuiteFigure("undecided_pairs", f"sum({_of('undecided_pairs')})"),
    SuiteFigure("undecided_right", f"sum({_of('undecided_right')})"),
    SuiteFigure("class_size", _mean("class_size"), "class size", metric=True),
    SuiteFigure("n_class_size", f"count({_of('class_size')})"),
    SuiteFigure("budget_share", _mean("budget_share"), "budget used", brief=True, metric=True),
    SuiteFigure("budget_share_accurate", _mean("budget_share", accurate=1)),
    SuiteFigure("budget_share_inaccurate", _mean("budget_share", accurate=0)),
    SuiteFigure("used", _mean("used")),
    SuiteFigure("graph_step", _mean("graph_step")),
    SuiteFigure("n_graph_identified", f"count({_of('graph_step')})"),
    SuiteFigure("equation_step", _mean("equation_step")),
    SuiteFigure("n_equation_identified", f"count({_of('equation_step')})"),
    SuiteFigure("steps_after", _mean("steps_after")),
    SuiteFigure(
        "premature",
        _mean("premature"),
        "premature",
        brief=True,
        metric=True,
        successes="n_premature",
        trials="n_stopping",
    ),
    SuiteFigure("n_premature", _whole(_of("premature"))),
    SuiteFigure("n_stopping", f"count({_of('premature')})"),
    SuiteFigure("consistent", _mean("consistent"), "consistent", brief=True, metric=True),
    SuiteFigure("consistent_accurate", _mean("consistent", accurate=1)),
    SuiteFigure("consistent_inaccurate", _mean("consistent", accurate=0)),
    SuiteFigure("consistency", _mean("consistency")),
    SuiteFigure("parse_failures", f"sum({_of('parse_failures')})"),
    SuiteFigure("n_transcripts", _whole(_of("transcript")), metric=True),
    SuiteFigure("n_signed", _whole(_of("signed")), metric=True),
    *(
        SuiteFigure(f"{key}_at_{share}", _rate(f"{key}_at_{share}"))
        for key in ("edge_f1", "coefficient_f1")
        for share in (0, 25, 50, 75)
    ),
)

LABELS: Final = {figure.name: figure.label for figure in FIGURES if figure.label}
"""What the figures with a column are called."""

QUERY: Final = f"""
WITH marks AS (
    SELECT structure || ' ' || view AS label, status, points, CAST(extra_json AS JSON) AS e
    FROM scores WHERE track = 'causalab'
)
SELECT label, {", ".join(f"{figure.sql} AS {figure.name}" for figure in FIGURES)}
FROM (SELECT * FROM marks UNION ALL SELECT * REPLACE ('all' AS label) FROM marks)
GROUP BY label
ORDER BY label = 'all', label
"""
"""One row for each suite and regime, and a last one over everything (label "all")."""
