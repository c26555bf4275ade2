"""The figures beside the headline, each named once: its SQL and its heading."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

Table = Literal["contexts", "compositions", "pairs", "stated"]


@dataclass(frozen=True, slots=True)
class ContextFigure:
    """One figure: its name in a report, and the aggregate that makes it of a table in
    ``schema.sql``.

    ``label`` heads its column in a table.
    """

    name: str
    table: Table
    sql: str
    label: str = ""


CLASSES: Final = ("VC", "VI", "IC", "II")


def _share(condition: str) -> str:
    return f"avg(CAST({condition} AS DOUBLE))"


def _stated(family: str) -> ContextFigure:
    value = f"100 * avg(points) FILTER (family = '{family}')"
    return ContextFigure(f"points_{family}", "stated", value, family)


def _classes(table: Literal["contexts", "compositions"]) -> tuple[ContextFigure, ...]:
    return tuple(
        ContextFigure(f"{table}_{name.lower()}", table, _share(f"class = '{name}'"), name)
        for name in CLASSES
    )


FIGURES: Final = (
    ContextFigure("points_simulation", "contexts", "100 * avg(share)", "simulation"),
    ContextFigure("points_stated", "stated", "100 * avg(points)"),
    *map(_stated, ("direct", "inductive", "deductive")),
    ContextFigure("contexts", "contexts", "count(*)"),
    ContextFigure("complete_share", "contexts", _share("complete"), "complete"),
    *_classes("contexts"),
    ContextFigure("compositions", "compositions", "count(*)"),
    *_classes("compositions"),
    ContextFigure("compositions_near_valid", "compositions", _share("near_valid")),
    *(
        ContextFigure(f"{name}_vc", "compositions", _share(f"{name}_valid AND {name}_consistent"))
        for name in ("pn", "ps", "ate")
    ),
    ContextFigure("pairs_valid", "pairs", _share("valid"), "pairs valid"),
    ContextFigure("pairs_near_valid", "pairs", _share("near")),
    ContextFigure("median_eta", "pairs", "median(eta)"),
    *(
        ContextFigure(f"accuracy_{rung}", "pairs", f"avg({rung})", f"acc. {rung.replace('_', ' ')}")
        for rung in ("factual", "do_true", "do_false")
    ),
    ContextFigure("monotonicity_violations", "pairs", "avg(violations)", "violations"),
    *(
        ContextFigure(name, "pairs", f"CAST(sum({column}) AS BIGINT)")
        for name, column in (
            ("unit_answers", "answers"),
            ("unit_answers_invalid", "invalid"),
            ("factual_answers_invalid", "unreadable_factual"),
        )
    ),
)

LABELS: Final = {figure.name: figure.label for figure in FIGURES if figure.label}
"""What the figures with a column are called."""


_HEADLINE: Final = (
    ContextFigure("simulated_share", "contexts", "avg(share)"),
    ContextFigure("stated_share", "stated", "avg(points)"),
)


def _aggregates(table: Table) -> str:
    """All that one table comes to, one row: it is read once, however many figures it has."""
    own = [figure for figure in (*_HEADLINE, *FIGURES) if figure.table == table]
    columns = ", ".join(f"{figure.sql} AS {figure.name}" for figure in own)
    return f"{table} AS (SELECT {columns} FROM ccr_{table})"


QUERY: Final = f"""
WITH {", ".join(map(_aggregates, get_args(Table)))}
SELECT
    100 * CASE WHEN simulated_share IS NULL THEN stated_share
               WHEN stated_share IS NULL THEN simulated_share
               ELSE (simulated_share + stated_share) / 2 END AS points,
    {", ".join(figure.name for figure in FIGURES)}
FROM {", ".join(get_args(Table))}
"""
"""The headline and the figures, one row."""
