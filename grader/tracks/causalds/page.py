"""The causalds sections of the page: what a submission can and cannot do, and at what cost."""

from collections.abc import Sequence
from typing import Final

from grader.draw.charts import Dot, DotRow, Level, cost_plot, dot_rows, lines
from grader.draw.page import Block, Fold, Paragraph, Section, filled
from grader.draw.svg import Svg
from grader.draw.table import find
from grader.draw.words import interval_text, percent
from grader.show.systems import Part, Report, parts_of, reading_of, readings_from, rows_of
from grader.tracks.causalds import matched_figures, repeat_tables, slice_tables, tables

DRAWN: Final = 20
"""Systems that are drawn; tables have all of them."""
_LINES: Final = 6
"""Systems in a picture of lines."""
VIEWS: Final = ("clean", "proxy", "proxy_hard")


def sections(reports: Sequence[Report]) -> list[Section]:
    """What there is to show of the submissions that answer a causalds task."""
    parts = parts_of(reports, "causalds")
    if not parts:
        return []
    alone = len(parts) == 1
    found: dict[str, Sequence[Block]] = {
        "knowing, and knowing when not to answer": _abstention(parts),
        "intervals, promised and kept": _calibration(parts),
        "error by observation view": _views(parts),
        "cost and quality": _cost(parts),
        "Composite Rank by slice": [] if alone else [tables.ranks(parts)],
        "every slice, both readings": _slices(parts[0]) if alone else [],
        "composition of the exam (Table 11)": filled(slice_tables.composition(parts[0])),
        "rates by slice, with n (Tables 12, 13, 15–17; Figure 8)": _rates(parts),
        "repeated attempts": filled(
            repeat_tables.attempts(parts),
            repeat_tables.variability(reports),
            *repeat_tables.lifts(parts),
        ),
        "matched ablation": [
            *filled(*tables.matched(parts)),
            *matched_figures.decomposed(parts[:_LINES]),
            *(
                Fold("Figure 10: its parts as a table", [t])
                for t in filled(slice_tables.decomposition(parts))
            ),
            *(
                Fold("Figure 9: every matched pair", [*_every_pair(parts), t])
                for t in filled(slice_tables.instances(parts))
            ),
            *(Fold("every bundle", [t]) for t in filled(tables.bundles(parts[0])) if alone),
        ],
        "two readings of the CausalDS score": _readings(parts),
    }
    return [Section(f"causalds: {title}", blocks) for title, blocks in found.items()]


def _abstention(parts: Sequence[Part]) -> list[Block]:
    """Figure 3b: content and abstention pass rates, and how often it gave up for nothing."""
    series = {
        "content_pass_rate": "right on what has an answer",
        "abstention_pass_rate": "abstains where none exists",
        "unwarranted_abstention_rate": "abstains for nothing",
    }
    rows = [
        DotRow(
            part["system"],
            [
                Dot(k, value, hover=f"{label}: {percent(value)}")
                for k, (key, label) in enumerate(series.items())
                if (value := part["metrics"].get(key)) is not None
            ],
        )
        for part in parts[:DRAWN]
    ]
    if not any(row.dots for row in rows):
        return []
    note = (
        "Exact-match tasks whose target is identifiable; tasks whose target is not; and the share "
        "of identifiable tasks, of any kind, that were declined (lower is better)."
    )
    picture = dot_rows("Content against abstention", rows, list(series.values()))
    return [Paragraph(note, note=True), picture, tables.abstention(parts)]


def _every_pair(parts: Sequence[Part]) -> list[Svg]:
    return [picture for part in parts[:_LINES] for picture in matched_figures.every_pair(part)]


def _calibration(parts: Sequence[Part]) -> list[Block]:
    """Figure 3a: coverage of intervals beside the coverage they promise."""
    rows = []
    for row in rows_of(parts, "calibration"):
        if row["coverage"] is None:
            continue
        # The family: two families have a variant of the same name, and none has two intervals.
        family = row["variant"].partition(".")[0].replace("_", " ")
        name = f"{row['system'][:16]} · {family}" if len(parts) > 1 else family
        ends, nominal = row["coverage_interval"], row["nominal"]
        held = percent(row["coverage"]) + (f" {interval_text(ends)}" if ends else "")
        promised = [] if nominal is None else [(nominal, f"promised {nominal:.0%}")]
        rows.append(DotRow(name, [Dot(0, row["coverage"], ends, held)], promised))
    if not rows:
        return []
    note = "Upright line: the coverage asked for. Left of it is overconfidence."
    picture = dot_rows("Coverage of intervals", rows[: 2 * DRAWN])
    return [Paragraph(note, note=True), picture, tables.calibration(parts)]


def _views(parts: Sequence[Part]) -> list[Block]:
    """Tables 5 and 6, and the median error as a line a system."""
    present = {view for part in parts for view in part["slices"].get("view", {})}
    views = [view for view in VIEWS if view in present] + sorted(present - set(VIEWS))
    drawn = [_lines(parts[:_LINES], views)] if len(views) > 1 else []
    readings = [
        tables.by_view(parts, views, reading) for reading in readings_from(reading_of(parts))
    ]
    return [*drawn, *readings]


def _rates(parts: Sequence[Part]) -> list[Block]:
    """Figure 8 as lines, and a table of rates for each axis and reading."""
    rungs = sorted({level for part in parts for level in part["slices"].get("rung", {})})
    order = readings_from(reading_of(parts))

    def level(part: Part, rung: str) -> Level | None:
        rate = find(part, "slices", "rung", rung, "readings", order[0], "pass_rate")
        return None if rate is None else Level(rate)

    series = [(part["system"], [level(part, rung) for rung in rungs]) for part in parts[:_LINES]]
    drawn = [lines(f"Figure 8: pass rate by rung, {order[0]} reading", rungs, series, ceiling=1)]
    folds = [
        Fold(title, [slice_tables.rates(parts, axis, reading) for reading in order])
        for axis, title in slice_tables.PUBLISHED.items()
    ]
    return [*(drawn if len(rungs) > 1 else []), *folds]


def _lines(parts: Sequence[Part], views: Sequence[str]) -> Svg:
    reading = reading_of(parts)

    def level(part: Part, view: str) -> Level | None:
        error = find(part, "slices", "view", view, "readings", reading, "med_nrel_err")
        return None if error is None else Level(error)

    series = [(part["system"], [level(part, view) for view in views]) for part in parts]
    return lines("Median normalised error by view", views, series)


def _cost(parts: Sequence[Part]) -> list[Block]:
    """Figure 4 and Table 18."""
    points = [
        (part["system"], tokens, score)
        for part in parts
        if (tokens := find(part, "usage", "tokens_per_task"))
        and (score := find(part, "readings", reading_of(parts), "causalds_score")) is not None
    ]
    axes = "tokens per task", "CausalDSScore ↓"
    drawn = [cost_plot("Cost against quality", points, *axes)] if points else []
    return [*drawn, *filled(tables.cost(parts))]


def _slices(part: Part) -> list[Block]:
    """All slices of one submission; a leaderboard would be too long."""
    found = {title: tables.slices(part, axis) for axis, title in tables.AXES.items()}
    opened = ("rung", "observation view")
    return [Fold(f"by {title}", [t], title in opened) for title, t in found.items() if t.rows]


def _readings(parts: Sequence[Part]) -> list[Block]:
    note = (
        "fixed: pools follow the truth, so nothing omitted can improve a score. paper: the "
        "published routing, in which abstentions change pools and missing numbers leave the exam."
    )
    return [Paragraph(note, note=True), tables.readings(parts)]
