"""The causalab sections of the page: suites, and prediction against recovered graph."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from grader.draw.charts import Cloud, Point, square
from grader.draw.page import Section, filled
from grader.draw.svg import Svg
from grader.show.systems import Part, Report, parts_of
from grader.tracks.causalab.curves import (
    against_main,
    by_size,
    paths,
    radars,
    scaling,
    stopping,
)
from grader.tracks.causalab.tables import by_success, progress, suites

Rates = Mapping[str, Any]

_REGIME: Final = re.compile(r"(\d+)o(\d+)i")
_SIZE: Final = re.compile(r"-(\d+)(?:-|$)")


def sections(reports: Sequence[Report]) -> list[Section]:
    """What there is to show of those that answer something, unless their reports are redacted."""
    parts = [part for part in parts_of(reports, "causalab") if part.get("suites")]
    if not parts:
        return []
    picture = accuracy_against_edges(parts)
    return [
        Section(
            "causalab: prediction against recovered graph (Figures 3, 11)",
            [picture, *paths(parts)],
        ),
        Section("causalab: by graph size (Figures 5, 10)", by_size(parts)),
        Section("causalab: figures over the sizes side by side (Figure 6)", radars(parts)),
        Section("causalab: observation and intervention (Figures 12, 13)", scaling(parts)),
        Section(
            "causalab: against the main suite of its size (Figures 2, 4, 8, 9; Tables 3–6)",
            against_main(parts),
        ),
        Section(
            "causalab: budget, consistency and stopping by success (Figure 14)",
            [*stopping(parts), *filled(by_success(parts))],
        ),
        Section("causalab: by suite and regime (Tables 3–12)", [suites(parts)]),
        Section("causalab: edge F1 as a session goes on", filled(progress(parts))),
    ]


def accuracy_against_edges(parts: Sequence[Part]) -> Svg:
    """Figure 3: task accuracy (across) against all-edge F1 (up), a mark per suite and regime.

    Where a system has both regimes of a graph size, an arrow leads from the mean of observation
    only to the mean of observation with intervention.
    """
    axis = "task accuracy (up: all-edge F1)"
    return square("task accuracy against edge F1", list(map(_cloud, parts)), axis)


def _cloud(part: Part) -> Cloud:
    name = part["system"]
    points = []
    for label, rates in part["suites"].items():
        at = rates["accuracy"], rates["edge_f1"]
        points.append((at, f"{name}, {label}: {at[0]:.3f}, {at[1]:.3f}"))
    arrows = [
        (start, end, f"{name}, {size} nodes: observation only to mixed")
        for size, start, end in _arrows(part["suites"])
    ]
    return Cloud(name, points, arrows)


def _arrows(suites: Mapping[str, Rates]) -> Iterator[tuple[str, Point, Point]]:
    """(size, start, end) for every graph size with both regimes; points are (accuracy, F1)."""
    kinds: dict[str, dict[str, list[Rates]]] = {}
    for label, rates in suites.items():
        suite, _, regime = label.rpartition(" ")
        match, size = _REGIME.fullmatch(regime), _SIZE.search(suite)
        if match is None or size is None or not _REGIME.match(suite):
            continue  # the scaling suites are those named after their regime
        observations, interventions = (int(group) for group in match.groups())
        if observations:
            kind = "mixed" if interventions else "observed"
            kinds.setdefault(size.group(1), {}).setdefault(kind, []).append(rates)
    for nodes, found in sorted(kinds.items()):
        if len(found) == 2:
            yield nodes, _mean(found["observed"]), _mean(found["mixed"])


def _mean(rows: Sequence[Rates]) -> Point:
    tasks = sum(row["tasks"] for row in rows)
    accuracy, f1 = (
        sum(row[key] * row["tasks"] for row in rows) / tasks for key in ("accuracy", "edge_f1")
    )
    return accuracy, f1
