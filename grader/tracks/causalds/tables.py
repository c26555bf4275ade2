"""Rows and formats of the tables in CausalDS's ``page.toml``, and its columns of a leaderboard."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from grader.io.names import normal_name
from grader.pages.graph import Edge, Explanation, Graph, Kind, proofs
from grader.pages.page import Block, Fold
from grader.pages.specification import Format, Specification, TrackPages
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
from grader.pages.words import edge_changes, number, percent, with_count
from grader.scoring.model import CheckedAnswer, Truth
from grader.scoring.route import READINGS
from grader.scoring.shape import Task
from grader.tracks.causalds import charts
from grader.tracks.causalds.figures import axis_ranks, composite_ranks, leaderboard_ranks
from grader.tracks.causalds.scoring import answered_pairs, read_pairs

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


_FORMATS: Final[Mapping[str, Format]] = {
    "dollars": lambda cost: "–" if cost is None else f"${cost:,.2f}",
    "length": lambda listed: str(len(listed)),
    # Beside a valid answer any mark of how one failed is shown as a star.
    "marked": lambda loss, mark, valid: Cell(number(loss), aside="*" if valid and mark else mark),
    "percent_of": lambda part, whole: percent(part / whole) if whole else "–",
    "sizes": lambda *counts: "–" if None in counts else "/".join(map(str, counts)),
}


def board_columns(reports: Sequence[Report]) -> list[tuple[str, list[str]]]:
    """Return headings and cells of a leaderboard: score, Composite Rank and, where no other track
    needs the room, the components of the score. A column has a cell for each report."""
    reading = reading_of(reports)
    suffix = "" if reading == READINGS[0] else f" ({reading})"
    parts = [{} if is_skipped(r, "causalds") else part_of(r, "causalds") for r in reports]
    shown = {"causalds_score": "CausalDSScore ↓"}
    if len(reports[0]["tracks"]) == 1:
        shown |= {"pass_rate": "PassRate ↑", "s_nr": "S_NR ↓", "f1_loss": "F1-loss ↓"}
    found = []
    for key, label in shown.items():
        values = [find(part, "readings", reading, key) for part in parts]
        digits = 4 if key == "causalds_score" else 3
        found.append((label + suffix, [number(value, digits) for value in values]))
    ranks = [number(rank.get(reading)) for rank in leaderboard_ranks(reports)]
    return [found[0], ("Comp. Rank ↓", ranks), *found[1:]]


def score_differences(tracks: Sequence[Mapping[str, Any]]) -> Rows:
    """Return, a row a reading, the first score minus the second of the one track."""
    (track,) = tracks
    found = track.get("readings", {})
    return [
        {"reading": reading, **found[reading]["causalds_score"]}
        for reading in readings_from(reading_of(tracks))
        if find(found, reading, "causalds_score") is not None
    ]


def readings_in_order(parts: Sequence[Part]) -> Rows:
    """Return the scores of each system by reading, the one that a screen leads with first."""
    order = readings_from(reading_of(parts))
    return sorted(rows_of(parts, "readings"), key=lambda row: order.index(row["level"]))


def ranks(parts: Sequence[Part]) -> list[Table]:
    """Return Table 14: Composite Rank in each rung, view and input mode; [] for one system."""
    reading = reading_of(parts)
    found = {
        f"{AXES[axis]} {level}": ranks
        for axis in ("rung", "view", "input_mode")
        for level, ranks in axis_ranks(parts, axis, reading).items()
    }
    found["overall"] = composite_ranks([part["readings"].get(reading, {}) for part in parts])
    rows = [
        ([Cell(part[SYSTEM], "name")], {name: number(column[k]) for name, column in found.items()})
        for k, part in enumerate(parts)
    ]
    note = (
        "Average place in pass rate, S_NR and F1 loss, 0 best and 1 worst; ties share their "
        "places. It compares the systems of this page only."
    )
    table = Table.pivot("Composite Rank by slice", ["system"], [*found], rows, note)
    return [table] if len(parts) > 1 else []


def slices(parts: Sequence[Part]) -> list[Block]:
    """Return all slices of one submission, a table an axis; [] for several, as too long."""
    blocks: list[Block] = []
    for axis, title in AXES.items() if len(parts) == 1 else ():
        table = SPECIFICATION.table("slice", parts, _levels(axis), axis=title)
        opened = axis in ("rung", "view")
        blocks += [Fold(f"by {title}", [table], opened)] if table.rows else []
    return blocks


def rates(parts: Sequence[Part]) -> list[Fold]:
    """Return pass rates and losses by level of every axis that the paper has a table of."""
    return [Fold(about, _rates(parts, axis, about)) for axis, about in PUBLISHED.items()]


def rates_by_view(parts: Sequence[Part]) -> list[Table]:
    """Return Tables 5 and 6 in both readings. Views hold different tasks: only a matched ablation
    compares like with like."""
    return _rates(parts, "view", "Tables 5 and 6: rates by observation view")


def _rates(parts: Sequence[Part], axis: str, about: str) -> list[Table]:
    """Return the rates of every level of an axis with n in brackets, a table for each reading."""
    return [
        SPECIFICATION.table(
            "rate", parts, _levels(axis), axis=AXES[axis], about=about, reading=name
        )
        for name in readings_from(reading_of(parts))
    ]


def _levels(axis: str) -> Callable[[Sequence[Part]], Rows]:
    """Return the function that makes the rows of an axis, level by level."""

    def rows(parts: Sequence[Part]) -> Rows:
        found = rows_of([{**part["slices"], "system": part["system"]} for part in parts], axis)
        return sorted(found, key=lambda row: row["level"])

    return rows


def composition(parts: Sequence[Part]) -> list[Table]:
    """Return Table 11, numbers of tasks by motif and family of the first part; [] without."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in parts[0].get("composition", ()):
        for place in (
            (row["structure"], row["family"]),
            (row["structure"], "all"),
            ("all", row["family"]),
            ("all", "all"),
        ):
            counts[place] += row["tasks"]
    motifs, families = (dict.fromkeys(sorted({p[k] for p in counts} - {"all"})) for k in (0, 1))
    rows = [
        ([motif], {f.replace("_", " "): str(counts[motif, f] or "") for f in [*families, "all"]})
        for motif in [*motifs, "all"]
    ]
    columns = [family.replace("_", " ") for family in [*families, "all"]]
    title = "Table 11: composition of the exam"
    return [Table.pivot(title, ["motif"], columns, rows)] if counts else []


_ATTEMPT_NOTE: Final = (
    "Pools follow the truth alone. Losses are medians over tasks with a valid answer, which are "
    "counted in brackets. The headline is that of the first attempt."
)


def attempts(parts: Sequence[Part]) -> list[Table]:
    """Return Tables 7, 19 and 20: what the first k attempts pass, and their best and worst loss."""
    repeated = [part for part in parts if part.get("attempts")]
    most = max((part["attempts"]["attempts"] for part in repeated), default=0)
    rows = [
        ([Cell(part[SYSTEM], "name"), label], {f"k = {k}": cell for k, cell in found.items()})
        for part in repeated
        for label, found in _attempt_lines(part["attempts"])
    ]
    columns = [f"k = {k}" for k in range(1, most + 1)]
    table = Table.pivot(
        "Repeated attempts, pools by the truth", ["system", "figure"], columns, rows, _ATTEMPT_NOTE
    )
    return [table] if rows else []


def _attempt_lines(found: Mapping[str, Any]) -> Iterator[tuple[str, dict[int, str]]]:
    """Yield label and cells by k of one system's lines; figures of all at the last k."""
    binary, last = found["binary"], found["attempts"]
    if binary is not None:
        about = "" if binary["tasks"] is None else f" ({binary['tasks']} tasks)"
        kinds = {
            "pass_at": "pass@k",
            "pass_all": "pass^k",
            "pass_at_first": "passed in the first k",
        }
        for key, label in kinds.items():
            yield label + about, dict(enumerate(map(percent, binary[key]), start=1))
        shares = {
            "unstable": "unstable",
            "stable_fail": "always fails",
            "mean_success": "mean of a run",
        }
        for key, label in shares.items():
            yield label, {last: percent(binary[key])}
    for name, pool in found["pools"].items():
        for side in ("best", "worst"):
            losses = [with_count(number(row["median"]), row["valid"]) for row in pool[side]]
            yield f"{side}-of-k loss, {name}", dict(enumerate(losses, start=1))
    for name, pool in found["pools"].items():
        if "run_sd" in pool:
            yield (
                f"run SD, {name}",
                {last: with_count(number(pool["run_sd"]), pool["run_sd_tasks"])},
            )


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


def validity_changes(parts: Sequence[Part]) -> Rows:
    """Return a row for each part, by validity, of each mean difference (Figure 10)."""
    return [
        {**contrast, "kind": kind, **found}
        for contrast in rows_of(parts, "matched.contrasts")
        for kind, found in contrast["parts"].items()
    ]


_NUMERIC: Final = frozenset({"number", "interval"})


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
    if kind in _NUMERIC:
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
    Path(__file__).with_name("page.toml"), {**vars(charts), **globals()}, _FORMATS
)


PAGES: Final = TrackPages(
    explain_task=explain_task,
    diagnose=diagnose,
    tables=SPECIFICATION.in_terminal,
    sections=SPECIFICATION.of_reports,
    board_columns=board_columns,
    compared=lambda part: [SPECIFICATION.table("compared", [part])],
)
