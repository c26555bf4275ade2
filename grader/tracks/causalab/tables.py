"""The causalab tables: suites, and how a session gets on."""

from collections.abc import Sequence
from typing import Any, Final

from grader.draw.table import Cell, Column, Table, figure, word
from grader.draw.words import number
from grader.show.systems import SYSTEM, Part, Report, levels_of, part_of
from grader.tracks.causalab.summary import FIGURES

_UNSIGNED: Final = (
    "Transcripts were replayed, which proves that each is a possible session with its episode. "
    "Only --transcript-key with the host's key proves that the session took place."
)
_NOTE: Final = (
    "Accuracy is within the stated tolerance, with Wilson’s 95% interval; edge F1 is over all "
    "pairs. Class size: graphs that the interventions made leave equivalent (up to 5 nodes). "
    "Premature: predicted with budget left, although the hypothesis contradicts the readings or "
    "the class is larger than one."
)


def of_report(report: Report) -> list[Table]:
    """The suites of one submission; a redacted report has none."""
    table = suites([part_of(report, "causalab")], brief=True)
    return [table.without("system")] if table.rows else []


def suites(parts: Sequence[Part], brief: bool = False) -> Table:
    """Every suite and regime; ``brief`` is what fits a terminal."""
    columns = (
        SYSTEM,
        word("level", "suite, regime"),
        word("tasks"),
        figure("accuracy", "accuracy") if brief else Column("accuracy", _accuracy),
        *(figure(one.name, one.label) for one in FIGURES if one.label and (one.brief or not brief)),
    )
    signed = all(part["metrics"]["n_transcripts"] == part["metrics"]["n_signed"]
                 for part in parts if part.get("suites"))  # fmt: skip
    notes = [*([] if signed else [_UNSIGNED]), *([] if brief else [_NOTE])]
    rows = levels_of(parts, "suites")
    return Table.of("causalab suites", columns, rows, left=2, note=" ".join(notes))


def _accuracy(rates: Any) -> Cell:
    low, high = rates["intervals"]["accuracy"]
    return Cell(number(rates["accuracy"]), aside=f"[{low:.2f}, {high:.2f}]")


def progress(parts: Sequence[Part]) -> Table:
    """Edge F1 of the hypotheses held on the way, where interventions were made."""
    columns = (
        SYSTEM,
        word("level", "suite, regime"),
        figure("edge_f1_at_0", "before the first"),
        *(figure(f"edge_f1_at_{share}", f"{share}%") for share in (25, 50, 75)),
        figure("edge_f1", "final"),
    )
    note = "All-edge F1 of the hypothesis held after that share of the session’s own interventions."
    rows = [row for row in levels_of(parts, "suites") if row["used"]]
    return Table.of("edge F1 as a session goes on", columns, rows, left=2, note=note)


def by_success(parts: Sequence[Part]) -> Table:
    """Figure 14: what sessions with a right prediction did, and those with a wrong one."""
    columns = [SYSTEM, word("level", "suite, regime")]
    for key, heading in (
        ("budget_share", "budget used"), ("consistent", "consistent"), ("premature", "premature"),
    ):  # fmt: skip
        columns += [
            figure(f"{key}_{outcome}", f"{heading}, {told}")
            for outcome, told in (("accurate", "right"), ("inaccurate", "wrong"))
        ]
    rows = [row for row in levels_of(parts, "suites") if row["used"]]
    note = "right: the prediction is within the stated tolerance. A dash: no such session."
    return Table.of("By success", columns, rows, left=2, note=note)
