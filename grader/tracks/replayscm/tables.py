"""The replayscm tables: pools, edits by depth, a supplied program's worth, alternatives found."""

from collections.abc import Mapping, Sequence
from typing import Final

from grader.draw.table import Cell, Column, Table, word
from grader.draw.words import percent, points
from grader.show.systems import SYSTEM, Part, Report, levels_of, part_of, rows_of

PUBLISHED: Final[Mapping[str, Mapping[str, tuple[float, float, float]]]] = {
    "paper: symbolic exact-search": {
        "Ord-Full": (0.980, 0.884, 0.596),
        "Hid-Full": (0.900, 0.892, 0.536),
        "Block": (0.960, 0.927, 0.650),
        "Hid-Roots": (0.950, 0.880, 0.560),
    },
    "paper: bnlearn+DSL": {
        "Ord-Full": (0.996, 0.880, 0.596),
        "Hid-Full": (0.996, 0.896, 0.620),
        "Block": (1.000, 0.899, 0.620),
        "Hid-Roots": (0.900, 0.867, 0.530),
    },
}
"""TrainExact, HeldoutWorldExact, HeldoutExact of the paper's non-LLM rows (Table H.2).

On other items than ours: for orientation only.
"""


def of_report(report: Report) -> list[Table]:
    """What the evidence determines, the pools, and places in the prompt; a redacted report has
    none of them."""
    parts = [part_of(report, "replayscm")]
    found = [determination(parts), pools(parts), places(parts)]
    return [table.without("system") for table in found if table.rows]


def rate(value: float | None, denominator: int | None = None) -> str:
    """A rate to three digits; ``*`` over 1 to 5 cases, a dash over none (§5.1)."""
    if value is None or denominator == 0:
        return "–"
    if denominator is not None and 1 <= denominator <= 5:
        return "*"
    return f"{value:.3f}"


def rate_column(key: str, heading: str, about: str | None = None) -> Column:
    """A rate, over as many cases as the row has under ``about``."""
    return Column(heading, lambda row: rate(row[key], row[about] if about else None))


def determination(parts: Sequence[Part]) -> Table:
    """Records that the evidence determines and records that it does not, apart."""
    columns = (
        SYSTEM,
        Column("evidence", lambda row: "determines" if row["determined"] else "leaves open"),
        word("tasks"),
        Column("share", lambda row: percent(row["share"])),
        Column("points", lambda row: points(row["points"])),
        rate_column("train_exact", "TrainExact"),
        rate_column("heldout_exact", "HeldoutExact"),
        rate_column("shifted_exact", "HoExact shifted", "n_shifted"),
    )
    note = (
        "determines: every legal program that fits the training worlds replays every held-out "
        "world; elsewhere a held-out score is also a matter of luck or of a prior. shifted: "
        "held-out worlds under other root distributions; they do not count"
    )
    rows = rows_of(parts, "determination")
    shares = {row["determined"]: row["share"] for row in rows}
    # The share is the exam's: it is the same for every system.
    share = f": {percent(shares.get(True, 0.0))}" if shares else ""
    return Table.of(f"replayscm: determined records{share}", columns, rows, 2, note)


def places(parts: Sequence[Part]) -> Table:
    """Right mechanisms by the place of their variable in the prompt."""
    columns = (
        SYSTEM,
        word("pool"),
        word("fifth", "fifth of the list"),
        word("mechanisms"),
        rate_column("right_rate", "right", "mechanisms"),
    )
    return Table.of(
        "replayscm: mechanisms by place in the prompt", columns, rows_of(parts, "places"), 3
    )


def pools(parts: Sequence[Part], published: bool = False) -> Table:
    """What was reached in each pool; with ``published``, the paper's rows below."""
    columns = (
        SYSTEM,
        word("level", "pool"),
        word("tasks"),
        rate_column("valid", "valid"),
        rate_column("train_exact", "TrainExact"),
        rate_column("heldout_world_exact", "HeldoutWorld"),
        rate_column("heldout_exact", "HeldoutExact"),
        word("n_determined", "determined"),
        rate_column("heldout_exact_determined", "HoExact det.", "n_determined"),
        rate_column("heldout_exact_undetermined", "HoExact open"),
        rate_column("shifted_exact", "HoExact shifted", "n_shifted"),
        rate_column("parent_f1", "parent F1"),
        rate_column("joint", "Alt joint"),
        rate_column("heldout_given_train", "HoExact | train", "n_train_exact"),
        word("reasoning_error_cells", "reasoning"),
        word("missing_evidence_cells", "missing"),
    )
    note = (
        "reasoning, missing: wrong held-out cells on which every legal program that fits the "
        "training worlds agrees, and those that the evidence leaves open; * a rate over 1 to 5 "
        "answers"
    )
    table = Table.of("replayscm pools", columns, levels_of(parts, "pools"), 2, note)
    if not published:
        return table
    rows: list[Sequence[str | Cell]] = [
        [Cell(name, "name"), pool, "", "", *map(rate, rates), *[""] * 9]
        for name, found in PUBLISHED.items()
        for pool, rates in found.items()
    ]
    note += ". The rows of the paper are on other items: for orientation only"
    return Table(table.title, table.head, [*table.rows, *rows], 2, note)


def edits(parts: Sequence[Part]) -> Table:
    """Table G.5: where alternatives edit the supplied program, by depth."""
    columns = (
        SYSTEM,
        word("pool"),
        word("depth"),
        word("vars", "variables"),
        rate_column("changed_rate", "changed"),
        rate_column("parents_and_mechanism_rate", "parents and mechanism"),
        rate_column("mechanism_only_rate", "mechanism only"),
        rate_column("share_of_changes", "share of changes"),
    )
    return Table.of("Edits by depth", columns, rows_of(parts, "edits"), left=3)


def supplied(parts: Sequence[Part]) -> Table:
    """Table G.1: does a supplied program help?"""
    columns = (
        SYSTEM,
        word("induction"),
        word("alternative"),
        word("programs"),
        rate_column("train_exact", "TrainExact"),
        rate_column("joint", "Alt joint"),
        rate_column("joint_if_train_failed", "Alt joint | not TrainExact", "n_train_failed"),
    )
    return Table.of("A supplied program", columns, rows_of(parts, "supplied"), left=3)


def discovery(parts: Sequence[Part]) -> Table:
    """Tables F.13 and F.14: alternatives found, as evidence is added."""
    solved = "n_solved_both"
    columns = (
        SYSTEM,
        word("less", "less evidence"),
        word("more", "more evidence"),
        word("programs"),
        rate_column("found_less", "found"),
        rate_column("found_more", "found with more"),
        rate_column("delta", "difference"),
        word(solved, "solved both"),
        rate_column("found_less_if_solved", "found | solved", solved),
        rate_column("found_more_if_solved", "with more | solved", solved),
        rate_column("delta_if_solved", "difference | solved", solved),
    )
    return Table.of("Alternatives found", columns, rows_of(parts, "discovery"), left=3)
