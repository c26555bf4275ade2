"""Rows, formats and charts of CausalDS's ``page.toml``, and its columns of a leaderboard."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from grader.io.names import normal_name
from grader.pages.charts import bars, cost_cloud, dots, heat_cell, lines
from grader.pages.graph import Edge, Explanation, Graph, Kind, proofs
from grader.pages.page import Fold
from grader.pages.specification import Format, Specification, TrackPages
from grader.pages.svg import Svg
from grader.pages.systems import (
    SYSTEM,
    Part,
    Report,
    is_skipped,
    part_of,
    reading_of,
    readings_from,
    rows_of,
)
from grader.pages.table import Cell, Table, find
from grader.pages.words import (
    edge_changes,
    interval_text,
    number,
    percent,
    signed_number,
    with_count,
)
from grader.scoring.model import CheckedAnswer, Truth
from grader.scoring.route import READINGS
from grader.scoring.shape import Task
from grader.tracks.causalds.figures import axis_ranks, composite_ranks, leaderboard_ranks
from grader.tracks.causalds.matched_tasks import REFERENCE
from grader.tracks.causalds.scoring import answered_pairs, read_pairs

DRAWN: Final = 20
"""Systems that are drawn; tables have all of them."""
_LINES: Final = 6
"""Systems in a picture of lines."""

AXES: Final = {
    "rung": "rung",
    "family": "family",
    "variant": "variant",
    "view": "observation view",
    "structure": "structure",
    "input_mode": "input mode",
}
PUBLISHED: Final = {
    "family": "Tables 12 and 16: rates by task family",
    "rung": "Table 13: rates by rung",
    "input_mode": "Table 15: rates by input mode",
    "structure": "Table 17: rates by structural motif",
}
"""The axes that the paper has a table of."""

Rows = list[dict[str, Any]]


def _shade(loss: float, mark: str, valid: bool) -> Cell:
    """Return the loss of one arm of a pair, a star beside it where its answer has a mark all the
    same, or why there is no valid answer."""
    shown = number(loss, 2) + ("*" if mark else "")
    return heat_cell(loss, shown if valid else mark or "none")


_FORMATS: Final[Mapping[str, Format]] = {
    "dollars": lambda cost: "–" if cost is None else f"${cost:,.2f}",
    "length": lambda listed: str(len(listed)),
    "percent_of": lambda part, whole: percent(part / whole) if whole else "–",
    "shade": _shade,
    "sizes": lambda *counts: "–" if None in counts else "/".join(map(str, counts)),
}


def board_columns(reports: Sequence[Report]) -> list[tuple[str, list[str]]]:
    """Return headings and cells of a leaderboard: score, Composite Rank and, where no other track
    needs the room, the components of the score. A column has a cell for each report."""
    reading = reading_of(reports)
    parts = [{} if is_skipped(r, "causalds") else part_of(r, "causalds") for r in reports]
    rows = [
        {"reading": reading, **part, "rank": ranks.get(reading)}
        for part, ranks in zip(parts, leaderboard_ranks(reports), strict=True)
    ]
    suffix = "" if reading == READINGS[0] else f" ({reading})"
    table = SPECIFICATION.of_rows("board", rows, suffix=suffix)
    columns = zip(table.head, zip(*table.rows, strict=True), strict=True)
    found = [(heading, [*map(str, cells)]) for heading, cells in columns]
    return found if len(reports[0]["tracks"]) == 1 else found[:2]


def readings_in_order(parts: Sequence[Part]) -> Rows:
    """Return the scores of each system by reading, the one that a screen leads with first."""
    order = readings_from(reading_of(parts))
    return sorted(rows_of(parts, "readings"), key=lambda row: order.index(row["level"]))


def ranks(parts: Sequence[Part]) -> Rows:
    """Return Table 14: the Composite Rank of each system in each rung, view and input mode, and
    overall; [] for one system."""
    reading = reading_of(parts)
    found = {
        f"{AXES[axis]} {level}": ranks
        for axis in ("rung", "view", "input_mode")
        for level, ranks in axis_ranks(parts, axis, reading).items()
    }
    found["overall"] = composite_ranks([part["readings"].get(reading, {}) for part in parts])
    return [
        {SYSTEM: part[SYSTEM], "slice": name, "rank": column[k]}
        for k, part in enumerate(parts if len(parts) > 1 else ())
        for name, column in found.items()
    ]


def levels_of(parts: Sequence[Part], axis: str) -> Rows:
    """Return the figures of each system at each level of an axis, level by level."""
    return sorted(rows_of(parts, f"slices.{axis}"), key=lambda row: row["level"])


def slices(parts: Sequence[Part]) -> Iterator[Fold]:
    """Yield all slices of one submission, a table an axis; none for several, as too long."""
    for axis, title in AXES.items() if len(parts) == 1 else ():
        table = SPECIFICATION.table("slice", parts, partial(levels_of, axis=axis), axis=title)
        if table.rows:
            yield Fold(f"by {title}", [table], axis in ("rung", "view"))


def rates(parts: Sequence[Part]) -> list[Fold]:
    """Return pass rates and losses by level of every axis that the paper has a table of."""
    return [Fold(about, _rates(parts, axis, about)) for axis, about in PUBLISHED.items()]


def rates_by_view(parts: Sequence[Part]) -> list[Table]:
    """Return Tables 5 and 6 in both readings. Views hold different tasks: only a matched ablation
    compares like with like."""
    return _rates(parts, "view", "Tables 5 and 6: rates by observation view")


def _rates(parts: Sequence[Part], axis: str, about: str) -> list[Table]:
    """Return the rates of every level of an axis with n in brackets, a table for each reading."""
    rows = partial(levels_of, axis=axis)
    return [
        SPECIFICATION.table("rate", parts, rows, axis=AXES[axis], about=about, reading=name)
        for name in readings_from(reading_of(parts))
    ]


def composition(parts: Sequence[Part]) -> Rows:
    """Return Table 11, numbers of tasks by motif and family of the first part; [] without."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in parts[0].get("composition", ()):
        for motif in (row["structure"], "all"):
            for family in (row["family"].replace("_", " "), "all"):
                counts[motif, family] += row["tasks"]
    motifs, families = (
        sorted({place[k] for place in counts}, key=lambda name: (name == "all", name))
        for k in (0, 1)
    )
    return [
        {"motif": motif, "family": family, "tasks": counts[motif, family] or None}
        for motif in motifs
        for family in families
    ]


def attempts(parts: Sequence[Part]) -> Rows:
    """Return Tables 7, 19 and 20: what the first k attempts pass, and their best and worst loss.

    A figure of all attempts stands at the last k.
    """
    return [
        {SYSTEM: part[SYSTEM], "figure": label, "k": f"k = {k}", "shown": text}
        for part in parts
        if part.get("attempts")
        for label, texts in _attempt_lines(part["attempts"])
        for k, text in enumerate(texts, part["attempts"]["attempts"] - len(texts) + 1)
    ]


def _attempt_lines(found: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield label and texts of one system's lines, a text for each k or one for all attempts."""
    if (binary := found["binary"]) is not None:
        about = "" if binary["tasks"] is None else f" ({binary['tasks']} tasks)"
        for key, label in (
            ("pass_at", "pass@k"),
            ("pass_all", "pass^k"),
            ("pass_at_first", "passed in the first k"),
        ):
            yield label + about, [*map(percent, binary[key])]
        for key, label in (
            ("unstable", "unstable"),
            ("stable_fail", "always fails"),
            ("mean_success", "mean of a run"),
        ):
            yield label, [percent(binary[key])]
    for name, pool in found["pools"].items():
        for side in ("best", "worst"):
            losses = [with_count(number(row["median"]), row["valid"]) for row in pool[side]]
            yield f"{side}-of-k loss, {name}", losses
        if "run_sd" in pool:
            yield f"run SD, {name}", [with_count(number(pool["run_sd"]), pool["run_sd_tasks"])]


def lifts(parts: Sequence[Part]) -> Rows:
    """Return by system and slice pass@1 (``first``), pass@k (``last``) and their ``lift``."""
    rows = []
    for part in parts:
        for axis, levels in (find(part, "attempts", "slices") or {}).items():
            for level, found in levels.items():
                first, last = found["pass_at"][0], found["pass_at"][-1]
                about = {"slice": f"{axis.replace('_', ' ')} {level}", "tasks": found["tasks"]}
                ends = {"first": first, "last": last, "lift": last - first}
                rows.append({"system": part["system"], **about, **ends})
    return rows


def every_pair(parts: Sequence[Part]) -> Rows:
    """Return Figure 9: a row for each side of every matched pair, the reference's first."""
    sides = (("reference_", REFERENCE), ("", None))
    return [
        {SYSTEM: row[SYSTEM], "bundle": row["bundle"], "arm": arm or row["arm"]}
        | {name: row[f"{side}{name}"] for name in ("loss", "mark", "valid")}
        for row in rows_of(parts, "matched.pairs")
        for side, arm in sides
    ]


def decomposition_chart(parts: Sequence[Part]) -> list[Svg]:
    """Return Figure 10: the mean paired difference of each contrast as a bar of its parts."""
    rows = [
        {
            "name": f"{row['system']}: {row['arm']} − {row['reference']}",
            "end": signed_number(row["mean"], 2),
            "series": f"pairs {kind}",
            "value": one["contribution"],
            "hover": f"{kind}: {one['pairs']} pairs, {signed_number(one['contribution'], 3)}",
        }
        for row in rows_of(parts[:_LINES], "matched.contrasts")
        for kind, one in row["parts"].items()
    ]
    title = "Figure 10: the mean difference of the capped loss, by its parts"
    return [bars(title, rows)] if rows else []


def abstention_chart(parts: Sequence[Part]) -> list[Svg]:
    """Return Figure 3b: shares of right content, due abstentions, and needless ones."""
    series = {
        "content_pass_rate": "right on what has an answer",
        "abstention_pass_rate": "abstains where none exists",
        "unwarranted_abstention_rate": "abstains for nothing",
    }
    rows = [
        {"name": part["system"], "series": label, "value": share,
         "hover": f"{label}: {percent(share)}"}
        for part in parts[:DRAWN]
        for key, label in series.items()
        if (share := part["metrics"].get(key)) is not None
    ]  # fmt: skip
    return [dots("Content against abstention", rows)] if rows else []


def calibration_chart(parts: Sequence[Part]) -> list[Svg]:
    """Return Figure 3a: coverage of intervals beside the coverage they promise."""
    rows = []
    for row in rows_of(parts[:DRAWN], "calibration"):
        # The family: two families have a variant of the same name, and none has two intervals.
        family = row["variant"].partition(".")[0].replace("_", " ")
        ends, nominal, coverage = (row[k] for k in ("coverage_interval", "nominal", "coverage"))
        if coverage is not None:
            rows.append({
                "name": f"{family} · {row['system']}" if len(parts) > 1 else family,
                "value": coverage,
                "interval": ends,
                "hover": f"{percent(coverage)} {interval_text(ends, 1, percent) if ends else ''}",
                "tick": nominal and (nominal, f"promised {nominal:.0%}"),
            })  # fmt: skip
    return [dots("Coverage of intervals", rows)] if rows else []


def view_chart(parts: Sequence[Part]) -> list[Svg]:
    """Return the median error of each system under each view."""
    return _by_level("Median normalised error by view", parts, "view", "med_nrel_err")


def rung_chart(parts: Sequence[Part]) -> list[Svg]:
    """Return Figure 8: the pass rate of each system at each rung."""
    title = f"Figure 8: pass rate by rung, {reading_of(parts)} reading"
    return _by_level(title, parts, "rung", "pass_rate", 1)


def _by_level(
    title: str, parts: Sequence[Part], axis: str, key: str, ceiling: float | None = None
) -> list[Svg]:
    """Return a chart of figure ``key``, a line a system over two levels or more, or []."""
    path = ("readings", reading_of(parts), key)
    rows = [{**row, "series": row["system"], "value": find(row, *path)}
            for row in levels_of(parts[:_LINES], axis)]  # fmt: skip
    return [lines(title, rows, ceiling)] if len({row["level"] for row in rows}) > 1 else []


def cost_chart(parts: Sequence[Part]) -> list[Svg]:
    """Return Figure 4: tokens per task against CausalDSScore."""
    reading = reading_of(parts)
    points = [
        (part["system"], tokens, score)
        for part in parts[:DRAWN]
        if (tokens := find(part, "usage", "tokens_per_task"))
        and (score := find(part, "readings", reading, "causalds_score")) is not None
    ]
    title = "Cost against quality"
    return [cost_cloud(title, "tokens per task", "CausalDSScore ↓", points)] if points else []


def world_graph(world: Mapping[str, Any]) -> Graph:
    """Return the graph of a parsed ``world_json`` by story name, its latent variables, treatment
    and outcome marked."""
    names = {node: variable["name"] for node, variable in world["variables"].items()}
    kinds: dict[str, Kind] = {names[node]: "latent" for node in world["world"]["latent"]}
    kinds |= {names[world["treatment"]]: "treatment", names[world["outcome"]]: "outcome"}
    edges = [(names[a], names[b]) for a, b in world["world"]["edges"]]
    return Graph(list(names.values()), edges, kinds)


def explain_task(task: Task, truth: Truth, world: Mapping[str, Any]) -> Explanation:
    """Return hidden graph, telling sentences and proof; without a world row the proof alone."""
    texts = proofs(__file__)
    kind = "abstain" if truth.should_abstain else task.shape.kind
    source = str(world.get("value_source") or "")
    proof = texts.get(kind, texts["graph"])
    if kind in ("number", "interval"):
        proof = f"{texts.get(source, '')} {proof}".strip()
    if "world" not in world:
        return Explanation(proof=proof)
    graph = world_graph(world)
    told: dict[str, list[Edge]] = {}
    for attested in world.get("attestations", ()):
        what = attested["what"]
        if what[0] == "edge" and (what[1], what[2]) in graph.edges:
            told.setdefault(str(attested["sentence"]), []).append((what[1], what[2]))
    telling, equations = world["plan"]["telling"], world["plan"]["equations"]
    facts = [
        ("domain", str(telling.get("domain") or telling.get("words") or "")),
        ("mechanisms", f"{equations.get('continuous')}, {equations.get('binary')}"),
        ("never measured", ", ".join(v for v, k in graph.kinds.items() if k == "latent") or "none"),
    ]
    return Explanation(graph, told, facts, proof)


def diagnose(task: Task, truth: Truth, checked: CheckedAnswer) -> list[tuple[str, str]]:
    """Return a line on the edges that differ; none for an answer that is no graph."""
    if task.shape.kind != "edges":
        return []
    nodes, arrow = truth.target["nodes"], "→" if task.shape.field == "edges" else "–"
    names = {normal_name(node): node for node in nodes}
    given, true = (
        {(names.get(a, a), names.get(b, b)) for a, b in read_pairs(task, nodes, pairs)}
        for pairs in (answered_pairs(task, checked.answer), truth.target["edges"])
    )
    return [("edges", edge_changes(given, true, arrow))]


SPECIFICATION: Final = Specification.read(
    Path(__file__).with_name("page.toml"), globals(), _FORMATS
)


PAGES: Final = TrackPages(
    explain_task=explain_task,
    diagnose=diagnose,
    tables=SPECIFICATION.in_terminal,
    sections=SPECIFICATION.of_reports,
    board_columns=board_columns,
    compared=lambda part: [SPECIFICATION.table("compared", [part])],
)
