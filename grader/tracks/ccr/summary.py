"""The ccr part of a report: contexts evaluated, tables filled, figures by SQL, each named once."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final, Literal, get_args

from grader.reports.table import Results
from grader.scoring.model import Checked, Score, TrackSummary, Truth, Unit
from grader.statistics import bootstrap
from grader.statistics.bootstrap import cluster_means
from grader.statistics.skill import units_of
from grader.tracks.ccr.contexts import CONTEXT, ContextResult, PathLine, evaluate_context, nearly
from grader.tracks.ccr.stated import StatedContext, quadrant_of, stated_contexts

Table = Literal["contexts", "compositions", "pairs", "stated"]


@dataclass(frozen=True, slots=True)
class ContextFigure:
    """One figure: its name in a report, and the aggregate that makes it of a table in
    ``schema.sql``."""

    name: str
    table: Table
    sql: str


CLASSES: Final = ("VC", "VI", "IC", "II")


def _share(condition: str) -> str:
    return f"avg(CAST({condition} AS DOUBLE))"


def _stated(family: str) -> ContextFigure:
    value = f"100 * avg(points) FILTER (family = '{family}')"
    return ContextFigure(f"points_{family}", "stated", value)


def _classes(table: Literal["contexts", "compositions"]) -> tuple[ContextFigure, ...]:
    return tuple(
        ContextFigure(f"{table}_{name.lower()}", table, _share(f"class = '{name}'"))
        for name in CLASSES
    )


FIGURES: Final = (
    ContextFigure("points_simulation", "contexts", "100 * avg(share)"),
    ContextFigure("points_stated", "stated", "100 * avg(points)"),
    *map(_stated, ("direct", "inductive", "deductive")),
    ContextFigure("contexts", "contexts", "count(*)"),
    ContextFigure("complete_share", "contexts", _share("complete")),
    *_classes("contexts"),
    ContextFigure("compositions", "compositions", "count(*)"),
    *_classes("compositions"),
    ContextFigure("compositions_near_valid", "compositions", _share("near_valid")),
    *(
        ContextFigure(f"{name}_vc", "compositions", _share(f"{name}_valid AND {name}_consistent"))
        for name in ("pn", "ps", "ate")
    ),
    ContextFigure("pairs_valid", "pairs", _share("valid")),
    ContextFigure("pairs_near_valid", "pairs", _share("near")),
    ContextFigure("median_eta", "pairs", "median(eta)"),
    *(
        ContextFigure(f"accuracy_{rung}", "pairs", f"avg({rung})")
        for rung in ("factual", "do_true", "do_false")
    ),
    ContextFigure("monotonicity_violations", "pairs", "avg(violations)"),
    *(
        ContextFigure(name, "pairs", f"CAST(sum({column}) AS BIGINT)")
        for name, column in (
            ("unit_answers", "answers"),
            ("unit_answers_invalid", "invalid"),
            ("factual_answers_invalid", "unreadable_factual"),
        )
    ),
)

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


PAIR_COLUMNS: Final = (
    "instance_id", "quantity", "kind", "cause", "effect", "span", "mediators", "shortest_path",
    "eta", "valid_share", "valid", "near", "factual", "do_true", "do_false", "violations",
    "answers", "invalid", "unreadable_factual",
)  # fmt: skip
PATH_COLUMNS: Final = (
    "instance_id", "quantity", "path", "edges", "epsilon", "gamma", "valid_share", "valid",
    "near_valid", "consistent", "class", "pn_valid", "pn_consistent", "ps_valid", "ps_consistent",
    "ate_valid", "ate_consistent",
)  # fmt: skip

COMPOSED_COLUMNS: Final = (
    "instance_id", "variant", "context_class", "eta", "epsilon", "gamma", "class",
)  # fmt: skip

DRAWN_CONTEXTS: Final = 60
"""Contexts whose details go into the report, in the order of their ids."""
RESAMPLED_CONTEXTS: Final = 2
"""Contexts up to which every resampled estimate goes into the report, as the paper's one context
has them; of more it has one estimate each."""


def summarise(results: Results) -> TrackSummary:
    """Headline, its bootstrap replicates, figures, and what the report draws."""
    table, scores = results.table, results.scores
    contexts = contexts_of(scores, results.truths, results.checked)
    table.run("ccr/schema")
    table.fill("ccr_pairs", PAIR_COLUMNS, [row for c in contexts for row in _pairs(c)])
    table.fill("ccr_compositions", PATH_COLUMNS, [row for c in contexts for row in _paths(c)])
    table.fill(
        "ccr_contexts",
        ("instance_id", "class", "complete", "share"),
        [(c.instance_id, c.quadrant, c.complete, c.share) for c in contexts],
    )
    table.fill(
        "ccr_stated",
        ("task_id", "instance_id", "family", "points"),
        [
            (s.task_id, s.instance_id, s.family, s.points)
            for s in scores
            if s.family != "simulation"
        ],
    )
    stated = [*stated_contexts(scores, results.truths, results.checked)]
    table.fill("ccr_composed", COMPOSED_COLUMNS, [row for one in stated for row in _composed(one)])
    (metrics,) = table.rows(QUERY)
    curves = table.query("ccr/curves")
    quantities = table.query("ccr/quantities")
    clusters = table.query("ccr/clusters")
    points = metrics.pop("points")
    details = {
        "curves": curves,
        "contexts": [_details(c) for c in contexts[:DRAWN_CONTEXTS]],
        "estimates": [*_estimates(contexts)],
        "stated": [_drawn(context) for context in stated[:DRAWN_CONTEXTS]],
    }
    by_variant = table.query("ccr/stated")
    members = {"details": details, "quantities": quantities, "stated": by_variant}
    seed = bootstrap.seed_of(score.task_id for score in scores)
    if points is None:
        # An exam that drew a part of every context has no composition: its pairs are all there is.
        clusters = [
            {"part": s.instance_id, "name": s.task_id, "points": s.points, "tasks": 1}
            for s in scores
        ]
        points = 100 * sum(score.points for score in scores) / len(scores)
    units = _units(contexts, scores, results.floor(CONTEXT))
    return TrackSummary(points, _replicates(clusters, seed), metrics, members, units)


def _units(
    contexts: Sequence[ContextResult], scores: Sequence[Score], floor: float | None
) -> list[Unit]:
    """Contexts beside stated tasks; every task, where no context is asked about in full."""
    if not contexts and all(score.family == "simulation" for score in scores):
        return units_of(scores)
    stated = [score for score in scores if score.family != "simulation"]
    whole = [Unit(c.instance_id, c.share, floor, part="simulated") for c in contexts]
    return whole + [replace(unit, part="stated") for unit in units_of(stated)]


def contexts_of(
    scores: Sequence[Score], truths: Mapping[str, Truth], checked: Mapping[str, Checked]
) -> list[ContextResult]:
    """The result of every context that is asked about in full, by instance id."""
    by_context: dict[str, list[Score]] = {}
    for score in scores:
        if score.family == "simulation":
            by_context.setdefault(score.instance_id, []).append(score)
    found = [evaluate_context(by_context[name], truths, checked) for name in sorted(by_context)]
    return [result for result in found if result is not None]


def _replicates(clusters: Sequence[Mapping[str, Any]], seed: int) -> list[float]:
    """Replicates of the headline: each part is resampled by itself, then both are averaged."""
    parts: dict[str, dict[str, tuple[float, int]]] = {}
    for row in clusters:
        parts.setdefault(row["part"], {})[row["name"]] = (row["points"], row["tasks"])
    means = [cluster_means(parts[name], seed) for name in sorted(parts)]
    return [100 * sum(column) / len(column) for column in zip(*means, strict=True)]


def _place(context: ContextResult, pair: Sequence[str]) -> str:
    """Where the nodes of a pair stand in the cut tree: X1 is its root."""
    return "".join(f"X{context.nodes.index(name) + 1}" for name in pair)


def _kind(context: ContextResult, pair: Sequence[str]) -> str:
    return "global" if tuple(pair) == (context.nodes[0], context.nodes[-1]) else "local"


def _path(context: ContextResult, line: PathLine) -> str:
    return "·".join(_place(context, pair) for pair in pairwise(line.composition.path))


def _pairs(context: ContextResult) -> list[tuple[Any, ...]]:
    return [
        (
            context.instance_id,
            _place(context, line.pair),
            _kind(context, line.pair),
            *line.pair,
            context.nodes.index(line.pair[1]) - context.nodes.index(line.pair[0]),
            line.mediators,
            line.shortest_path,
            line.eta,
            line.share,
            line.valid,
            nearly(line.share),
            *(line.extra.get(f"accuracy_{rung}") for rung in ("factual", "do_true", "do_false")),
            line.extra.get("monotonicity_violations"),
            int(line.extra.get("answers", 0)),
            int(line.extra.get("invalid_answers", 0)),
            int(line.extra.get("unreadable_factual", 0)),
        )
        for line in context.pairs
    ]


def _paths(context: ContextResult) -> list[tuple[Any, ...]]:
    return [
        (
            context.instance_id,
            _path(context, line),
            " -> ".join(line.composition.path),
            len(line.composition.path) - 1,
            line.composition.external,
            line.composition.internal,
            line.valid_share,
            line.valid,
            nearly(line.valid_share),
            line.consistent,
            line.quadrant,
            *(flag for name in ("pn", "ps", "ate") for flag in line.measures[name]),
        )
        for line in context.compositions
    ]


def _estimates(contexts: Sequence[ContextResult]) -> Iterator[dict[str, Any]]:
    """Every estimate by its quantity and context, as a share of the truth (CCR Figure G.12)."""
    every = len(contexts) <= RESAMPLED_CONTEXTS
    for context in contexts:
        lines = [
            *((_place(context, line.pair), _kind(context, line.pair), line.truth, line.estimate,
               line.resampled) for line in context.pairs),
            *((_path(context, line), "composition", line.truth, line.composition.value,
               line.resampled) for line in context.compositions),
        ]  # fmt: skip
        for quantity, kind, truth, value, resampled in lines:
            shown = resampled if every and resampled else [] if value is None else [value]
            yield {
                "quantity": quantity,
                "kind": kind,
                "instance_id": context.instance_id,
                "ratios": [round(one / truth, 6) for one in shown],
            }


def _composed(context: StatedContext) -> Iterator[tuple[Any, ...]]:
    """A row for each composition of stated values."""
    etas = [*context.errors.eta.values()]
    known = [eta for eta in etas if eta is not None]
    mean = math.fsum(known) / len(etas) if len(known) == len(etas) else None
    for one in context.errors.compositions:
        head = (context.instance_id, context.variant, context.quadrant, mean)
        yield (*head, one.external, one.internal, quadrant_of(one))


def _drawn(context: StatedContext) -> dict[str, Any]:
    """What the drawing of stated values needs of one task."""
    lines = [{"path": list(one.path), "epsilon": one.external, "gamma": one.internal}
             for one in context.errors.compositions]  # fmt: skip
    return {"instance_id": context.instance_id, "compositions": lines}


def _details(context: ContextResult) -> dict[str, Any]:
    """What the drawings need of one context."""
    return {
        "instance_id": context.instance_id,
        "nodes": list(context.nodes),
        "class": context.quadrant,
        "complete": context.complete,
        "pairs": [
            {"pair": list(line.pair), "valid": line.valid, "share": line.share}
            for line in context.pairs
        ],
        "compositions": [
            {
                "path": list(line.composition.path),
                "epsilon": line.composition.external,
                "gamma": line.composition.internal,
                "valid": line.valid,
                "consistent": line.consistent,
            }
            for line in context.compositions
        ],
    }
