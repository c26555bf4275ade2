"""The papers' tables of slices against numbers worked out another way, and the place of each."""

import json
import random
import re
import shutil
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from statistics import fmean, mean
from typing import Any

import pytest
from score_rows import failed, row

from grader.commands.main import main
from grader.pages.table import Cell, Table
from grader.reports.aggregate import aggregate
from grader.reports.table import ScoreTable
from grader.scoring.model import Score
from grader.tracks import TRACKS
from grader.tracks.causalab import tables as curves
from grader.tracks.causalds import tables
from grader.tracks.replayscm.report import extras
from grader.tracks.replayscm.tables import SPECIFICATION as REPLAYSCM


def rows(count: int = 240) -> list[Score]:
    """Every pool, abstentions of all four kinds, failures, two motifs, three rungs."""
    rng = random.Random(23)
    made = []
    for k in range(count):
        pool = rng.choice(("pass", "pass", "f1", "nrel_point"))
        due, abstains = rng.random() < 0.3, rng.random() < 0.3
        more: dict[str, Any] = {
            "family": f"f{k % 5}", "rung": 1 + k % 3, "structure": f"m{k % 2}",
            "instance_id": f"i{k % 40}", "should_abstain": due, "abstained": abstains,
        }  # fmt: skip
        if rng.random() < 0.1:
            made.append(failed(f"t{k}", "pass" if due else pool, **more | {"abstained": False}))
        elif due or abstains:
            loss = float(due != abstains)
            own = row(f"t{k}", "pass", loss, **more)
            made.append(own if due else replace(own, pool=pool))
        else:
            made.append(row(f"t{k}", pool, rng.choice((0.0, 1.0)), **more))
    return made


def part(scores: list[Score]) -> dict[str, Any]:
    (found,) = aggregate(scores, {}, {}, {}, TRACKS).parts.values()
    return {**found, "system": "x"}


def test_rates_of_slices_are_those_of_their_rows() -> None:
    """Each level of each axis by hand, in both readings."""
    scores = rows()
    found = part(scores)
    levels: dict[tuple[str, str], list[Score]] = defaultdict(list)
    for score in scores:
        for axis, level in (("rung", str(score.rung)), ("family", score.family),
                            ("structure", score.structure), ("input_mode", "data")):  # fmt: skip
            levels[axis, level].append(score)
    for (axis, level), own in levels.items():
        rates = found["slices"][axis][level]["rates"]
        content = [1 - s.loss for s in own if s.pool == "pass" and not s.should_abstain]
        due = [1 - s.loss for s in own if s.should_abstain]
        assert rates["fixed"]["content_tasks"] == len(content)
        assert rates["fixed"]["content_pass_rate"] == pytest.approx(mean(content))
        assert rates["fixed"]["abstention_tasks"] == len(due)
        assert rates["fixed"]["abstention_pass_rate"] == pytest.approx(mean(due))
        routed = [s for s in own if s.paper_pool == "pass"]
        either = [1 - (s.paper_loss or 0) for s in routed if s.should_abstain or s.abstained]
        assert rates["paper"]["abstention_tasks"] == len(either)
        assert rates["paper"]["abstention_pass_rate"] == pytest.approx(mean(either))
        assert rates["paper"]["content_tasks"] == len(routed) - len(either)
    (fold,) = [block for block in tables.rates([found]) if "rung" in block.summary]
    assert [line[0] for line in fold.blocks[1].rows] == ["1", "2", "3"]


def test_views_have_their_numbers() -> None:
    scores = rows()
    _, table = tables.rates_by_view([part(scores)])
    cells = dict(zip(table.head, table.rows[0], strict=True))
    routed = [s for s in scores if s.paper_pool == "pass"]
    rate = mean(1 - (s.paper_loss or 0) for s in routed)
    assert cells["PassRate ↑ (n)"] == f"{rate:.3f} ({len(routed)})"
    errors = [s.paper_loss for s in scores if s.paper_pool == "nrel_point"]
    assert str(cells["Mean NRelErr ↓ (n)"]).endswith(f"({len(errors)})")


def test_attempts_tell_their_spread() -> None:
    """Tables 7 and 20: mean, SD and relative SD of the score; median SD of a task's loss."""
    spread = {"causalds_score": {"paper": {"mean": 0.4, "sd": 0.1}, "fixed": None}}
    found = {"system": "x", "runs": {**spread, "runs": [{}] * 3}}
    shown = tables.SPECIFICATION.table("variability", [{**found, "reading": "paper"}])
    assert shown.rows[0][1:] == ["3", "0.400", "0.100", "25.0%"]
    assert tables.SPECIFICATION.blocks("variability", [found]) == []
    pool = {"tasks": 9, "best": [], "worst": [], "run_sd": 0.25, "run_sd_tasks": 7}
    grid = {"system": "x", "attempts": {"attempts": 2, "binary": None, "slices": {},
                                        "pools": {"nrel_point": pool}}}  # fmt: skip
    table = tables.SPECIFICATION.table("attempts", [grid])
    assert table.head[2:] == ["k = 2"] and table.rows[0][1:] == ["run SD, nrel_point", "0.250 (7)"]


def test_the_composition_counts_every_task_once() -> None:
    scores = rows()
    found = part(scores)
    counted = {(r["structure"], r["family"]): r["tasks"] for r in found["composition"]}
    assert counted == Counter((s.structure, s.family) for s in scores)
    assert tables.SPECIFICATION.table("composition", [found]).rows[-1][-1] == str(len(scores))


def test_alternatives_are_pooled_over_the_systems_of_a_page() -> None:
    """A program counts once, whoever found an alternative to it."""
    found = {"a": {1, 2}, "b": {2, 3}, "c": set()}
    parts = [
        {"system": name,
         "found": [{"pool": "Ord-Match", "program": str(k), "alternative": k in own}
                   for k in range(8)]}
        for name, own in found.items()
    ]  # fmt: skip
    ((pool, programs, hit, share),) = REPLAYSCM.table("pooled", parts).rows
    assert (pool, programs, hit) == ("Ord-Match", "8", "3") and share == "0.375"


def replayed(pool: str, k: int, train: float, heldout: float, **more: Any) -> Score:
    marks = {"matched": int(pool.endswith("Full")), "level": 0, "determined": 0, "unique": 0,
             "has_shifted": 0, "train_exact": int(train == 1), "train_world_exact": train,
             "heldout_world_exact": heldout, **more}  # fmt: skip
    return row(f"{pool}{k}", "pass", 1.0, track="replayscm", structure=pool,
               instance_id=f"{pool[:3]}{'b' if 'Base' in pool else ''}{k}",
               extra_json=json.dumps(marks))  # fmt: skip


def system(name: str, shift: float) -> dict[str, Any]:
    """Two programs in each cohort."""
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
    lines = rows_by(REPLAYSCM.table("cohorts", PARTS), 0)
    assert lines["Ord-Base",][1:] == ["base", "2", "0.800", "0.600", "0.200", "0.750"]
    assert lines["Ord-Match",][1:] == ["disambiguated", "2", "0.900", "0.700", "0.200", "0.778"]
    assert lines["Hid-Ext",][1:] == ["extension", "2", "0.800", "0.600", "0.200", "0.750"]


def test_differences_are_pooled_and_those_of_each_system() -> None:
    """Tables F.1, F.4 and F.5: the pooled one is the mean of the systems', and its interval over
    systems lies inside their range."""
    single = rows_by(REPLAYSCM.table("cohorts_by_system", PARTS), 0, 1)
    shifts = [float(text(single[name, "Ord-Match: disambiguated − base"][2])) for name in "abc"]
    assert shifts == [0.05, 0.15, 0.1]
    table = REPLAYSCM.table("cohort_differences", PARTS)
    by_systems = table.rows[0][2]
    assert isinstance(by_systems, Cell) and float(by_systems.text) == pytest.approx(fmean(shifts))
    low, high = map(float, by_systems.aside.strip("[]").split(","))
    assert 0.05 <= low <= 0.1 <= high <= 0.15
    by_programs = table.rows[1][2]
    assert isinstance(by_programs, Cell) and by_programs.text == ""
    low, high = map(float, by_programs.aside.strip("[]").split(","))
    assert low < -0.2 and high > 0.4, "two programs of each cohort say little"
    assert REPLAYSCM.table("cohort_differences", PARTS[:1]).rows[0][2].aside == ""  # type: ignore[union-attr]


def test_pressure_bins_are_the_paper_s() -> None:
    lines = rows_by(REPLAYSCM.table("pressure", PARTS[:1]), 1, 2)
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
        assert REPLAYSCM.blocks(name, [found]) == []


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
    lines = rows_by(REPLAYSCM.table("sources", [first, second]), 0, 2)
    assert [lines["a", name][3] for name in ("KP-all", "OM-src", "SM-src", "OE")] == [
        "12", "6", "6", "6"
    ]  # fmt: skip
    assert lines["a", "SM-src"][4] == "0.500" and lines["a", "OM-src"][4] == "0.000"
    assert [lines["b", name][3] for name in ("KP-all", "OM-src", "SM-src", "OE")] == [
        "12", "0", "12", "6"
    ]  # fmt: skip


def suite(value: float) -> dict[str, Any]:
    """The figures of a suite of laboratories: every rate is ``value``."""
    names = ("accuracy", "edge_f1", "freq_edge_f1", "coefficient_f1", "root_f1", "skeleton_f1")
    return {**dict.fromkeys(names, value), "tasks": 2, "shd": 8 * (1 - value)}


def test_curves_of_laboratories_compare_like_with_like() -> None:
    """Sizes from the main suites alone; a variation is held against the main suite of its size."""
    suites = {"main-4 2o12i": suite(0.5), "main-6 2o20i": suite(0.75),
              "main-4-wide 2o12i": suite(0.1), "quad-hard 2o12i": suite(0.25),
              "hidden-count-1 2o12i": suite(0.4), "golden-6 2o0i": suite(1.0)}  # fmt: skip
    parts = [{"system": "x", "suites": suites}, {"system": "y", "suites": suites}]
    table = curves.SPECIFICATION.table("variations", parts[:1])
    shown = {line[1]: line[3].aside for line in table.rows}  # type: ignore[union-attr]
    assert shown == {
        "quad-hard 2o12i": "-0.250", "hidden-count-1 2o12i": "-0.100", "golden-6 2o0i": "+0.250"
    }  # fmt: skip
    assert len(curves.by_size(parts)) == 7 and len(curves.gaps_chart(parts)) == 1
    assert len(curves.SPECIFICATION.table("gaps", parts).rows) == 6


def test_regimes_are_drawn_by_what_is_varied() -> None:
    """Figures 11 to 13: observation, intervention and both are lines of their own, in order of
    budget; a suite with several regimes has a picture, one with a single one none."""
    labels = ["3o0i-4 3o0i", "24o0i-4 24o0i", "0o3i-4 0o3i", "3o3i-4 3o3i", "3o24i-4 3o24i",
              "quad-hard 2o6i", "quad-hard 2o12i", "hidden-count-1 2o12i", "main-3 2o8i",
              "main-4 2o12i", "main-5 2o16i", "main-5 2o4i"]  # fmt: skip
    part = {"system": "x", "suites": {label: suite(k / 12) for k, label in enumerate(labels)}}
    (fold,) = curves.scaling([part])
    titles = [picture.caption for picture in fold.blocks]  # type: ignore[union-attr]
    assert titles == [f"{metric}, {family}" for family in ("4 nodes", "main-5", "quad-hard")
                      for metric in ("task accuracy", "all-edge F1")]  # fmt: skip
    first = fold.blocks[0].markup()  # type: ignore[union-attr]
    for mode in ("records", "interventions", "3 records and interventions"):
        assert mode in first
    (row,) = curves.paths([part])
    regimes = row.blocks[0].markup()  # type: ignore[union-attr]
    assert regimes.count("4 nodes, ") == 7, "five regimes, and an arrow to each but the first"
    drawn = curves.by_size([part])
    assert "SHD" in drawn[-1].caption and "5 nodes: 0.833" in drawn[0].markup()
    table = curves.SPECIFICATION.table("variations", [part])
    assert "main-5 2o4i" in [line[1] for line in table.rows]  # type: ignore[union-attr]


LINE = re.compile(r"^\| (?P<number>[^|]+) \| [^|]+ \| `(?P<heading>[^`]+)` \| page \|$", re.M)


@pytest.mark.slow
@pytest.mark.parametrize("track", ["causalds", "replayscm", "ccr", "causalab"])
def test_every_table_and_figure_has_its_place(track, root, boards):
    """The pages in docs name sections."""
    found = list(LINE.finditer((root / f"docs/papers/{track}.md").read_text("utf-8")))
    assert len(found) > 5
    (own,) = [text for text in boards[track].split("<section>") if f"<h2>{track}</h2>" in text]
    for line in found:
        heading = f"<h3>{line['heading']}</h3>"
        assert heading in own, f"{line['number']}: {line['heading']}"
        inside = own[own.index(heading) + len(heading) :].partition('<div class="part">')[0]
        assert "<table>" in inside or "<svg" in inside, line["number"]


@pytest.fixture(scope="module")
def boards(mini_release: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Boards of ``mini`` by track: five systems, one with two attempts and costs."""
    from baselines.__main__ import main as baseline

    place = tmp_path_factory.mktemp("papers")
    at = ["--release", str(mini_release), "--exam", "mini"]
    for size, name in enumerate(("constant", "naive", "solver", "gold"), 1):
        assert baseline([name, *at, "--out", str(place / "answers" / name)]) == 0
        stated = f'{{"system": "{name}", "billion_parameters": {size}}}'
        (place / "answers" / name / "run.json").write_text(stated, "utf-8")
    twice = place / "answers" / "twice"
    shutil.copytree(place / "answers" / "gold", twice / "attempt-1")
    shutil.copytree(place / "answers" / "naive", twice / "attempt-2")
    usage = [
        f'{{"task_id": "{file.stem}", "input_tokens": 1000, "cost_usd": 0.01}}\n'
        for file in (twice / "attempt-1").rglob("*-*.json")
    ]
    (twice / "attempt-1" / "usage.jsonl").write_text("".join(usage), "utf-8")
    every = place / "all"
    whole = [*at[:2], "--exam", "all"]
    for name in ("symbolic", "majority", "gold"):
        assert baseline([name, *whole, "--out", str(every / name)]) == 0
    board = drawn(place / "board.html", place / "answers", at)
    alternatives = drawn(place / "all.html", every, [*whole, "--track", "replayscm"])
    return {**dict.fromkeys(("causalds", "ccr", "causalab"), board), "replayscm": alternatives}


def drawn(page: Path, answers: Path, at: list[str]) -> str:
    assert main(["leaderboard", str(answers), *at, "--html", str(page)]) == 0
    return page.read_text("utf-8")
