"""What the report says of replayscm beyond points: pools, intervals and same-program deltas."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from grader.reports.table import ScoreTable, TrackResults
from grader.scoring.model import Score, TrackSummary
from grader.statistics.bootstrap import mean_interval

LADDER: Final = ("Ord-Match", "Block", "Hid-Match", "Hid-Roots")
"""The same programs with less and less disclosed (Figure 1)."""

LEVELS: Final = (
    ("Ord-Match", "Ord-Ext", "Ord-CEx", "Ord-Cert"),
    ("Hid-Match", "Hid-Ext", "Hid-CEx", "Hid-Cert"),
)
"""The same programs with more and more evidence (Table F.7)."""

PAIRS: Final = (
    ("Ord-Match", "Block"),
    ("Block", "Hid-Match"),
    ("Ord-Match", "Hid-Match"),
    ("Hid-Match", "Hid-Roots"),
    ("Ord-Ext", "Hid-Ext"),
    ("Ord-CEx", "Hid-CEx"),
    ("Ord-Cert", "Hid-Cert"),
    *((first, second) for rung in LEVELS for first, second in pairwise(rung)),
)
"""Pairs of pools whose difference is paired by program (Table D.1): first minus second."""

TABLES: Final = (
    "edits", "supplied", "discovery", "determination", "places", "found", "cohorts", "pressure",
    "sources",
)  # fmt: skip
"""Where alternatives are edited (G.5), whether a supplied program helps (G.1), alternatives found
with less and more evidence (F.13, F.14), and of which programs (F.11); records that are determined
and records that are not; mechanisms by the place of their variable in the prompt; cohorts of
programs (F.1 to F.5), shortcut pressure (F.6), and alternatives by who found one (G.2)."""

SUBSETS: Final[Mapping[str, frozenset[float]]] = {
    "all": frozenset({0.0, 1.0}),
    "determined": frozenset({1.0}),
    "open": frozenset({0.0}),
}
"""Every figure over all records, over those that the evidence determines, and over the others."""

METRICS: Final = ("train_exact", "heldout_world_exact", "heldout_exact")

STRUCTURE: Final = ("parent_shd", "parent_f1", "parent_map_exact", "local_match")
"""Of an executable answer alone, so that a difference is over programs with one in both pools."""


def summarise(results: TrackResults) -> TrackSummary:
    """Return pools and deltas, none without tables; the headline stays the mean of points."""
    if not results.tables:
        return TrackSummary(None, (), {}, {})
    found = extras(results.table)
    if results.slice_intervals:
        add_intervals(found, results.scores)
    return TrackSummary(None, (), {}, found)


def extras(table: ScoreTable) -> dict[str, Any]:
    """Return ``pools`` (``sql/pools.sql``) and the rows of each of ``TABLES``."""
    table.run("replayscm/marks")
    pools = {row.pop("pool"): row for row in table.query("replayscm/pools")}
    return {"pools": pools, **{name: table.query(f"replayscm/{name}") for name in TABLES}}


def add_intervals(extra: dict[str, Any], scores: Sequence[Score]) -> None:
    """Add bootstrap intervals over programs to ``extra``, in place.

    Each pool but the ``Alt-`` ones gets central 95% intervals of the three replay metrics, over all
    programs and by subset. ``deltas`` lists paired differences with theirs, by subset of programs
    that are in it in both pools.
    """
    values = _by_pool(scores)
    for pool, rates in extra["pools"].items():
        if not pool.startswith("Alt-"):
            for name in SUBSETS:
                programs = _subset(values[pool], name)
                rates["intervals" if name == "all" else f"intervals_{name}"] = {
                    metric: mean_interval((p, values[pool][p][metric]) for p in programs)
                    for metric in METRICS
                }
    extra["deltas"] = [
        delta
        for first, second in PAIRS
        if first in values and second in values
        for subset in SUBSETS
        for delta in _deltas(values, first, second, subset)
    ]


def _subset(values: Mapping[str, Mapping[str, float]], name: str) -> list[str]:
    return sorted(p for p, found in values.items() if found["determined"] in SUBSETS[name])


def _by_pool(scores: Sequence[Score]) -> dict[str, dict[str, dict[str, float]]]:
    """Return figures by pool, program (instance id) and metric; of a matched ``-Full`` also as
    ``-Match``. A replay metric without a figure is 0, one of ``STRUCTURE`` without is left out."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for score in scores:
        extra = json.loads(score.extra_json)
        values = {m: float(extra.get(m) or 0) for m in (*METRICS, "determined")}
        values |= {m: float(extra[m]) for m in STRUCTURE if extra.get(m) is not None}
        found.setdefault(score.structure, {})[score.instance_id] = values
        if extra["matched"] and score.structure.endswith("-Full"):
            matched = score.structure.replace("-Full", "-Match")
            found.setdefault(matched, {})[score.instance_id] = values
    return found


def _deltas(
    values: Mapping[str, Mapping[str, Mapping[str, float]]], first: str, second: str, subset: str
) -> list[dict[str, Any]]:
    """Return each metric's mean of first minus second pool, over both's programs in ``subset``."""
    shared = set(_subset(values[first], subset)) & set(_subset(values[second], subset))
    found = []
    # Structure by subset would be a table that nobody asks for.
    for metric in (*METRICS, *STRUCTURE) if subset == "all" else METRICS:
        programs = sorted(p for p in shared if all(metric in values[k][p] for k in (first, second)))
        if not programs:
            continue
        differences = {p: values[first][p][metric] - values[second][p][metric] for p in programs}
        found.append({
            "first": first, "second": second, "metric": metric, "subset": subset,
            "programs": len(programs), "delta": sum(differences.values()) / len(programs),
            "interval": mean_interval(differences.items()),
        })  # fmt: skip
    return found
