"""The causalds tables: readings, coverage, cost, ranks, repeated attempts, matched ablations."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from grader.draw.table import Column, Figure, Row, Table, figure, find, word
from grader.draw.words import (
    count,
    count_text,
    counted,
    interval_text,
    number,
    percent,
    points,
    signed,
    signed_interval,
)
from grader.route import READINGS
from grader.show.systems import (
    SYSTEM,
    Part,
    Report,
    levels_of,
    part_of,
    reading_of,
    readings_from,
    rows_of,
    skipped,
)
from grader.tracks.causalds import repeat_tables
from grader.tracks.causalds.figures import axis_ranks, composite_ranks, leaderboard_ranks

AXES: Final = {
    "rung": "rung",
    "family": "family",
    "variant": "variant",
    "view": "observation view",
    "structure": "structure",
    "input_mode": "input mode",
}


SCORE: Final = Figure("causalds_score", "CausalDSScore ↓", lambda score: number(score, 4))
SCORE_INTERVAL: Final = Figure("causalds_score_interval", "95% interval", interval_text)
PASS_RATE: Final = Figure("pass_rate", "PassRate ↑")
S_NR: Final = Figure("s_nr", "S_NR ↓")
NREL: Final = Figure("med_nrel_err", "Med NRelErr ↓")
MEAN_NREL: Final = Figure("mean_nrel_err", "Mean NRelErr ↓")
F1_LOSS: Final = Figure("f1_loss", "F1-loss ↓")
MED_F1_LOSS: Final = Figure("med_f1_loss", "Med F1-loss ↓")
TASKS: Final = Figure("tasks", "tasks", count)
POINTS: Final = Figure("points", "points", points)


def _in(shown: Sequence[Report | Part]) -> tuple[str, str]:
    """Where parts have the figures of the reading that a screen leads with."""
    return "readings", reading_of(shown)


def of_report(report: Report) -> list[Table]:
    """What there is to show of one submission beyond its variants."""
    parts = [part_of(report, "causalds")]
    found = [
        readings(parts),
        calibration(parts),
        repeat_tables.attempts(parts),
        *matched(parts),
        cost(parts),
    ]
    return [table.without("system") for table in found if table.rows]


def readings(parts: Sequence[Part]) -> Table:
    """CausalDSScore and its components in both readings."""
    shown = (SCORE, SCORE_INTERVAL, PASS_RATE, S_NR, F1_LOSS, NREL, MED_F1_LOSS)
    sizes = Column("n pass/numeric/F1", _pools)
    columns = (SYSTEM, word("level", "reading"), *(one.at() for one in shown), sizes)
    order = readings_from(reading_of(parts))
    rows = sorted(levels_of(parts, "readings"), key=lambda row: order.index(row["level"]))
    return Table.of("CausalDS readings", columns, rows, left=2)


def _pools(row: Row) -> str:
    """Sizes of the pools; a dash where a redacted report leaves them out."""
    sizes = [row["n_pass"], row["n_nrel"], row["n_f1"]]
    return "–" if None in sizes else "/".join(map(str, sizes))


def board_columns(reports: Sequence[Report]) -> list[tuple[str, list[str]]]:
    """Headings and cells on a leaderboard; with the components of the score where there is room."""
    alone = len(reports[0]["tracks"]) == 1
    shown = (SCORE, PASS_RATE, S_NR, F1_LOSS) if alone else (SCORE,)
    reading = reading_of(reports)
    parts = [{} if skipped(r, "causalds") else part_of(r, "causalds") for r in reports]
    suffix = "" if reading == READINGS[0] else f" ({reading})"
    found = [
        (column.heading, [str(column.cell(part)) for part in parts])
        for column in (one.at("readings", reading, label=one.label + suffix) for one in shown)
    ]
    ranks = [number(rank.get(reading)) for rank in leaderboard_ranks(reports)]
    return [found[0], ("Comp. Rank ↓", ranks), *found[1:]]


def compared(track: Mapping[str, Any]) -> list[Table]:
    """CausalDSScore of two submissions, and its difference."""
    found = track.get("readings", {})
    rows = [
        {"reading": reading, **found[reading]["causalds_score"]}
        for reading in readings_from(reading_of([track]))
        if find(found, reading, "causalds_score") is not None
    ]
    columns = (
        word("reading"),
        figure("first", "first"),
        figure("second", "second"),
        figure("difference", "difference", lambda value: signed(value, 3)),
        figure("interval", "95% interval", lambda ends: signed_interval(ends, 3)),
        figure("detectable", "shows from"),
    )
    return [Table.of("CausalDSScore (lower is better)", columns, rows)]


def abstention(parts: Sequence[Part]) -> Table:
    """Table 4 in both readings, and the share of continuous tasks with a valid answer."""

    def paper(side: str) -> Column:
        return Column(f"{side}, paper (n)", lambda part: (
            f"{percent(find(part, 'metrics', f'paper_{side}_pass_rate'))} "
            f"({count(find(part, 'metrics', f'paper_{side}_tasks'))})"
        ))  # fmt: skip

    sides = {
        "fixed": [
            figure(("metrics", f"{side}_pass_rate"), f"{side}, fixed", percent)
            for side in ("content", "abstention")
        ],
        "paper": [paper("content"), paper("abstention")],
    }
    columns = (
        SYSTEM,
        *(column for one in readings_from(reading_of(parts)) for column in sides[one]),
        figure(("metrics", "numeric_valid"), "valid numbers", count),
        figure(("metrics", "numeric_expected"), "of", count),
    )
    return Table.of("Content against abstention", columns, parts)


def calibration(parts: Sequence[Part]) -> Table:
    """How often intervals hold the truth, beside how often they promise to."""
    columns = (
        SYSTEM,
        word("variant"),
        figure("valid", "valid", count),
        figure("tasks", "of", count),
        figure("nominal", "promised", percent),
        figure("coverage", "covered", percent),
        figure("coverage_interval", "95% interval", interval_text),
        figure("median_normalised_width", "median width / scale"),
    )
    title = "Intervals: how often they hold the truth"
    return Table.of(title, columns, rows_of(parts, "calibration"), left=2)


def by_view(parts: Sequence[Part], views: Sequence[str], reading: str = "fixed") -> Table:
    """Tables 5 and 6: pass rate, median and mean error under each view, with the number of tasks,
    and the coverage of effect intervals."""
    shown = {PASS_RATE: "n_pass", NREL: "n_nrel", MEAN_NREL: "n_nrel"}

    def column(view: str, one: Figure, about: str) -> Column:
        at = ("slices", "view", view, "readings", reading)
        return Column(
            f"{view} {one.label} (n)",
            lambda part: counted(one.words(find(part, *at, one.key)), find(part, *at, about)),
        )

    columns = [column(view, one, n) for view in views for one, n in shown.items()]
    columns.append(Column("ate_uq_95 covered (n)", _effect_coverage))
    note = {
        "fixed": "Fixed reading: a number that is missing, invalid or withheld costs 10. Views "
        "hold different tasks: only a matched ablation compares like with like.",
        "paper": "Paper reading: abstentions change pools, missing numbers leave the exam.",
    }[reading]
    title = f"Error by observation view, {reading} reading"
    return Table.of(title, [SYSTEM, *columns], parts, note=note)


def _effect_coverage(part: Row) -> str:
    """How often intervals of average effects hold the truth, over the valid ones."""
    rows = [r for r in part.get("calibration", ()) if r["variant"] == "effect_estimate.ate_uq_95"]
    return counted(percent(rows[0]["coverage"]), rows[0]["valid"]) if rows else "–"


def cost(parts: Sequence[Part]) -> Table:
    """Figure 4 and Table 18: tokens per task against CausalDSScore."""
    columns = (
        SYSTEM,
        figure(("usage", "tasks"), "tasks reported", count),
        figure(("usage", "total_tokens"), "tokens", count_text),
        figure(("usage", "tokens_per_task"), "tokens/task", count_text),
        figure(("usage", "calls_per_task"), "calls/task", points),
        figure(("usage", "seconds_per_task"), "seconds/task", points),
        figure(("usage", "total_cost_usd"), "cost", _dollars),
        SCORE.at(*_in(parts)),
        figure(("usage", "tokens_per_quality", reading_of(parts)), "tokens/(1−score)", count_text),
    )
    return Table.of("Cost", columns, [part for part in parts if find(part, "usage", "tasks")])


def _dollars(cost: float | None) -> str:
    return "–" if cost is None else f"${cost:,.2f}"


def ranks(parts: Sequence[Part]) -> Table:
    """Table 14: Composite Rank inside each rung, view and input mode."""
    found = {
        f"{AXES[axis]} {level}": [number(rank) for rank in ranks]
        for axis in ("rung", "view", "input_mode")
        for level, ranks in axis_ranks(parts, axis, reading_of(parts)).items()
    }
    whole = [part["readings"].get(reading_of(parts), {}) for part in parts]
    found["overall"] = [number(rank) for rank in composite_ranks(whole)]
    rows = [
        [SYSTEM.cell(part), *(column[place] for column in found.values())]
        for place, part in enumerate(parts)
    ]
    note = (
        "Average place in pass rate, S_NR and F1 loss, 0 best and 1 worst; ties share their "
        "places. It compares the systems of this page only."
    )
    return Table("Composite Rank by slice", ["system", *found], rows, note=note)


def slices(part: Part, axis: str) -> Table:
    """Every slice along one axis, in both readings."""
    shown = (PASS_RATE, S_NR, F1_LOSS, SCORE, SCORE_INTERVAL)
    first, other = readings_from(reading_of([part]))
    columns = (
        word("level", AXES[axis]),
        word("tasks"),
        figure("points", "points", points),
        figure("points_interval", "95% interval", lambda ends: interval_text(ends, 1)),
        *(one.at("readings", first) for one in shown),
        SCORE.at("readings", other, label=f"score ({other}) ↓"),
    )
    rows = [{**row, "level": level} for level, row in part["slices"].get(axis, {}).items()]
    return Table.of("", columns, rows)


def matched(parts: Sequence[Part]) -> tuple[Table, Table, Table]:
    """Tables 24 and 25: views of one scene, what each arm lost, tellings of one problem."""
    found = [{**part["matched"], "system": part["system"]} for part in parts if part.get("matched")]
    contrasts = (
        SYSTEM,
        Column("contrast", lambda row: f"{row['arm']} − {row['reference']}"),
        word("pairs"),
        figure("mean", "mean", lambda mean: signed(mean, 3)),
        figure("sd", "SD"),
        figure("interval", "95% interval", interval_text),
        word("worse"),
        figure("survivor_mean", "both answered"),
        word("survivor_pairs", "of these"),
    )
    arms = (
        SYSTEM,
        word("arm"),
        word("tasks"),
        word("committed"),
        word("false_abstentions", "false abstentions"),
        figure("context_exits", "context exits", count),
        figure("limit_exits", "exits at a limit", count),
        figure("calls_per_task", "calls/task", points),
        figure("mean_loss", "mean loss"),
        figure("median_survivor_loss", "median of answered"),
    )
    ranges = (
        SYSTEM,
        word("bundles"),
        word("nontrivial", "moved"),
        word("large", "moved far"),
        figure("mean", "mean range"),
        figure("interval", "95% interval", interval_text),
        figure("max", "largest"),
        figure("mean_sd", "mean SD"),
    )
    pairs = (
        "The same question about the same scene under two views; loss capped at 1, which is also "
        "what no answer costs."
    )
    tellings = "One formal problem under several tellings: how far the capped loss moves."
    moved = [{**row["ranges"], "system": row["system"]} for row in found if row["ranges"]]
    return (
        Table.of("Matched views: capped loss, paired", contrasts, rows_of(found, "contrasts"), 2,
                 pairs),
        Table.of("Matched tasks by arm", arms, rows_of(found, "arms"), 2),
        Table.of("Matched tellings: range of the capped loss", ranges, moved, note=tellings),
    )  # fmt: skip


def bundles(part: Part) -> Table:
    """Table 23, bundle by bundle, the most moved first."""
    names = ("bundle", "variant", "structure", "rung", "members", "failed")
    columns = [*map(word, names), figure("lowest", "lowest"), figure("highest", "highest")]
    return Table.of("", columns, find(part, "matched", "ranges", "listed") or (), left=3)
