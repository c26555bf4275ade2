"""The ccr track: compositional reasoning over cut trees; see ``docs/ccr.md``.

For the ccr part of a report contexts are evaluated and tables filled; its figures are SQL's.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from grader.reports.table import ScoreTable, TrackResults
from grader.scoring.model import CheckedAnswer, Score, TrackSummary, Truth, Unit
from grader.scoring.track import Track, TrackPages
from grader.statistics import bootstrap
from grader.statistics.bootstrap import cluster_means
from grader.statistics.skill import units_of
from grader.tracks.ccr.contexts import CONTEXT, ContextResult, evaluate_context, stated_contexts
from grader.tracks.ccr.shapes import CCR, check_contexts

Row = Mapping[str, Any]

DRAWN_CONTEXTS: Final = 60
"""Contexts whose details go into the report, in the order of their ids."""
RESAMPLED_CONTEXTS: Final = 2
"""Contexts up to which every resampled estimate goes into the report, as the paper's one context
has them; of more it has one estimate each."""


def summarise(results: TrackResults) -> TrackSummary:
    """Return headline, replicates, figures and drawings, and fill the ``ccr_`` tables."""
    table, scores = results.table, results.scores
    contexts = contexts_of(scores, results.truths, results.checked)
    stated = [one.rows() for one in stated_contexts(scores, results.truths, results.checked)]
    table.run("ccr/schema")
    rows: Sequence[Row] = [
        {"instance_id": c.instance_id, "class": c.quadrant, "complete": c.complete,
         "share": c.share}
        for c in contexts
    ]  # fmt: skip
    _fill(table, "ccr_contexts", rows)
    for name in ("pairs", "compositions"):
        rows = [{**row, "instance_id": c.instance_id} for c in contexts for row in getattr(c, name)]
        _fill(table, f"ccr_{name}", rows)
    _fill(table, "ccr_composed", [row for rows in stated for row in rows])
    (metrics,) = table.query("ccr/figures")
    points = metrics.pop("points")
    members = {
        "details": {
            "curves": table.query("ccr/curves"),
            "contexts": [_context_details(context) for context in contexts[:DRAWN_CONTEXTS]],
            "estimates": [*_estimates(contexts)],
            "stated": [_details(rows[0]["instance_id"], rows) for rows in stated[:DRAWN_CONTEXTS]],
        },
        "quantities": table.query("ccr/quantities"),
        "stated": table.query("ccr/stated"),
    }
    clusters: Sequence[Row] = table.query("ccr/clusters")
    if points is None:
        # An exam that drew a part of every context has no composition: its pairs are all there is.
        clusters = [
            {"part": s.instance_id, "name": s.task_id, "points": s.points, "tasks": 1}
            for s in scores
        ]
        points = 100 * sum(score.points for score in scores) / len(scores)
    seed = bootstrap.seed_of(score.task_id for score in scores)
    units = _units(contexts, scores, results.floor(CONTEXT))
    return TrackSummary(points, _replicates(clusters, seed), metrics, members, units)


def _fill(table: ScoreTable, name: str, rows: Sequence[Row]) -> None:
    """Append ``rows`` to a table of ``sql/schema.sql``, without members that are no columns."""
    columns = [column["column_name"] for column in table.rows(f"DESCRIBE {name}")]
    table.fill(name, columns, [[row[column] for column in columns] for row in rows])


def _units(
    contexts: Sequence[ContextResult], scores: Sequence[Score], floor: float | None
) -> list[Unit]:
    """Return the units whose mean is the headline: contexts (part ``simulated``, each with
    ``floor``) and tasks of other families (part ``stated``). If all tasks are simulations and no
    context is asked about in full, each task is one."""
    if not contexts and all(score.family == "simulation" for score in scores):
        return units_of(scores)
    stated = [score for score in scores if score.family != "simulation"]
    whole = [Unit(c.instance_id, c.share, floor, part="simulated") for c in contexts]
    return whole + [replace(unit, part="stated") for unit in units_of(stated)]


def contexts_of(
    scores: Sequence[Score], truths: Mapping[str, Truth], checked: Mapping[str, CheckedAnswer]
) -> list[ContextResult]:
    """Return the result of every context that is asked about in full, sorted by instance id."""
    by_context: dict[str, list[Score]] = {}
    for score in scores:
        if score.family == "simulation":
            by_context.setdefault(score.instance_id, []).append(score)
    found = [evaluate_context(by_context[name], truths, checked) for name in sorted(by_context)]
    return [result for result in found if result is not None]


def _replicates(clusters: Sequence[Mapping[str, Any]], seed: int) -> list[float]:
    """Return replicates (0 to 100) of the headline: parts resampled one by one, then averaged."""
    parts: dict[str, dict[str, tuple[float, int]]] = {}
    for row in clusters:
        parts.setdefault(row["part"], {})[row["name"]] = (row["points"], row["tasks"])
    means = [cluster_means(parts[name], seed) for name in sorted(parts)]
    return [100 * sum(column) / len(column) for column in zip(*means, strict=True)]


def _estimates(contexts: Sequence[ContextResult]) -> Iterator[Row]:
    """Yield every quantity of every context, its estimates as ``ratios`` to the truth (G.12)."""
    for context in contexts:
        for row in (*context.pairs, *context.compositions):
            values = [] if row["estimate"] is None else [row["estimate"]]
            if row["resampled"] and len(contexts) <= RESAMPLED_CONTEXTS:
                values = row["resampled"]
            yield {
                "quantity": row["quantity"],
                "kind": row["kind"],
                "instance_id": context.instance_id,
                "ratios": [round(value / row["truth"], 6) for value in values],
            }


def _details(instance_id: str, compositions: Sequence[Row]) -> dict[str, Any]:
    names = ("path", "epsilon", "gamma", "valid", "consistent")
    rows = [{name: row[name] for name in names if name in row} for row in compositions]
    return {"instance_id": instance_id, "compositions": rows}


def _context_details(context: ContextResult) -> Row:
    """Return what the drawings need of one context."""
    return {
        **_details(context.instance_id, context.compositions),
        "nodes": list(context.nodes),
        "class": context.quadrant,
        "complete": context.complete,
        "pairs": [
            {"pair": row["path"], "valid": row["valid"], "share": row["valid_share"]}
            for row in context.pairs
        ],
    }


def _pages() -> TrackPages:
    from grader.tracks.ccr.tables import PAGES

    return PAGES


TRACK: Final = Track(
    name="ccr",
    variants=CCR,
    summarise=summarise,
    own_points="contexts",
    check_truths=check_contexts,
    pages=_pages,
)
