"""The figures beside the headline, each named once: its SQL and its heading."""

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class ContextFigure:
    """One figure: its name in a report, and the SQL that makes it of the tables in ``schema.sql``.

    ``label`` heads its column in a table.
    """

    name: str
    sql: str
    label: str = ""


CLASSES: Final = ("VC", "VI", "IC", "II")


def _mean(value: str, table: str, where: str = "") -> str:
    return f"(SELECT avg({value}) FROM ccr_{table}{where and f' WHERE {where}'})"


def _share(condition: str, table: str) -> str:
    return _mean(f"CAST({condition} AS DOUBLE)", table)


def _stated(family: str) -> str:
    return "100 * " + _mean("points", "stated", f"family = '{family}'")


def _classes(table: Literal["contexts", "compositions"]) -> tuple[ContextFigure, ...]:
    return tuple(
        ContextFigure(f"{table}_{name.lower()}", _share(f"class = '{name}'", table), name)
        for name in CLASSES
    )


FIGURES: Final = (
    ContextFigure("points_simulation", "100 * " + _mean("share", "contexts"), "simulation"),
    ContextFigure("points_stated", "100 * " + _mean("points", "stated")),
    ContextFigure("points_direct", _stated("direct"), "direct"),
    ContextFigure("points_deductive", _stated("deductive"), "deductive"),
    ContextFigure("points_frontier", _stated("frontier"), "frontier"),
    ContextFigure("contexts", "(SELECT count(*) FROM ccr_contexts)"),
    ContextFigure("complete_share", _share("complete", "contexts"), "complete"),
    *_classes("contexts"),
    ContextFigure("compositions", "(SELECT count(*) FROM ccr_compositions)"),
    *_classes("compositions"),
    ContextFigure("compositions_near_valid", _share("near_valid", "compositions")),
    *(
        ContextFigure(
            f"{name}_vc", _share(f"{name}_valid AND {name}_consistent", "compositions")
        )
        for name in ("pn", "ps", "ate")
    ),
    ContextFigure("pairs_valid", _share("valid", "pairs"), "pairs valid"),
    ContextFigure("pairs_near_valid", _share("near", "pairs")),
    ContextFigure("median_eta", "(SELECT median(eta) FROM ccr_pairs)"),
    *(
        ContextFigure(
            f"accuracy_{rung}", _mean(rung, "pairs"), f"acc. {rung.replace('_', ' ')}"
        )
        for rung in ("factual", "do_true", "do_false")
    ),
    ContextFigure("monotonicity_violations", _mean("violations", "pairs"), "violations"),
    *(
        ContextFigure(name, f"(SELECT CAST(sum({column}) AS BIGINT) FROM ccr_pairs)")
        for name, column in (
            ("unit_answers", "answers"),
            ("unit_answers_invalid", "invalid"),
            ("factual_answers_invalid", "unreadable_factual"),
        )
    ),
)  # fmt: skip

LABELS: Final = {figure.name: figure.label for figure in FIGURES if figure.label}
"""What the figures with a column are called."""

QUERY: Final = f"""
WITH headline AS (
    SELECT {_mean("share", "contexts")} AS simulated, {_mean("points", "stated")} AS stated
)
SELECT
    100 * CASE WHEN simulated IS NULL THEN stated
               WHEN stated IS NULL THEN simulated
               ELSE (simulated + stated) / 2 END AS points,
    {", ".join(f"{figure.sql} AS {figure.name}" for figure in FIGURES)}
FROM headline
"""
"""The headline and the figures, one row."""
