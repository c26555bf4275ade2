"""The paper's tables of slices: composition, rates with their counts, repeated attempts."""

from collections.abc import Mapping, Sequence
from typing import Final

from grader.draw.table import Cell, Column, Row, Table, find, word
from grader.draw.words import counted, number, percent
from grader.show.systems import SYSTEM, Part

PUBLISHED: Final[Mapping[str, str]] = {
    "family": "Tables 12 and 16: rates by task family",
    "rung": "Table 13: rates by rung",
    "input_mode": "Table 15: rates by input mode",
    "structure": "Table 17: rates by structural motif",
}
"""The axes that the paper has a table of."""


def composition(part: Part) -> Table:
    """Table 11: tasks by motif and family."""
    rows = part.get("composition", ())
    families = sorted({row["family"] for row in rows})
    counts = {(row["structure"], row["family"]): row["tasks"] for row in rows}
    structures = sorted({row["structure"] for row in rows})
    lines = [
        [
            structure,
            *(str(counts.get((structure, family), "")) for family in families),
            str(sum(counts.get((structure, family), 0) for family in families)),
        ]
        for structure in structures
    ]
    total = [str(sum(counts.get((one, family), 0) for one in structures)) for family in families]
    if lines:
        lines.append(["all", *total, str(sum(counts.values()))])
    head = ["motif", *(family.replace("_", " ") for family in families), "all"]
    return Table("Table 11: composition of the exam", head, lines)


def rates(parts: Sequence[Part], axis: str, reading: str) -> Table:
    """Pass rate with its two halves, and losses, of every level of an axis, with n in brackets."""

    def share(name: str, heading: str) -> Column:
        def cell(row: Row) -> str:
            found = find(row, "rates", reading) or {}
            return counted(percent(found.get(f"{name}_pass_rate")), found.get(f"{name}_tasks"))

        return Column(heading, cell)

    def loss(key: str, count: str, heading: str) -> Column:
        def cell(row: Row) -> str:
            found = find(row, "readings", reading) or {}
            return counted(number(found.get(key)), found.get(count))

        return Column(heading, cell)

    columns = (
        word("level", axis.replace("_", " ")),
        SYSTEM,
        loss("pass_rate", "n_pass", "PassRate ↑ (n)"),
        share("content", "content (n)"),
        share("abstention", "abstention (n)"),
        loss("med_nrel_err", "n_nrel", "Med NRelErr ↓ (n)"),
        loss("s_nr", "n_nrel", "S_NR ↓ (n)"),
        loss("med_f1_loss", "n_f1", "Med F1-loss ↓ (n)"),
        loss("causalds_score", "", "CausalDSScore ↓"),
    )
    levels = sorted({level for part in parts for level in part["slices"].get(axis, {})})
    rows = [
        {**part["slices"][axis][level], "level": level, "system": part["system"]}
        for level in levels
        for part in parts
        if level in part["slices"].get(axis, {})
    ]
    return Table.of(f"{PUBLISHED[axis]}, {reading} reading", columns, rows, left=2)


def decomposition(parts: Sequence[Part]) -> Table:
    """Figure 10: the mean paired difference by what became of validity; the parts add up to it."""
    rows: list[list[str | Cell]] = []
    for part in parts:
        for contrast in (part.get("matched") or {}).get("contrasts", ()):
            for name, found in contrast["parts"].items():
                rows.append([
                    SYSTEM.cell(part), f"{contrast['arm']} − {contrast['reference']}", name,
                    str(found["pairs"]), number(found["contribution"]),
                ])  # fmt: skip
    head = ["system", "contrast", "pairs that are …", "pairs", "contribution"]
    return Table("Figure 10: the mean difference decomposed", head, rows, left=3)


def instances(parts: Sequence[Part]) -> Table:
    """Figure 9: the capped loss of every matched pair, system by system."""
    listed = [((part.get("matched") or {}).get("pairs", ()), part) for part in parts]
    rows: list[list[str | Cell]] = [
        [
            SYSTEM.cell(part),
            Cell(row["bundle"], "id"),
            row["arm"],
            _marked(row["reference_loss"], row["reference_mark"], row["reference_valid"]),
            _marked(row["loss"], row["mark"], row["valid"]),
        ]
        for rows_of, part in listed
        for row in rows_of
    ]
    head = ["system", "pair", "arm", "loss, clean", "loss"]
    note = "abst: abstained; ctx: the context was full; *: answered, and full all the same."
    return Table("Figure 9: every matched pair", head, rows, left=3, note=note)


def _marked(loss: float, mark: str, valid: bool) -> Cell:
    """A loss, and beside it how an answer failed."""
    return Cell(number(loss), aside="*" if valid and mark else mark)
