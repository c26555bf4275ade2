"""The causalds sections of the page: what a submission can and cannot do, and at what cost."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from grader.draw.svg import text
from grader.show.plots import Dot, Row, by_level, scatter, shares
from grader.show.table import name_cell, table
from grader.show.words import count_text, interval_text, number, percent
from grader.tracks.causalds.composite import axis_ranks

Report = Mapping[str, Any]
Section = tuple[str, str]

DRAWN: Final = 20
"""Systems that are drawn; tables have all of them."""
VIEWS: Final = ("clean", "proxy", "proxy_hard")
_AXES: Final = {
    "rung": "rung",
    "family": "family",
    "variant": "variant",
    "view": "observation view",
    "structure": "structure",
    "input_mode": "input mode",
}


def sections(reports: Sequence[Report]) -> list[Section]:
    """Title and content of each section, for the submissions that answer a causalds task."""
    shown = [r for r in reports if r["tracks"].get("causalds", {}).get("attempted")]
    if not shown:
        return []
    made: Sequence[tuple[str, Callable[[Sequence[Report]], str]]] = (
        ("causalds: knowing, and knowing when not to answer", _abstention),
        ("causalds: intervals, promised and kept", _calibration),
        ("causalds: error by observation view", _views),
        ("causalds: cost and quality", _cost),
        ("causalds: Composite Rank by slice", _ranks),
        ("causalds: every slice, both readings", _slices),
        ("causalds: repeated attempts", _attempts),
        ("causalds: matched ablation", _matched),
    )
    return [(title, content) for title, make in made if (content := make(shown))]


def _name(report: Report) -> str:
    return str(report["submission"]["system"])


def _track(report: Report) -> Mapping[str, Any]:
    track: Mapping[str, Any] = report["tracks"]["causalds"]
    return track


def _note(sentence: str) -> str:
    return f'<p class="note">{sentence}</p>'


def _abstention(reports: Sequence[Report]) -> str:
    """Figure 3b: content and abstention pass rates, and how often it gave up for nothing."""
    columns = {
        "content_pass_rate": "right on what has an answer",
        "abstention_pass_rate": "abstains where none exists",
        "unwarranted_abstention_rate": "abstains for nothing",
    }
    rows = [
        Row(
            _name(report),
            [
                Dot(k, value, title=f"{label}: {percent(value)}")
                for k, (key, label) in enumerate(columns.items())
                if (value := _track(report)["metrics"].get(key)) is not None
            ],
        )
        for report in reports[:DRAWN]
    ]
    if not any(row.dots for row in rows):
        return ""
    note = _note(
        "Exact-match tasks whose target is identifiable; tasks whose target is not; and the share "
        "of identifiable tasks, of any kind, that were declined (lower is better)."
    )
    head = ["system", "content, fixed", "abstention, fixed", "content, paper (n)",
            "abstention, paper (n)", "valid numbers"]  # fmt: skip
    lines = [[name_cell(_name(report)), *_pass_cells(_track(report))] for report in reports]
    plot = shares("Content against abstention", rows, list(columns.values()))
    return note + plot + table(head, lines, left=1)


def _pass_cells(track: Mapping[str, Any]) -> list[str]:
    """Table 4 in both readings, and the share of continuous tasks with a valid answer."""
    metrics = track["metrics"]
    paper = [
        f"{percent(metrics.get(f'paper_{part}_pass_rate'))} "
        f"({number(metrics.get(f'paper_{part}_tasks'), 0)})"
        for part in ("content", "abstention")
    ]
    return [
        percent(metrics.get("content_pass_rate")),
        percent(metrics.get("abstention_pass_rate")),
        *paper,
        f"{number(metrics.get('numeric_valid'), 0)}/{number(metrics.get('numeric_expected'), 0)}",
    ]


def _calibration(reports: Sequence[Report]) -> str:
    """Figure 3a: coverage of intervals beside the coverage they promise."""
    rows, lines = [], []
    for report in reports:
        for row in _track(report).get("calibration", []):
            if row["coverage"] is None:
                continue
            held = percent(row["coverage"])
            if row["coverage_interval"] is not None:
                held += f" {interval_text(row['coverage_interval'])}"
            # The family: two families have a variant of the same name, and none has two intervals.
            family = row["variant"].partition(".")[0].replace("_", " ")
            rows.append(
                Row(
                    f"{_name(report)[:16]} · {family}" if len(reports) > 1 else family,
                    [Dot(0, row["coverage"], row["coverage_interval"], held)],
                    row["nominal"],
                )
            )
            count = "–" if row["valid"] is None else f"{row['valid']}/{row['tasks']}"
            lines.append(
                [
                    name_cell(_name(report)),
                    text(row["variant"]),
                    count,
                    percent(row["nominal"]),
                    held,
                    number(row.get("median_normalised_width")),
                ]
            )
    if not rows:
        return ""
    note = _note("Upright line: the coverage asked for. Left of it is overconfidence.")
    head = ["system", "variant", "valid", "promised", "covered", "median width / scale"]
    return note + shares("Coverage of intervals", rows[: 2 * DRAWN]) + table(head, lines)


def _views(reports: Sequence[Report]) -> str:
    """Tables 5 and 6: pass rate, median and mean error under each view."""
    present = {view for report in reports for view in _track(report)["slices"].get("view", {})}
    views = [view for view in VIEWS if view in present] + sorted(present - set(VIEWS))
    cells = [
        [
            _track(report)["slices"]["view"].get(view, {}).get("readings", {}).get("fixed", {})
            for view in views
        ]
        for report in reports
    ]
    plot = ""
    if len(views) > 1:
        series = [
            (_name(report), [cell.get("med_nrel_err") for cell in row])
            for report, row in zip(reports[:6], cells, strict=False)
        ]
        plot = by_level("Median normalised error by view", views, series)
    head = ["system", *(f"{text(view)} {column}" for view in views for column in _VIEW_COLUMNS)]
    lines = [
        [
            name_cell(_name(report)),
            *(
                percent(cell.get(key)) if key == "pass_rate" else number(cell.get(key))
                for cell in row
                for key in _VIEW_COLUMNS.values()
            ),
        ]
        for report, row in zip(reports, cells, strict=True)
    ]
    note = _note(
        "Fixed reading: a number that is missing, invalid or withheld costs 10. Views hold "
        "different tasks: only a matched ablation compares like with like."
    )
    return note + plot + table(head, lines, left=1)


_VIEW_COLUMNS: Final = {
    "pass": "pass_rate",
    "median err": "med_nrel_err",
    "mean err": "mean_nrel_err",
}


def _cost(reports: Sequence[Report]) -> str:
    """Figure 4 and Table 18: tokens per task against CausalDSScore."""
    points, lines = [], []
    for report in reports:
        usage, reading = _track(report)["usage"], _track(report)["readings"].get("fixed", {})
        if not usage["tasks"]:
            continue
        tokens, score = usage["tokens_per_task"], reading.get("causalds_score")
        if tokens and score is not None:
            points.append((_name(report), tokens, score))
        total = usage["total_cost_usd"]
        lines.append(
            [
                name_cell(_name(report)),
                count_text(usage["total_tokens"]),
                count_text(tokens),
                number(usage["calls_per_task"], 1),
                number(usage["seconds_per_task"], 1),
                "–" if total is None else f"${total:,.2f}",
                number(score),
                count_text(usage["tokens_per_quality"].get("fixed")),
            ]
        )
    if not lines:
        return ""
    plot = ""
    if points:
        plot = scatter("Cost against quality", points, "tokens per task", "CausalDSScore ↓")
    head = [
        "system", "tokens", "tokens/task", "calls/task", "seconds/task", "cost",
        "CausalDSScore ↓", "tokens/(1−score)",
    ]  # fmt: skip
    return plot + table(head, lines, left=1)


def _ranks(reports: Sequence[Report]) -> str:
    """Table 14: Composite Rank inside each rung, view and input mode."""
    if len(reports) < 2:
        return ""
    found = {
        f"{_AXES[axis]} {level}": ranks
        for axis in ("rung", "view", "input_mode")
        for level, ranks in axis_ranks(reports, axis, "fixed").items()
    }
    head = ["system", *(text(name, 60) for name in found)]
    lines = [
        [name_cell(_name(report)), *(number(ranks[k]) for ranks in found.values())]
        for k, report in enumerate(reports)
    ]
    note = _note(
        "Average place in pass rate, S<sub>NR</sub> and F1 loss, 0 best and 1 worst; ties share "
        "their places. It compares the systems of this page only."
    )
    return note + table(head, lines, left=1)


def _slices(reports: Sequence[Report]) -> str:
    """All slices of one submission; a leaderboard would be too long."""
    if len(reports) > 1:
        return ""
    track = _track(reports[0])
    blocks = []
    for axis, title in _AXES.items():
        levels = track["slices"].get(axis, {})
        lines = [
            [text(level, 80), str(row["tasks"]), *_slice_cells(row)]
            for level, row in levels.items()
        ]
        if lines:
            opened = " open" if axis in ("rung", "view") else ""
            blocks.append(
                f"<details{opened}><summary>by {title}</summary>"
                f"{table([title, 'tasks', *_SLICE_HEAD], lines, left=1)}</details>"
            )
    return "".join(blocks)


_SLICE_HEAD: Final = (
    "points", "95% interval", "PassRate", "S<sub>NR</sub> ↓", "F1 loss ↓", "score (fixed) ↓",
    "95% interval", "score (paper) ↓",
)  # fmt: skip


def _slice_cells(row: Mapping[str, Any]) -> list[str]:
    fixed = row.get("readings", {}).get("fixed", {})
    paper = row.get("readings", {}).get("paper", {})
    return [
        number(row["points"], 1),
        interval_text(row.get("points_interval"), 1),
        percent(fixed.get("pass_rate")),
        number(fixed.get("s_nr")),
        number(fixed.get("med_f1_loss")),
        number(fixed.get("causalds_score")),
        interval_text(fixed.get("causalds_score_interval")),
        number(paper.get("causalds_score")),
    ]


def _attempts(reports: Sequence[Report]) -> str:
    """Tables 7, 19 and 20: pass@k, pass^k, best and worst of k, spread of complete runs."""
    lines = []
    for report in reports:
        figures, whole = _track(report).get("attempts"), report.get("attempts")
        if not figures or not whole or not figures["binary"]:
            continue
        binary, spread = figures["binary"], whole["causalds_score"].get("fixed")
        point = figures["pools"].get("nrel_point", {"best": [], "worst": []})
        lines.append(
            [
                name_cell(_name(report)),
                str(figures["attempts"]),
                " ".join(percent(value) for value in binary["pass_at"]),
                percent(binary["pass_all"][-1]),
                percent(binary["unstable"]),
                percent(binary["stable_fail"]),
                *(number(point[side][-1]["median"] if point[side] else None)
                  for side in ("best", "worst")),
                "–" if spread is None else f"{number(spread['mean'])} ± {number(spread['sd'])}",
            ]
        )  # fmt: skip
    if not lines:
        return ""
    head = [
        "system", "k", "pass@1 … pass@k", "pass^k", "unstable", "always fails",
        "best-of-k err", "worst-of-k err", "CausalDSScore, runs ± SD",
    ]  # fmt: skip
    note = _note(
        "Pools follow the truth alone. Errors are medians over points with a valid answer. The "
        "headline of this page is that of the first attempt."
    )
    return note + table(head, lines, left=1)


def _matched(reports: Sequence[Report]) -> str:
    """Tables 23 to 25."""
    contrasts, ranges = [], []
    for report in reports:
        found = _track(report).get("matched")
        if not found:
            continue
        for row in found["contrasts"]:
            contrasts.append(
                [
                    name_cell(_name(report)),
                    text(f"{row['arm']} − {row['reference']}"),
                    f"{row['mean']:+.3f} ± {number(row['sd'])}",
                    interval_text(row["interval"]),
                    f"{row['worse']}/{row['pairs']}",
                    f"{number(row['survivor_mean'])} ({row['survivor_pairs']})",
                ]
            )
        if (moved := found["ranges"]) is not None:
            ranges.append(
                [
                    name_cell(_name(report)),
                    str(moved["bundles"]),
                    str(moved["nontrivial"]),
                    str(moved["large"]),
                    f"{number(moved['mean'])} {interval_text(moved['interval'])}",
                    number(moved["max"]),
                ]
            )
    parts = []
    if contrasts:
        head = ["system", "contrast", "mean ± SD", "95% interval", "worse", "both answered (n)"]
        note = _note(
            "The same question about the same scene under two views; loss capped at 1, which is "
            "also what no answer costs."
        )
        parts.append(note + table(head, contrasts))
    if ranges:
        head = ["system", "bundles", "moved", "moved far", "mean range", "largest"]
        note = _note("One formal problem under several tellings: how far the capped loss moves.")
        parts.append(note + table(head, ranges, left=1))
    if len(reports) == 1 and ranges:
        parts.append(_bundles(_track(reports[0])["matched"]["ranges"]["listed"]))
    return "".join(parts)


def _bundles(listed: Sequence[Mapping[str, Any]]) -> str:
    """Table 23, bundle by bundle, the most moved first."""
    head = ["bundle", "variant", "structure", "rung", "members", "failed", "lowest", "highest"]
    rows = [
        [
            text(row["bundle"], 40),
            text(row["variant"], 80),
            text(row["structure"], 40),
            *(str(row[name]) for name in ("rung", "members", "failed")),
            number(row["lowest"]),
            number(row["highest"]),
        ]
        for row in listed
    ]
    return f"<details><summary>every bundle</summary>{table(head, rows, left=3)}</details>"
