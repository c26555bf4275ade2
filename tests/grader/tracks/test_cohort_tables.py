"""ReplaySCM's tables of cohorts, shortcut pressure and sources, over systems made by hand."""

import json
from statistics import fmean
from typing import Any

import pytest
from score_rows import row

from grader.pages.table import Cell, Table
from grader.reports.table import ScoreTable
from grader.scoring.model import Score
from grader.tracks.replayscm.report import extras
from grader.tracks.replayscm.tables import SPECIFICATION


def replayed(pool: str, k: int, train: float, heldout: float, **more: Any) -> Score:
    marks = {"matched": int(pool.endswith("Full")), "level": 0, "determined": 0, "unique": 0,
             "has_shifted": 0, "train_exact": int(train == 1), "train_world_exact": train,
             "heldout_world_exact": heldout, **more}  # fmt: skip
    return row(f"{pool}{k}", "pass", 1.0, track="replayscm", structure=pool,
               instance_id=f"{pool[:3]}{'b' if 'Base' in pool else ''}{k}",
               extra_json=json.dumps(marks))  # fmt: skip


def system(name: str, shift: float) -> dict[str, Any]:
    """Two programs in each cohort: base 0.8 and 0.4 of the held-out worlds, Match better by
    ``shift``; a program of the base cohort is train-exact."""
    scores = []
    for order in ("Ord", "Hid"):
        for k, low in enumerate((0.8, 0.4)):
            scores += [
                replayed(
                    f"{order}-Base", k, 1.0 if k == 0 else 0.6, low, kill_coverage=0.2 + k / 2
                ),
                replayed(f"{order}-Full", k, 0.9, low + shift / 2, kill_coverage=0.9),
                replayed(f"{order}-Ext", k, 0.8, low),
            ]
    with ScoreTable(scores) as table:
        found = extras(table)
    return {**found, "system": name}


PARTS = [system("a", 0.1), system("b", 0.3), system("c", 0.2)]


def text(cell: str | Cell) -> str:
    return cell.text if isinstance(cell, Cell) else cell


def rows_by(table: Table, *columns: int) -> dict[tuple[str, ...], list[str | Cell]]:
    return {tuple(text(line[k]) for k in columns): list(line) for line in table.rows}


def test_cohorts_are_means_over_systems_and_programs() -> None:
    """Table F.3 by hand: base 0.8 and 0.6 of the training worlds in the mean, held out 0.6."""
    lines = rows_by(SPECIFICATION.table("cohorts", PARTS), 0)
    assert lines["Ord-Base",][1:] == ["base", "2", "0.800", "0.600", "0.200", "0.750"]
    assert lines["Ord-Match",][1:] == ["disambiguated", "2", "0.900", "0.700", "0.200", "0.778"]
    assert lines["Hid-Ext",][1:] == ["extension", "2", "0.800", "0.600", "0.200", "0.750"]


def test_differences_are_pooled_and_those_of_each_system() -> None:
    """Tables F.1, F.4 and F.5: the pooled one is the mean of the systems', and its interval over
    systems lies inside their range."""
    single = rows_by(SPECIFICATION.table("cohorts_by_system", PARTS), 0, 1)
    shifts = [float(text(single[name, "Ord-Match: disambiguated − base"][2])) for name in "abc"]
    assert shifts == [0.05, 0.15, 0.1]
    table = SPECIFICATION.table("cohort_differences", PARTS)
    by_systems = table.rows[0][2]
    assert isinstance(by_systems, Cell) and float(by_systems.text) == pytest.approx(fmean(shifts))
    low, high = map(float, by_systems.aside.strip("[]").split(","))
    assert 0.05 <= low <= 0.1 <= high <= 0.15
    by_programs = table.rows[1][2]
    assert isinstance(by_programs, Cell) and by_programs.text == ""
    low, high = map(float, by_programs.aside.strip("[]").split(","))
    assert low < -0.2 and high > 0.4, "two programs of each cohort say little"
    assert SPECIFICATION.table("cohort_differences", PARTS[:1]).rows[0][2].aside == ""  # type: ignore[union-attr]


def test_pressure_bins_are_the_paper_s() -> None:
    lines = rows_by(SPECIFICATION.table("pressure", PARTS[:1]), 1, 2)
    assert set(lines) == {("Ord-Full", "> 0.75"), ("Hid-Full", "> 0.75"),
                          ("Ord-Base", "≤ 0.50"), ("Hid-Base", "≤ 0.50"),
                          ("Ord-Base", "0.50–0.75"), ("Hid-Base", "0.50–0.75")}  # fmt: skip
    assert lines["Ord-Base", "≤ 0.50"][3:] == ["1", "0.800", "0.800", "*"]
    assert lines["Ord-Full", "> 0.75"][3:6] == ["2", "0.650", "0.722"]


def test_no_base_cohort_no_table() -> None:
    scores = [replayed("Ord-Full", k, 1.0, 0.5) for k in range(3)]
    with ScoreTable(scores) as table:
        found = {**extras(table), "system": "x"}
    assert found["cohorts"] == [] and found["pressure"] == []
    for name in ("cohorts", "cohort_differences", "cohorts_by_system", "pressure"):
        assert SPECIFICATION.blocks(name, [found]) == []


def test_alternatives_by_who_found_one() -> None:
    """Table G.2 over two systems: one found program 1, the other programs 1 and 2; none found 3."""

    def part(name: str, own: set[int], joint: set[int]) -> dict[str, Any]:
        rates = ("alternative", "experiment_valid", "separates", "witness")
        return {"system": name, "sources": [
            {"pool": "Alt-Ord", "program": str(k), "found": k in own, "joint": float(k in joint),
             **dict.fromkeys(rates, 1.0)}
            for k in range(1, 19)
        ]}  # fmt: skip

    first = part("a", set(range(1, 7)), set(range(1, 4)))
    second = part("b", set(range(1, 13)), set(range(1, 13)))
    lines = rows_by(SPECIFICATION.table("sources", [first, second]), 0, 2)
    assert [lines["a", name][3] for name in ("KP-all", "OM-src", "SM-src", "OE")] == [
        "12", "6", "6", "6"
    ]  # fmt: skip
    assert lines["a", "SM-src"][4] == "0.500" and lines["a", "OM-src"][4] == "0.000"
    assert [lines["b", name][3] for name in ("KP-all", "OM-src", "SM-src", "OE")] == [
        "12", "0", "12", "6"
    ]  # fmt: skip
