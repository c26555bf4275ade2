"""What CausalDS's tables and charts in ``page.toml`` are made of, and its columns of a board."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from grader.pages.graph import Edge, Explanation, Graph, Kind, proofs
from grader.pages.page import Block, Fold, Section
from grader.pages.specification import Format, Specification
from grader.pages.systems import (
    SYSTEM,
    Part,
    Report,
    is_skipped,
    part_of,
    parts_of,
    reading_of,
    readings_from,
    rows_of,
)
from grader.pages.table import Cell, Table, find
from grader.pages.track_pages import TrackPages
from grader.pages.words import number, percent, with_count
from grader.scoring.model import Truth
from grader.scoring.route import READINGS
from grader.scoring.shape import Task
from grader.tracks.causalds import charts
from grader.tracks.causalds.charts import matched_rows, views_of
from grader.tracks.causalds.figures import axis_ranks, composite_ranks, leaderboard_ranks

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


def _marked(loss: float, mark: str, valid: bool) -> Cell:
    """A loss, and beside it how an answer failed."""
    return Cell(number(loss), aside="*" if valid and mark else mark)


_FORMATS: Final[Mapping[str, Format]] = {
    "dollars": lambda cost: "–" if cost is None else f"${cost:,.2f}",
    "length": lambda listed: str(len(listed)),
    "marked": _marked,
    "percent_of": lambda part, whole: percent(part / whole) if whole else "–",
    "sizes": lambda *counts: "–" if None in counts else "/".join(map(str, counts)),
}


def board_columns(reports: Sequence[Report]) -> list[tuple[str, list[str]]]:
    """Headings and cells on a leaderboard; with the components of the score where there is room."""
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


def compared(track: Mapping[str, Any]) -> list[Table]:
    """CausalDSScore of two submissions, and its difference."""
    return [SPECIFICATION.table("compared", [track])]


def score_differences(tracks: Sequence[Mapping[str, Any]]) -> Rows:
    """The difference of two scores by reading."""
    (track,) = tracks
    found = track.get("readings", {})
    return [
        {"reading": reading, **found[reading]["causalds_score"]}
        for reading in readings_from(reading_of(tracks))
        if find(found, reading, "causalds_score") is not None
    ]


def every(parts: Sequence[Part]) -> Sequence[Part]:
    """A row for each system."""
    return parts


def metered(parts: Sequence[Part]) -> list[Part]:
    """The systems that tell what a task took."""
    return [part for part in parts if find(part, "usage", "tasks")]


def readings_in_order(parts: Sequence[Part]) -> Rows:
    """The scores of each system by reading, the one that a screen leads with first."""
    order = readings_from(reading_of(parts))
    return sorted(rows_of(parts, "readings"), key=lambda row: order.index(row["level"]))


_VIEW_FIGURES: Final = {
    "PassRate ↑": ("pass_rate", "n_pass"),
    "Med NRelErr ↓": ("med_nrel_err", "n_nrel"),
    "Mean NRelErr ↓": ("mean_nrel_err", "n_nrel"),
}
_VIEW_NOTES: Final = {
    "fixed": "Fixed reading: a number that is missing, invalid or withheld costs 10. Views hold "
    "different tasks: only a matched ablation compares like with like.",
    "paper": "Paper reading: abstentions change pools, missing numbers leave the exam.",
}


def by_view(parts: Sequence[Part]) -> list[Table]:
    """Tables 5 and 6 in both readings: pass rate, median and mean error under each view, with the
    number of tasks, and the coverage of effect intervals."""
    return [_by_view(parts, reading) for reading in readings_from(reading_of(parts))]


def _by_view(parts: Sequence[Part], reading: str) -> Table:
    rows = []
    for part in parts:
        found = {"ate_uq_95 covered (n)": _effect_coverage(part)}
        for view in views_of(parts):
            of_view = find(part, "slices", "view", view, "readings", reading) or {}
            for label, (key, n) in _VIEW_FIGURES.items():
                found[f"{view} {label} (n)"] = with_count(number(of_view.get(key)), of_view.get(n))
        rows.append(([SYSTEM.cell(part)], found))
    columns = [f"{view} {label} (n)" for view in views_of(parts) for label in _VIEW_FIGURES]
    columns.append("ate_uq_95 covered (n)")
    title = f"Error by observation view, {reading} reading"
    return Table.pivot(title, ["system"], columns, rows, _VIEW_NOTES[reading])


def _effect_coverage(part: Part) -> str:
    """How often intervals of average effects hold the truth, over the valid ones."""
    rows = [r for r in part.get("calibration", ()) if r["variant"] == "effect_estimate.ate_uq_95"]
    return with_count(percent(rows[0]["coverage"]), rows[0]["valid"]) if rows else "–"


def ranks(parts: Sequence[Part]) -> list[Table]:
    """Table 14: Composite Rank inside each rung, view and input mode."""
    reading = reading_of(parts)
    found = {
        f"{AXES[axis]} {level}": ranks
        for axis in ("rung", "view", "input_mode")
        for level, ranks in axis_ranks(parts, axis, reading).items()
    }
    found["overall"] = composite_ranks([part["readings"].get(reading, {}) for part in parts])
    rows = [
        ([SYSTEM.cell(part)], {name: number(column[k]) for name, column in found.items()})
        for k, part in enumerate(parts)
    ]
    note = (
        "Average place in pass rate, S_NR and F1 loss, 0 best and 1 worst; ties share their "
        "places. It compares the systems of this page only."
    )
    table = Table.pivot("Composite Rank by slice", ["system"], [*found], rows, note)
    return [table] if len(parts) > 1 else []


def slices(parts: Sequence[Part]) -> list[Block]:
    """All slices of one submission, in both readings; a leaderboard would be too long."""
    blocks: list[Block] = []
    for axis, title in AXES.items() if len(parts) == 1 else ():
        table = SPECIFICATION.table("slice", parts, _levels(axis), axis=title)
        opened = axis in ("rung", "view")
        blocks += [Fold(f"by {title}", [table], opened)] if table.rows else []
    return blocks


def rates(parts: Sequence[Part]) -> list[Block]:
    """Pass rate with its two halves, and losses, of every level of an axis, with n in brackets."""
    blocks: list[Block] = []
    for axis, about in PUBLISHED.items():
        said = {"axis": axis.replace("_", " "), "about": about}
        tables = [
            SPECIFICATION.table("rate", parts, _levels(axis), **said, reading=reading)
            for reading in readings_from(reading_of(parts))
        ]
        blocks.append(Fold(about, tables))
    return blocks


def _levels(axis: str) -> Callable[[Sequence[Part]], Rows]:
    """What makes the rows of an axis, level by level."""

    def rows(parts: Sequence[Part]) -> Rows:
        found = rows_of([{**part["slices"], "system": part["system"]} for part in parts], axis)
        return sorted(found, key=lambda row: row["level"])

    return rows


def composition(parts: Sequence[Part]) -> list[Table]:
    """Table 11: tasks by motif and family."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in parts[0].get("composition", ()):
        for place in ((row["structure"], row["family"]), (row["structure"], "all"),
                      ("all", row["family"]), ("all", "all")):  # fmt: skip
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
    """Tables 7, 19 and 20: what the first k attempts pass, and their best and worst loss."""
    repeated = [part for part in parts if part.get("attempts")]
    most = max((part["attempts"]["attempts"] for part in repeated), default=0)
    rows = [
        ([SYSTEM.cell(part), label], {f"k = {k}": cell for k, cell in found.items()})
        for part in repeated
        for label, found in _attempt_lines(part["attempts"])
    ]
    columns = [f"k = {k}" for k in range(1, most + 1)]
    table = Table.pivot(
        "Repeated attempts, pools by the truth", ["system", "figure"], columns, rows, _ATTEMPT_NOTE
    )
    return [table] if rows else []


def _attempt_lines(found: Mapping[str, Any]) -> Iterator[tuple[str, dict[int, str]]]:
    """Labels, and cells by the number of attempts; what is about all stands under the last."""
    binary, last = found["binary"], found["attempts"]
    if binary is not None:
        about = "" if binary["tasks"] is None else f" ({binary['tasks']} tasks)"
        kinds = {"pass_at": "pass@k", "pass_all": "pass^k",
                 "pass_at_first": "passed in the first k"}  # fmt: skip
        for key, label in kinds.items():
            yield label + about, dict(enumerate(map(percent, binary[key]), start=1))
        shares = {"unstable": "unstable", "stable_fail": "always fails",
                  "mean_success": "mean of a run"}  # fmt: skip
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


def repeated(parts: Sequence[Part]) -> list[Part]:
    """The systems whose attempts have a score each, as complete exams."""
    reading = reading_of(parts)
    return [part for part in parts if find(part, "runs", "causalds_score", reading)]


def lifts_by_slice(parts: Sequence[Part]) -> Rows:
    """What a second and further attempts add, by slice."""
    return _lifts(parts, ("rung", "view", "input_mode"))


def lifts_by_family(parts: Sequence[Part]) -> Rows:
    """What a second and further attempts add where abstaining is due, by family."""
    return _lifts(parts, ("abstention",))


def _lifts(parts: Sequence[Part], axes: Sequence[str]) -> Rows:
    rows = []
    for part in parts:
        for axis in axes:
            for level, found in (find(part, "attempts", "slices", axis) or {}).items():
                first, last = found["pass_at"][0], found["pass_at"][-1]
                about = {"slice": f"{axis.replace('_', ' ')} {level}", "tasks": found["tasks"]}
                ends = {"first": first, "last": last, "lift": last - first}
                rows.append({"system": part["system"], **about, **ends})
    return rows


def contrasts(parts: Sequence[Part]) -> Rows:
    """Table 24: what another view costs, paired."""
    return matched_rows(parts, "contrasts")


def arms(parts: Sequence[Part]) -> Rows:
    """Table 25: what each arm lost."""
    return matched_rows(parts, "arms")


def ranges(parts: Sequence[Part]) -> Rows:
    """Table 23: how far the loss moves inside a bundle of tellings."""
    return [
        {**found, "system": part["system"]}
        for part in parts
        if (found := find(part, "matched", "ranges"))
    ]


def bundles_of_one(parts: Sequence[Part]) -> Rows:
    """Table 23, bundle by bundle, the most moved first; of one system alone."""
    return (find(parts[0], "matched", "ranges", "listed") or []) if len(parts) == 1 else []


def validity_changes(parts: Sequence[Part]) -> Rows:
    """Figure 10: the mean paired difference by what became of validity; the parts add up to it."""
    return [
        {**contrast, "kind": kind, **found}
        for contrast in contrasts(parts)
        for kind, found in contrast["parts"].items()
    ]


def matched_pairs(parts: Sequence[Part]) -> Rows:
    """Figure 9: the capped loss of every matched pair."""
    return matched_rows(parts, "pairs")


_NUMERIC: Final = frozenset({"number", "interval"})


def explain_task(task: Task, truth: Truth, world: Mapping[str, Any]) -> Explanation:
    """Return the hidden graph, the sentences that tell its edges, and the proof of the truth.

    Without a world row there is the proof alone.
    """
    texts = proofs(__file__)
    kind = "abstain" if truth.should_abstain else task.shape.kind
    source = str(world.get("value_source") or "")
    proof = texts.get(kind, texts["graph"])
    if kind in _NUMERIC:
        proof = f"{texts.get(source, '')} {proof}".strip()
    if "world" not in world:
        return Explanation(proof=proof)
    names = {node: variable["name"] for node, variable in world["variables"].items()}
    kinds: dict[str, Kind] = {names[node]: "latent" for node in world["world"]["latent"]}
    kinds |= {names[world["treatment"]]: "treatment", names[world["outcome"]]: "outcome"}
    edges = [(names[a], names[b]) for a, b in world["world"]["edges"]]
    told: dict[str, list[Edge]] = {}
    for attested in world.get("attestations", ()):
        what = attested["what"]
        if what[0] == "edge" and (what[1], what[2]) in edges:
            told.setdefault(attested["sentence"], []).append((what[1], what[2]))
    telling, equations = world["plan"]["telling"], world["plan"]["equations"]
    facts = [
        ("domain", str(telling.get("domain") or telling.get("words") or "")),
        ("mechanisms", f"{equations.get('continuous')}, {equations.get('binary')}"),
        ("never measured", ", ".join(names[node] for node in world["world"]["latent"]) or "none"),
    ]
    return Explanation(Graph(list(names.values()), edges, kinds), told, facts, proof)


SPECIFICATION: Final = Specification.read(
    Path(__file__).with_name("page.toml"), {**vars(charts), **globals()}, _FORMATS
)


def sections(reports: Sequence[Report]) -> list[Section]:
    """What there is to show of the submissions that answer a causalds task."""
    parts = parts_of(reports, "causalds")
    return SPECIFICATION.page(parts) if parts else []


PAGES: Final = TrackPages(
    explain_task=explain_task,
    tables=SPECIFICATION.in_terminal,
    sections=sections,
    board_columns=board_columns,
    compared=compared,
)
