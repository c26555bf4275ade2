"""What a report of a private split gives away, attacked as a submitter would."""

import json
import shutil
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from grading import Runner
from score_rows import row
from small_release import answer_file

from grader import pipeline
from grader.io.schemas import first_problem
from grader.opening import open_release
from grader.release.exam import Split
from grader.reports.aggregate import aggregate
from grader.reports.redact import Ladder, redact
from grader.scoring.model import CheckedAnswer, Score, Truth
from grader.scoring.shape import Task
from grader.statistics.skill import members as members_of
from grader.tracks import TRACKS


def report(scores: list[Score]) -> dict[str, Any]:
    """A redacted report of score rows."""
    parts = aggregate(scores, {}, {}, {}, TRACKS).parts
    return redact(
        {**members_of(None), "points": 12.3, "points_interval": [0.0, 100.0], "detectable": 1.2,
         "census": {"tasks": len(scores)}, "tracks": parts}
    )  # fmt: skip


def rows(right: Callable[[int], bool]) -> list[Score]:
    """Marks of the same answers under two truths."""
    made = []
    for k in range(60):
        pool = ("pass", "nrel_point", "nrel_interval", "f1")[k % 4]
        held = (
            {"coverage": float(right(k)), "interval_width": 2.0**k}
            if pool == "nrel_interval"
            else {}
        )
        made.append(
            row(f"t{k}", pool, 0.0 if right(k) else 0.7, family=f"f{k % 6}", instance_id=f"i{k}",
                nominal_coverage=0.95 if held else None, **held)
        )  # fmt: skip
    return made


def test_a_redacted_report_is_the_same_whatever_the_answers_are_worth() -> None:
    """Family points, medians, coverages and ranks used to spell the truth out together."""
    shown = [json.dumps(report(rows(right))) for right in (lambda _: True, lambda k: k % 3 == 0)]
    assert shown[0] == shown[1]
    gold = rows(lambda _: True)
    due = [replace(score, should_abstain=k % 2 == 0) for k, score in enumerate(gold)]
    assert json.dumps(report(due)) == shown[0]


def test_all_that_a_board_shows_follows_from_the_figures_that_are_shown(
    runner: Runner, secret: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page, table, ranks and JSON of answers that are worth the same to the ladder alone."""
    for team in ("acme", "bell"):
        folder = shutil.copytree(secret, tmp_path / "in" / team)
        (folder / "run.json").write_text(json.dumps({"system": team}), "utf-8")
    exam = Split.open(open_release(runner.release), "test").choose_exam_for()
    shown = [task.task_id for task in exam.tasks if task.instance_id in exam.shown_instances]
    rest = [task.task_id for task in exam.tasks if task.instance_id not in exam.shown_instances]
    assert len(shown) == 4 == len(rest)
    (tmp_path / "teams.txt").write_text("acme\nbell\n", "utf-8")
    monkeypatch.setattr(Ladder, "from_weights", lambda _shares: Ladder(130))  # as if it were large
    score = pipeline.score

    def board(right: Collection[str], number: int) -> tuple[str, bytes, bytes]:
        def marked(task: Task, truth: Truth, checked: CheckedAnswer) -> Score:
            points = float(task.task_id in right)
            return replace(score(task, truth, checked), points=points, loss=1 - points)

        monkeypatch.setattr(pipeline, "score", marked)
        page, data, told = (tmp_path / f"{number}.{end}" for end in ("html", "json", "ledger"))
        kept = ("--ledger", told, "--html", page, "--json", data)
        run = runner.run("leaderboard", tmp_path / "in", *runner.test, *kept)
        assert run.code == 0 and json.loads(data.read_bytes())[0]["report"]["points"] is not None
        return run.out + run.err, page.read_bytes(), data.read_bytes()

    first = board(shown[:2], 1)
    assert board([*shown[2:], *rest], 2) == first
    assert all(a != b for a, b in zip(board(shown, 3), first, strict=True))


def test_a_private_report_with_attempts_keeps_to_the_schema(runner, secret, tmp_path):
    """Attempts at a private split: none of their figures, and no row per task."""
    at = (*runner.test, "--ledger", tmp_path / "ledger.json")
    for number in (1, 2):
        shutil.copytree(secret, tmp_path / "twice" / f"attempt-{number}")
    (tmp_path / "twice" / "attempt-2" / answer_file("ate", "test")).write_text("{")
    file, page = tmp_path / "report.json", tmp_path / "page.html"
    words = ("grade", tmp_path / "twice", *at, "--json", file, "--html", page)
    assert runner.run(*words).code == 0
    shown = json.loads(file.read_text("utf-8"))
    assert first_problem("report", shown) is None
    assert "attempts" not in shown and "attempts" not in shown["tracks"]["causalds"]
    assert "held" not in shown
    assert "Every task" not in page.read_text("utf-8")


def test_every_track_of_a_redacted_run_can_be_shown(mini_release: Path) -> None:
    """Tables and pages read what redaction leaves of every track, and no more."""
    from rich.console import Console

    from grader.pages.leaderboard import leaderboard
    from grader.pages.report import report_view
    from grader.pages.report_page import report_page
    from grader.pipeline import grade

    split = replace(Split.open(open_release(mini_release), None, "mini"), reveal=False)
    graded = grade(split.choose_exam_for(), mini_release)  # a folder without answers
    assert graded.report["redacted"] and first_problem("report", graded.report) is None
    console = Console(width=140)
    with console.capture() as shown:
        console.print(report_view(graded.report, TRACKS))
    assert leaderboard([(1, graded.report)], TRACKS).rows
    for track in ("causalds", "ccr", "replayscm"):
        assert track in shown.get()
        assert track in report_page(graded.report, TRACKS)
