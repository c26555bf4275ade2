"""What a private split shows: redacted reports, and figures by the rules of the ledger."""

import fcntl
import json
import math
import re
import shutil
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from grading import Runner, list_teams
from score_rows import row
from small_release import SECRET_TASKS, answer_file, task_id

from grader import pipeline
from grader.commands.leaderboard import CLOSED
from grader.errors import UsageError
from grader.io.schemas import first_problem
from grader.opening import open_release
from grader.release.exam import Exam, Split, shown_half
from grader.reports.aggregate import aggregate
from grader.reports.ledger import TEAMS, Ledger, show_all
from grader.reports.redact import (
    FIGURES,
    LEAST_INSTANCES,
    SUBMISSIONS,
    Ladder,
    overall,
    redact,
    weights,
)
from grader.scoring.model import CheckedAnswer, Score, Truth, Unit
from grader.scoring.shape import Task
from grader.statistics.skill import members as members_of
from grader.tracks import TRACKS


@pytest.mark.parametrize("instances", [0, 8, 21, 22, 33, 65, 130, 500, 5000])
def test_steps_cover_the_scale_and_exceed_noise(instances: int) -> None:
    ladder = Ladder(instances)
    assert ladder.levels * ladder.step > 100
    noise = 100 * math.sqrt(math.log(SUBMISSIONS) / (2 * instances or 1))
    assert ladder.step >= min(100, noise)
    assert ladder.figures == (0 if instances < LEAST_INSTANCES == 22 else FIGURES)


def test_a_new_figure_needs_a_step_and_figures_end() -> None:
    ladder = Ladder(130)
    assert (ladder.step, ladder.figures) == (14, 3)
    assert ladder.next_figure([], 45.0) == 42 and ladder.next_figure([42.0], 55.9) == 42.0
    assert ladder.next_figure([42.0, 42.0], 56.0) == 56
    for figures, last in (([42, 56], 98), ([42, 56, 70], 70), ([42] * SUBMISSIONS, 42)):
        assert ladder.next_figure(figures, 99.0) == last
    assert ladder.interval(42)[0] < 42 < 56 < ladder.interval(42)[1]


def test_weights_and_points_are_of_the_same_mean() -> None:
    """Parts weigh alike within a track, and tracks in an exam."""
    tracks = [
        [Unit("a", 1.0, None), Unit("b", 0.0, None)],
        [Unit("c", 0.5, None, part="x"), *(Unit(f"d{k}", 1.0, None, part="y") for k in range(4))],
    ]
    shares = weights(tracks)
    assert sum(shares.values()) == pytest.approx(1) and shares["c"] == 4 * shares["d1"] == 0.25
    expected = sum(shares[unit.instance] * unit.points for units in tracks for unit in units)
    assert overall(tracks) == pytest.approx(100 * expected)


def test_half_of_the_exam_is_shown_and_only_the_salt_says_which(release: Path) -> None:
    names = [f"i{k}" for k in range(101)]
    halves = [shown_half(names, bytes([salt]) * 32) for salt in (1, 2)]
    assert halves[0] != halves[1] and {len(half) for half in halves} == {50}
    split = Split.open(open_release(release), "test")
    exam = split.choose_exam_for()
    shown = {task.task_id for task in exam.tasks if task.instance_id in exam.shown_instances}
    rest = {task.task_id for task in exam.final().tasks}
    assert shown and rest and shown | rest == {t.task_id for t in exam.tasks} and not shown & rest
    every = replace(split, exam="all").choose_exam_for()
    assert every.shown_instances >= exam.shown_instances, "what one keeps back another hides too"
    assert not {t.instance_id for t in exam.final().tasks} & every.shown_instances


def test_the_ledger_counts_submissions_and_says_what_they_told(runner, secret, tmp_path):
    ledger = ("--ledger", file := tmp_path / "ledger.json")
    folder = tmp_path / "in"
    shutil.copytree(secret, folder / "acme@1")
    shutil.copytree(secret, folder / "acme-2")
    empty = runner.run("leaderboard", folder, *runner.test, *ledger)
    assert empty.code == 0 and "Ledger of demo" in empty.out and "1/100" not in empty.out
    list_teams(tmp_path, "acme")
    assert runner.run("grade", folder / "acme@1", *runner.test, *ledger).code == 0
    board = runner.place / "board.json"
    assert runner.run("leaderboard", folder, *runner.test, *ledger, "--json", board).code == 0
    ((key, teams),) = json.loads(file.read_bytes())["exams"].items()
    assert key.endswith("/test/demo") and file.stat().st_mode & 0o77 == 0
    assert len(teams.pop("acme")) == 1 and not teams, "equal answers are counted once"
    (line, _) = json.loads(board.read_text("utf-8"))
    small = "no figure: 8 instances of equal weight in the exam, of 44 needed"
    assert line["report"]["points"] is None and small in line["report"]["notices"]
    shown = runner.run("leaderboard", folder, *runner.test, *ledger).out
    assert "Ledger of demo" in shown and "1/100" in shown and f"{small}." in " ".join(shown.split())
    assert "in steps of" not in shown
    file.write_text('{"exams": [1]}')
    assert "is not a ledger" in runner.fails("grade", folder / "acme@1", *runner.test, *ledger)


@pytest.mark.parametrize("part", [{}, {"exam": "all"}, {"track": "causalds"}])
def test_a_first_figure_waits_until_its_team_is_listed(part, exam, tmp_path):
    """A new name cost nothing, and told as much as the first submission of a known team."""
    path, ladder = tmp_path / "ledger.json", Ladder(130)
    exam = replace(exam.split, **part).choose_exam_for()
    held = {"answers": "a", "points": 50.0, "instances": ladder.instances}
    report: dict[str, Any] = {"floor": None, "tracks": {}, "notices": [], "held": held}
    handed = [(Path(f"{name}.parquet"), report) for name in ("acme@2", "acme-2")]
    for listed in ((), ("acme",)):
        list_teams(tmp_path, *listed)
        for source, shown in zip(handed, show_all(path, exam, handed), strict=True):
            known = source[0].stem.partition("@")[0] in listed and not part
            why = "only whole exams" if part else "has not listed"
            assert shown.get("points") == (42 if known else None)
            assert shown["notices"] == [] if known else why in shown["notices"][0]
        teams = [row["team"] for row in Ledger(path, exam).teams(ladder)]
        assert teams == ([] if part else list(listed))


def test_a_list_of_teams_that_holds_something_else_is_refused(exam: Exam, tmp_path: Path) -> None:
    list_teams(tmp_path, "acme", "", "bell@2")
    with pytest.raises(UsageError, match=r'teams\.txt, line 3: "bell@2" .* list "bell"'):
        Ledger(tmp_path / "ledger.json", exam)
    (tmp_path / TEAMS).write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"teams\.txt: cannot be read"):
        Ledger(tmp_path / "ledger.json", exam)


def test_the_final_ranking_is_made_once(runner, own_release, secret, tmp_path):
    """One submission of each listed team, the same answers again, and nothing that comes later,
    of the whole exam and by whichever version."""
    runner.release, folder = own_release, tmp_path / "in"
    for name in ("acme@1", "acme@2", "gone", "new"):
        shutil.copytree(secret, folder / name)
    asked = ("leaderboard", folder, *runner.test, "--ledger", tmp_path / "ledger.json", "--final")
    command = (*asked, "--yes")
    assert "has 2 submissions here" in runner.fails(*command)
    (folder / "acme@2").rename(folder / "bell")
    assert "give --yes if you mean it" in runner.fails(*asked)
    for part in (("--exam", "all"), ("--exam", "demo", "--track", "causalds")):
        assert "ranks one whole exam" in runner.fails(*command, *part)
    assert "teams.txt: lists no team of these" in runner.fails(*command)
    assert not (tmp_path / "ledger.json").exists()
    list_teams(tmp_path, "acme", "bell", "gone")
    first = runner.run(*command)
    assert "to no task of exam" not in first.out and first.out.count("100.0") >= 2
    assert 'the maintainer has not listed team "new"' in first.out and CLOSED not in first.err
    exam = Split.open(open_release(own_release), "test").choose_exam_for()
    for side in ("public", "private"):
        file = own_release / side / "manifest.json"
        gone = {"test": {exam.final().tasks[0].task_id: "two readings"}}
        told = json.loads(file.read_text("utf-8")) | {"version": "0.0.2", "deprecated": gone}
        file.write_text(json.dumps(told), "utf-8")
    again = runner.run(*asked)
    assert CLOSED in again.err, "what was ranked is ranked again without a question"
    assert again.out.count("100.0") >= 2, "an erratum does not make them other answers"
    for file in (folder / "acme@1").iterdir():
        file.write_text("{}")
    (folder / "gone").rename(folder / "later")
    list_teams(tmp_path, "acme", "bell", "new", "later")
    again = re.sub(r"[│\s]+", " ", runner.run(*command).out)
    for name in ("acme@1", "bell", "later", "new"):
        assert (f" {name} handed in after the final ranking" in again) == (name != "bell")
    board = runner.run(*asked[:-1]).out
    assert "no new figure is shown" in " ".join(board.split())
    closed = Ledger(tmp_path / "ledger.json", exam)
    closed.enter("acme", "hash", 80.0, Ladder(130))
    shown = closed.show({"notices": []}, "acme", Ladder(130))
    assert shown.keys() == {"notices"} and "the final ranking was made" in shown["notices"][0]


def test_two_boards_at_once_lose_no_submission(exam: Exam, tmp_path: Path) -> None:
    """Whoever comes second waits, and reads what the first has written."""
    path = tmp_path / "ledger.json"
    list_teams(tmp_path, "acme", "bell")
    report = {"floor": None, "tracks": {}}
    held = report | {"held": {"answers": "b", "points": 50.0, "instances": 130}}
    with path.with_name("ledger.json.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with ThreadPoolExecutor() as pool:
            second = pool.submit(show_all, path, exam, [(Path("bell.parquet"), held)])
            time.sleep(0.1)
            assert not second.done() and not path.exists()
            first = Ledger(path, exam)
            first.enter("acme", "a", 50.0, Ladder(130))
            first.save()
            fcntl.flock(lock, fcntl.LOCK_UN)
    (shown,) = second.result()
    assert "held" not in shown and 0 < shown["points"] == Ladder(130).next_figure([], 50.0)
    assert [row["team"] for row in Ledger(path, exam).teams(Ladder(130))] == ["acme", "bell"]


def redacted_report(scores: list[Score]) -> dict[str, Any]:
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
        width = {"coverage": float(right(k)), "interval_width": 2.0**k}
        held = width if pool == "nrel_interval" else {}
        made.append(
            row(f"t{k}", pool, 0.0 if right(k) else 0.7, family=f"f{k % 6}", instance_id=f"i{k}",
                nominal_coverage=0.95 if held else None, **held)
        )  # fmt: skip
    return made


def test_a_redacted_report_is_the_same_whatever_the_answers_are_worth() -> None:
    """Family points, medians, coverages and ranks used to spell the truth out together."""
    shown = [
        json.dumps(redacted_report(rows(right))) for right in (lambda _: True, lambda k: k % 3 == 0)
    ]
    assert shown[0] == shown[1]
    gold = rows(lambda _: True)
    due = [replace(score, should_abstain=k % 2 == 0) for k, score in enumerate(gold)]
    assert json.dumps(redacted_report(due)) == shown[0]


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


def test_one_workspace_of_a_private_split_needs_no_truth(runner: Runner, tmp_path: Path) -> None:
    """The public repository alone must suffice to sit the exam."""
    public = shutil.copytree(runner.release / "public", tmp_path / "public")
    options = ("--release", public, "--split", "test", "--task", task_id("sketch", "test"))
    run = runner.run("workspace", *options, "--out", tmp_path / "w")
    assert run.code == 0 and "1 workspace;" in run.out
    message = runner.fails("workspace", "--release", public, "--split", "test", "--task",
                           "cds-nothing", "--out", tmp_path / "v")  # fmt: skip
    assert "no such task" in message
    assert not (tmp_path / "v").exists()


def test_a_private_split_is_graded_with_its_private_side(runner: Runner, tmp_path: Path) -> None:
    """And refused without, naming the way out."""
    public = shutil.copytree(runner.release / "public", tmp_path / "apart" / "public")
    private = shutil.copytree(runner.release / "private", tmp_path / "safe")
    options = ("--release", public.parent, "--split", "test")
    out = tmp_path / "gold"
    words = ("gold", *options, "--private", private, "--out", out)
    assert "--reveal" in runner.fails(*words)
    assert runner.run(*words, "--reveal").code == 0
    run = runner.run("grade", out, *options, "--private", private, "--quiet")
    assert run.out == f"skill – points – scored {len(SECRET_TASKS)} missing 0 invalid 0\n"
    run = runner.run("grade", out, *options, "--private", private, "--quiet", "--reveal")
    assert run.out == f"skill 100.0 points 100.0 scored {len(SECRET_TASKS)} missing 0 invalid 0\n"
    message = runner.fails("grade", out, *options)
    assert "its truth is private" in message and "--private" in message
    assert runner.run("validate", out, *options).code == 0


def test_a_private_split_tells_no_task_its_score_unless_asked(runner, secret, tmp_path):
    """An absolute error beside one's own answer is the truth, give or take a sign."""
    table = tmp_path / "rows.csv"
    assert "--reveal" in runner.fails("grade", secret, *runner.test, "--csv", table)
    assert not table.exists()
    assert runner.run("grade", secret, *runner.test, "--csv", table, "--reveal").code == 0
    task = next(iter(sorted(secret.glob("cds-*")))).stem
    asked = ("explain", task, *runner.test, "--answers", secret)
    assert "--reveal" in runner.fails(*asked)
    assert "100.0 of 100" in runner.run(*asked, "--reveal").out


def test_a_private_report_is_redacted_unless_revealed(runner, secret, tmp_path):
    """A submission with one answer read the hidden structure of its task off the slices."""
    file = tmp_path / "report.json"
    assert runner.run("grade", secret, *runner.test, "--json", file).code == 0
    report = json.loads(file.read_text("utf-8"))
    assert first_problem("report", report) is None and report["redacted"]
    track = report["tracks"]["causalds"]
    assert "structure" not in track["slices"] and "variant" in track["slices"]
    rows = [row for axis in track["slices"].values() for row in axis.values()]
    assert rows and all(row["points"] is None for row in rows) and not track["readings"]
    assert runner.run("grade", secret, *runner.test, "--json", file, "--reveal").code == 0
    revealed = json.loads(file.read_text("utf-8"))
    assert "redacted" not in revealed and "structure" in revealed["tracks"]["causalds"]["slices"]
