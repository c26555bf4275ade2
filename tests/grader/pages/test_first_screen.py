"""The first screen, 24 lines of 80 columns and true; and what ``--reading`` makes it lead with."""

import io
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from grading import put
from score_rows import failed, row
from small_release import answer_file, task_id

from grader.pages import leaderboard
from grader.pages.browse import INDEX
from grader.pages.report import costliest, first_screen
from grader.pages.systems import families_of
from grader.pages.table import Cell, Table
from grader.pages.terminal import PrintableConsole, TerminalTable
from grader.pages.words import number
from grader.reports.aggregate import aggregate
from grader.reports.redact import redact
from grader.scoring.model import Score
from grader.tracks import TRACKS


def printed(renderable: Any, width: int = 80) -> str:
    out = io.StringIO()
    PrintableConsole(file=out, width=width, highlight=False).print(renderable)
    return out.getvalue()


def made(scores: list[Score], **more: Any) -> dict[str, Any]:
    totals = aggregate(scores, {}, {}, {}, TRACKS)
    census = totals.census
    return {
        "submission": {"system": "x", "run": {}}, "release": {"name": "r 1"}, "split": "s",
        "exam": "e", "census": census, "notices": [], "points": totals.points,
        "points_interval": [0.0, 100.0], "detectable": 1.0, "skill": None, "skill_interval": None,
        "skill_detectable": None, "floor": None, "tracks": totals.parts, **more,
    }  # fmt: skip


def rows() -> list[Score]:
    """Twelve families of ten tasks each, so that they count; family k has k points in 12."""
    return [
        row(f"t{k}-{n}", "pass", 1 - k / 12, family=f"family_{k:02}", instance_id=f"i{k}{n}",
            metric_value=None)
        for k in range(12) for n in range(10)
    ]  # fmt: skip


def test_the_worst_report_fits_one_screen() -> None:
    """Eight tracks, names without end, thousands of notes, every way of being invalid."""
    report = made([replace(score, floor=0.0) for score in rows()])
    part = next(iter(report["tracks"].values()))
    scaled = {"skill": -12.3, "skill_interval": [-100.0, 100.0], "floor": 30.0}
    report |= {
        "tracks": {f"a_track_with_a_long_name_{k}": part | scaled for k in range(8)},
        **scaled, "skill_detectable": 12.3,
        "submission": {"system": "system " * 40, "run": {}},
        "notices": ["a note that goes on " * 20] * 3000,
        "endings": {f"ending number {k}": 1000 + k for k in range(30)},
        "census": {"tasks": 9999, "scored": 1, "missing": 2, "invalid": 3,
                   "invalid_reasons": {f"reason_{k}": k for k in range(30)}},
    }  # fmt: skip
    text = printed(
        first_screen(report, TRACKS, [f"--option{k} does something or other" for k in range(4)])
    )
    lines = text.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80, text
    assert text.count("-12.3  [-100.0, 100.0]") == 6, "a line a track, and the headline"
    for part_of_it in ("skill", "points", "floor 30.0", "weakest", "strongest", "9999", "ending",
                       "3000 notes", "next", "--option3"):  # fmt: skip
        assert part_of_it in text, part_of_it


def test_the_weakest_and_the_strongest_families_are_named() -> None:
    report = made(rows())
    text = printed(first_screen(report, TRACKS))
    for low, high in ((0, 11), (1, 10), (2, 9)):
        line = next(line for line in text.splitlines() if f"family_{low:02}" in line)
        assert f"family_{high:02}" in line and f"{100 * high / 12:.1f}" in line
    assert "family_05" not in text
    assert families_of(redact(report)) == [], "of a redacted report nothing is said"
    assert "weakest" not in printed(first_screen(redact(report), TRACKS))


def test_the_commands_print_one_screen_and_the_rest_when_asked(runner, gold, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    put(gold, "method", "{")
    at = ("grade", gold, *runner.dev, "--exam", "all")
    outputs = (runner.run(*at, *more).out for more in ((), ("--full",)))
    short, full = ([line.rstrip() for line in out.splitlines()] for out in outputs)
    assert len(short) <= 24 < len(full) and full[: len(short) - 1] == short[:-1]
    assert max(map(len, short + full)) <= 80
    assert any("explain" in line for line in short) and any("--csv" in line for line in short)
    track = runner.run(*at, "--track", "causalds").out
    assert "pass rate" in track and "pass rate" not in "\n".join(short)


def test_what_a_task_costs_is_what_its_points_would_add() -> None:
    """Derived the other way: the headline with all points for that one task, minus the headline."""
    scores = [*rows()[::5], *(replace(score, track="ccr", task_id=f"c{score.task_id}")
                              for score in rows()[:2])]  # fmt: skip
    scores[0] = replace(scores[0], points=0.25)
    scores += [failed("left out", "pass", track=track) for track in ("replayscm", "ccr")]
    tried = [score for score in scores if score.track != "replayscm"]

    def headline(these: list[Score]) -> float:
        parts: dict[str, list[float]] = {}
        for score in these:
            parts.setdefault(score.track, []).append(100 * score.points)
        means = [sum(values) / len(values) for values in parts.values()]
        return sum(means) / len(means)

    found = costliest(scores, 100)
    assert [cost for _, cost in found] == sorted((cost for _, cost in found), reverse=True)
    assert {score.task_id for score, _ in found} == {
        score.task_id for score in tried if score.points < 1 and score.status != "missing"
    }
    for dear, cost in found:
        better = [replace(score, points=1.0) if score == dear else score for score in tried]
        assert cost == pytest.approx(headline(better) - headline(tried))


def test_a_table_too_wide_for_the_terminal_stands_below_itself() -> None:
    """No cell is cut or broken, the first columns are repeated, and a wide one is drawn once."""
    head = ["system", *(f"figure {k}" for k in range(20))]
    cells = [[f"system-{n}", *(Cell(f"{k}.{n}00", aside="[0.1, 0.2]") for k in range(20))]
             for n in range(2)]  # fmt: skip
    table = Table("a title", head, cells, note="a note")
    narrow, wide = printed(TerminalTable(table), 80), printed(TerminalTable(table), 1000)
    for text in (narrow, wide):
        assert text.count("a title") == text.count("a note") == 1
        assert all(f"{k}.{n}00  [0.1, 0.2]" in text for k in range(20) for n in range(2))
    assert wide.count("system-1") == 1 < narrow.count("system-1")
    assert max(map(len, narrow.splitlines())) <= 80


def test_a_board_is_80_columns_wide_and_names_its_systems() -> None:
    """Place, name, headline and a column a track; everything else waits for --full."""
    part = next(iter(made(rows())["tracks"].values())) | {"skill": None}
    names = ("causalds", "ccr", "replayscm", "causalab")
    found = made(
        rows(), tracks={name: {**part, "readings": {}} for name in names},
        submission={"system": "system " * 40, "run": {}}, points=100.0,
        points_interval=[100.0, 100.0], usage={"input_tokens": 1, "output_tokens": 1},
    )  # fmt: skip
    (whole, _) = leaderboard.boards([(1, found)], TRACKS, "a title")
    (table,) = leaderboard.first_screen(whole, names)
    title, head, line, *more = printed(TerminalTable(table, framed=False)).splitlines()
    assert max(map(len, (title, head, line, *more))) <= 80 and len(more) <= 7
    assert head.split() == ["#", "system", "points", "[95%", "interval]", *names]
    assert line.startswith("1  system") and "  100.0  [100.0, 100.0]" in line and "…" in more[-1]


WAYS = ("fixed", "paper")


@pytest.fixture
def mixed(gold: Path) -> Path:
    """Right but for a number that is left out and one that is withheld."""
    (gold / answer_file("ate")).unlink()
    put(gold, "ett", json.dumps({"value": None}))
    return gold


def by_reading(report: dict[str, Any]) -> dict[str, float]:
    found = report["tracks"]["causalds"]["readings"]
    return {name: found[name]["causalds_score"] for name in WAYS}


def test_screen_and_page_of_a_report_lead_with_the_reading(runner, mixed, tmp_path, monkeypatch):
    """A number that is missing costs ten in ours and is no number in the paper's."""
    monkeypatch.setenv("COLUMNS", "160")  # in 80 a variant takes two lines
    runs, cards, page = {}, {}, tmp_path / "report.html"
    for way in WAYS:
        runs[way] = runner.grade(mixed, "--reading", way, "--full", "--html", page)
        text = page.read_text("utf-8")
        cards[way] = text[text.index('<dl class="card">') : text.index("</dl>")]
        readings = [f"{name} reading" for name in sorted(WAYS, key=lambda name: name != way)]
        assert text.index(readings[0]) < text.index(readings[1])
    scores = by_reading(runs["paper"].report)
    assert scores["paper"] < scores["fixed"]
    assert runs["fixed"].report == runs["paper"].report, "data holds both readings"
    lines = {way: run.out.splitlines() for way, run in runs.items()}
    assert lines["paper"][1].startswith("CausalDSScore")
    for way, error in (("fixed", "5.000"), ("paper", "0.000")):  # two tasks, one left out
        assert f"{number(scores[way], 3)}" in lines["paper"][1]
        (line,) = [one for one in lines[way] if one.startswith("│ effect_estimate.ate_point")]
        assert line.split("│")[-3].strip() == error
    assert "CausalDSScore" not in "".join(lines["fixed"][:12]) + cards["fixed"]
    assert cards["paper"].index("CausalDSScore") < cards["paper"].index("points")
    assert number(scores["paper"], 3) in cards["paper"]
    heads = [line for line in lines["paper"] if line.startswith("│ paper") or "│ fixed" in line]
    assert heads[0].startswith("│ paper"), "the table of both readings begins with the one asked"


def test_a_board_has_the_score_of_the_reading(runner, mixed, gold_source, tmp_path):
    folder = tmp_path / "answers"
    shutil.copytree(mixed, folder / "mixed")
    shutil.copytree(gold_source, folder / "gold")
    scores = by_reading(runner.grade(mixed).report)
    at = ("leaderboard", folder, *runner.dev, "--exam", "all")
    pages = {}
    for way in WAYS:
        page = tmp_path / f"{way}.html"
        run = runner.run(*at, "--track", "causalds", "--reading", way, "--html", page)
        assert run.code == 0
        pages[way] = page.read_text("utf-8").partition("</table>")[0]
    for way, other in (WAYS, WAYS[::-1]):
        assert number(scores[way], 4) in pages[way] and number(scores[other], 4) not in pages[way]
    assert "(paper)" in pages["paper"] and "(paper)" not in pages["fixed"]


def test_explain_browse_and_compare_follow(runner, mixed, gold_source, tmp_path):
    for way, other in (WAYS, WAYS[::-1]):
        told = runner.run(
            "explain", task_id("ate"), *runner.dev, "--answers", mixed, "--reading", way
        ).out
        labels = [line.split()[0] for line in told.splitlines() if line.split()]
        assert labels.index(way) + 1 == labels.index(other)
        site = tmp_path / way
        words = ("browse", runner.release, "--split", "dev", "--exam", "all", "--answers", mixed)
        assert runner.run(*words, "--reading", way, "--html", site).code == 0
        index = (site / INDEX).read_text("utf-8")
        assert ("dropped" in index) == (way == "paper")
        page = (site / f"{task_id('ate')}.html").read_text("utf-8")
        assert page.index(f"{way} reading: pool") < page.index(f"{other} reading: pool")
        out = runner.run(
            "compare", gold_source, mixed, *runner.dev, "--exam", "all", "--reading", way, "--full"
        ).out
        table = out[out.index("CausalDSScore (lower is better)") :]
        assert table.index(f"│ {way}") < table.index(f"│ {other}")
