"""``--reading`` decides what screens and pages lead with, and nothing else."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from grading import put
from small_release import answer_file, task_id

from grader.pages.browse import INDEX
from grader.pages.words import number

WAYS = ("fixed", "paper")


@pytest.fixture
def mixed(gold: Path) -> Path:
    """Right but for a number that is left out and one that is withheld: the paper's reading drops
    the one and counts the other among its binaries; ours charges both."""
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
