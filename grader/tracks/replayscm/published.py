"""The ReplaySCM paper's tables of diagnostics, from the rates of each pool."""

from collections.abc import Sequence
from typing import Final

from grader.draw.table import Cell, Column, Row, Table, word
from grader.draw.words import interval_text, signed, signed_interval
from grader.show.systems import SYSTEM, Part, levels_of, rows_of
from grader.tracks.replayscm.report import LEVELS, METRICS
from grader.tracks.replayscm.tables import rate

_NAMES: Final = {
    "train_exact": "TrainExact",
    "heldout_world_exact": "HeldoutWorld",
    "heldout_exact": "HeldoutExact",
    "parent_shd": "parent SHD ↓",
    "parent_f1": "parent F1",
    "parent_map_exact": "exact parent map",
    "local_match": "local match",
}
_MATCHED: Final = tuple(dict.fromkeys(pool for rung in LEVELS for pool in rung))


def _rates(*columns: tuple[str, str] | tuple[str, str, str]) -> list[Column]:
    """Rates by key and heading, each over as many cases as the row has under a third name."""

    def column(key: str, heading: str, about: str = "") -> Column:
        return Column(heading, lambda row: rate(row[key], row[about] if about else None))

    return [column(*one) for one in columns]


def _induction(parts: Sequence[Part]) -> list[Row]:
    return [row for row in levels_of(parts, "pools") if not row["level"].startswith("Alt-")]


def _table(title: str, columns: Sequence[Column], rows: Sequence[Row], note: str = "") -> Table:
    return Table.of(title, [SYSTEM, word("level", "pool"), *columns], rows, 2, note)


def structure(parts: Sequence[Part]) -> Table:
    """Tables 2, C.2 and C.3: parents and mechanisms of executable answers."""
    columns = _rates(
        ("valid", "valid"), ("parent_recall", "parent recall"), ("parent_f1", "parent F1"),
        ("parent_shd", "parent SHD ↓"), ("parent_variable_exact", "parents exact, per variable"),
        ("parent_map_exact", "exact parent map"), ("local_match", "mean local match"),
        ("local_full", "all mechanisms match"),
        ("train_given_map", "TrainExact | map", "n_map_exact"),
        ("heldout_given_map", "HoExact | map", "n_map_exact"),
    )  # fmt: skip
    note = "Over executable answers; conditional rates over those with the exact parent map."
    return _table("Structure", columns, _induction(parts), note)


def validation(parts: Sequence[Part]) -> Table:
    """Table C.1: what share of the answers each stage of the evaluator lets pass."""
    stages = ("strict_json", "extracted_json", "schema", "keys", "parse", "legal", "acyclic")
    columns = _rates(*((name, name.replace("_", " ")) for name in stages))
    return _table("Stages of validation", columns, levels_of(parts, "pools"))


def conditional(parts: Sequence[Part]) -> Table:
    """Table C.4: held-out replay among answers that fit every training world."""
    columns = [
        word("n_train_exact", "train-exact answers"),
        *_rates(("heldout_world_given_train", "HeldoutWorld | train", "n_train_exact"),
                ("heldout_given_train", "HoExact | train", "n_train_exact"),
                ("retention", "retention")),
    ]  # fmt: skip
    return _table("Among train-exact answers", columns, _induction(parts))


def intervals(parts: Sequence[Part]) -> Table:
    """Tables 1, E.1 and F.7: the replay metrics of each pool with bootstrap intervals."""

    def column(metric: str) -> Column:
        def cell(row: Row) -> Cell:
            ends = row["intervals"].get(metric)
            return Cell(rate(row[metric]), aside=interval_text(ends) if ends else "")

        return Column(_NAMES[metric], cell)

    rows = _induction(parts)
    note = "Central 95% intervals from resampling programs."
    return _table("Replay with intervals", [word("tasks"), *map(column, METRICS)], rows, note)


def deltas(parts: Sequence[Part]) -> Table:
    """Tables D.1 and F.10: differences paired by program, first pool minus second; of structure
    over the programs with an executable answer in both."""
    columns = (
        SYSTEM,
        Column("difference", lambda row: f"{row['first']} − {row['second']}"),
        Column("metric", lambda row: _NAMES[row["metric"]]),
        word("programs"),
        Column("Δ", lambda row: Cell(signed(row["delta"], 3), aside=_interval(row))),
    )
    rows = [row for row in rows_of(parts, "deltas") if row["subset"] == "all"]
    return Table.of("Paired differences", columns, rows, left=3)


def _interval(row: Row) -> str:
    return "" if row["interval"] is None else signed_interval(row["interval"], 3)


def matched(parts: Sequence[Part]) -> Table:
    """Table D.2: TrainExact on the same programs at every level of evidence."""
    pools = [pool for pool in _MATCHED if any(pool in part["pools"] for part in parts)]
    rows = [
        [SYSTEM.cell(part),
         *(rate(part["pools"][p]["train_exact"]) if p in part["pools"] else "–" for p in pools)]
        for part in parts
    ]  # fmt: skip
    return Table("TrainExact on the matched programs", ["system", *pools], rows)


def roots(parts: Sequence[Part]) -> Table:
    """Tables 3B and G.6 to G.8: the root set, and what follows once it is right."""
    columns = _rates(
        ("root_exact", "RootExact"), ("train_exact", "TrainExact"),
        ("heldout_exact", "HeldoutExact"),
        ("train_given_root", "TrainExact | roots", "n_root_exact"),
        ("heldout_world_given_root", "HeldoutWorld | roots", "n_root_exact"),
        ("heldout_given_root", "HoExact | roots", "n_root_exact"),
        ("train_given_root_wrong", "TrainExact | roots wrong", "n_root_wrong"),
    )  # fmt: skip
    rows = [row for row in levels_of(parts, "pools") if row["root_exact"] is not None]
    return _table("Hidden roots", columns, rows)


def alternatives(parts: Sequence[Part]) -> Table:
    """Tables 3A, G.3 and G.4: joint success, the experiment, and how far the program differs."""
    columns = _rates(
        ("joint", "joint"), ("train_exact", "TrainExact"), ("experiment_valid", "experiment valid"),
        ("separates", "separates"), ("witness", "witness"),
        ("pair_disagreement", "worlds that differ"), ("cell_difference", "cells that differ"),
        ("optimality", "against the best"), ("parent_f1", "parent F1 with the reference"),
        ("local_match", "local match"), ("one_variable_edit", "edits one variable"),
        ("one_variable_same_parents", "… same parents"),
        ("one_variable_new_parents", "… new parents"),
    )  # fmt: skip
    rows = [row for row in levels_of(parts, "pools") if row["level"].startswith("Alt-")]
    return _table("Alternatives", columns, rows)


def found(parts: Sequence[Part]) -> Table:
    """Table F.12: alternatives found by each system, over answers and over train-exact ones."""
    columns = [
        word("tasks", "attempted"),
        word("n_train_exact", "train-exact"),
        word("alternatives"),
        *_rates(("alternative_rate", "rate / attempt")),
        Column("rate / train-exact", lambda row: rate(
            row["alternatives"] / row["n_train_exact"] if row["n_train_exact"] else None,
            row["n_train_exact"],
        )),
    ]  # fmt: skip
    rows = [row for row in _induction(parts) if row["level"] in _MATCHED]
    return _table("Alternatives found by each system", columns, rows)


def pooled(parts: Sequence[Part]) -> Table:
    """Table F.11: programs of which any of the systems found an alternative."""
    rows = []
    for pool in _MATCHED:
        programs: dict[str, bool] = {}
        for row in rows_of(parts, "found"):
            if row["pool"] == pool:
                known = programs.get(row["program"], False)
                programs[row["program"]] = known or row["alternative"]
        if programs:
            hit = sum(programs.values())
            rows.append([pool, str(len(programs)), str(hit), rate(hit / len(programs))])
    head = ["pool", "programs", "with an alternative", "any alternative rate"]
    note = "Pooled over the systems of this page: train-exact programs that differ somewhere."
    return Table("Alternatives found by any system", head, rows, note=note)
