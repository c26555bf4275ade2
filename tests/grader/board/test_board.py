"""A board of many submissions: none stops it, and each is graded apart."""

import csv
import json
import mmap
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from grading import Runner, put
from small_release import TASKS

from grader.board.grading import Entry, NotGraded, Result, grade_all
from grader.board.workers import WorkFailure, WorkLimits, run_limited, run_patiently
from grader.errors import UsageError
from grader.pages.leaderboard import leaderboard, rank
from grader.pages.terminal import in_terminal
from grader.pipeline import grade
from grader.release.exam import Exam
from grader.scoring.floors import Floors
from grader.tracks import TRACKS

ROOMY = WorkLimits(1 << 30, 60.0)


def work(what: str) -> bytes:
    """Every way to come to nothing, and one to come to something."""
    match what:
        case "eats":
            return bytes(8 << 30)
        case "reserves":  # addresses, as allocators do; nothing can be written there
            mmap.mmap(-1, 8 << 30, prot=mmap.PROT_READ)
        case "hangs":
            time.sleep(60)
        case "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        case "leaves":
            os._exit(0)
        case "unusable":
            raise UsageError("no such thing")
        case "ours":
            raise ZeroDivisionError("a bug")
    return what.encode()


@pytest.mark.parametrize("workers", [1, 3])
def test_work_that_fails_costs_itself_alone(workers: int) -> None:
    """Memory, time, a crash: each is a reason, and what comes after is done all the same."""
    things = ["reserves", "eats", "b", "hangs", "dies", "c", "leaves", "unusable", "ours", "d"]
    found = dict(run_limited(work, things, workers, WorkLimits(1 << 30, 1.5)))
    told = [found[place] for place in range(len(things))]
    reasons = [one.reason if isinstance(one, WorkFailure) else one.decode() for one in told]
    assert reasons == [
        "reserves", "needs more than 1024 MiB of memory", "b", "took more than 1.5 s",
        "ended its process (SIGKILL)", "c", "ended its process", "no such thing",
        "ZeroDivisionError: a bug (our fault; please report it)", "d",
    ]  # fmt: skip
    again = [things[p] for p, one in enumerate(told) if isinstance(one, WorkFailure) and one.again]
    assert again == ["eats", "hangs", "dies", "leaves", "ours"]


def test_what_may_end_otherwise_is_tried_once_more(tmp_path: Path) -> None:
    """A process that ended once is no verdict; what ends so twice, or is unusable, is."""
    tried = tmp_path / "tried"

    def flaky(what: str) -> bytes:
        with tried.open("a", encoding="ascii") as file:
            file.write(what)
        seen = tried.read_text(encoding="ascii").count(what)
        return work("dies" if what == "y" or (what == "x" and seen == 1) else what)

    things = ["a", "x", "unusable", "y"]
    found = dict(run_patiently(flaky, things, 2, WorkLimits(1 << 30, 10)))
    assert found[0] == b"a" and found[1] == b"x" and found[2] == WorkFailure("no such thing")
    assert found[3] == WorkFailure("ended its process (SIGKILL)", again=True)
    assert sorted(tried.read_text(encoding="ascii").replace("unusable", "u")) == [*"auxxyy"]


@pytest.fixture
def board(gold: Path, tmp_path: Path) -> Path:
    """Three submissions that differ, and one that cannot be read."""
    folder = tmp_path / "board"
    for number, name in enumerate(("a", "b", "c")):
        shutil.copytree(gold, folder / name)
        (folder / name / "run.json").write_text(json.dumps({"system": name}), "utf-8")
        for task in list(TASKS)[: 3 * number]:
            put(folder / name, task, "{}")
    (folder / "broken.parquet").write_bytes(b"PAR1 not at all")
    return folder


def reports(results: list[Result]) -> list[dict[str, object]]:
    """The whole reports of what was graded."""
    return [result.report for result in results if isinstance(result, Entry)]


def test_workers_grade_as_one_process_does(dev: Exam, board: Path) -> None:
    """And their number changes nothing, nor does what is kept at hand for the table."""
    sources = sorted(board.iterdir())
    one = grade_all(dev, sources, workers=1, limits=ROOMY, documents=True)
    three = grade_all(dev, sources, workers=3, limits=ROOMY, documents=True)
    assert reports(one) == reports(three)
    failed = one[sources.index(board / "broken.parquet")]
    assert isinstance(failed, NotGraded) and "broken.parquet" in failed.reason
    usable = [source for source in sources if source.is_dir()]
    for report, source in zip(reports(one), usable, strict=True):
        alone = grade(dev, source).report
        told = report["submission"]
        assert {**report, "submission": alone["submission"]} == alone
        assert isinstance(told, dict) and told.items() >= alone["submission"].items()
    bare = grade_all(dev, sources, workers=1, limits=ROOMY)
    briefs = [[r.report for r in results if isinstance(r, Entry)] for results in (one, bare)]
    shown = [leaderboard([(1, r) for r in rows], TRACKS).rows for rows in (*briefs, reports(one))]
    assert shown[0] == shown[1] == shown[2], "the table needs no more than it asks for"
    assert in_terminal(leaderboard([(1, briefs[0][0])], TRACKS))


def test_what_every_report_remarks_is_said_once(
    runner: Runner, board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A split without floors, for one; what is about one submission has its name before it."""
    without = Floors(notices=("no skill in causalds: the release has no floors of this split",))
    monkeypatch.setattr(Floors, "from_manifest", lambda *_: without)
    (board / "b" / "usage.jsonl").write_text("1\n", "utf-8")
    told = runner.run("leaderboard", board, *runner.dev).err
    assert told.count("no skill in causalds") == 1
    assert f"note: {board / 'b'}: usage.jsonl line 1" in told


def test_a_board_has_a_budget_for_each_submission(runner: Runner, board: Path) -> None:
    """As ``grade`` has, with the same options."""
    file = runner.place / "board.json"
    dev = (*runner.dev, "--json", file)
    counts = []
    for cells in ("50000", "1"):
        assert runner.run("leaderboard", board, *dev, "--max-cells", cells).code == 0
        first = json.loads(file.read_text("utf-8"))[0]
        counts.append(first["report"]["census"]["invalid_reasons"].get("budget", 0))
    assert counts[0] == 0 < counts[1]


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1+2", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_spreadsheet_runs_nothing_that_a_cell_says(formula: str) -> None:
    """Words behind an apostrophe, numbers as they are."""
    from grader.reports.table import _spreadsheet_cell

    assert _spreadsheet_cell(formula) == f"'{formula}"
    assert (
        _spreadsheet_cell(-1.5) == -1.5
        and _spreadsheet_cell("a=b") == "a=b"
        and _spreadsheet_cell(None) is None
    )


def test_a_board_gives_its_workers_the_limits_asked_for(
    runner: Runner, board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An option that nobody passes on limits nothing."""
    given = []

    def spy(work: Any, things: Any, workers: int, limits: WorkLimits) -> Any:
        given.append(limits)
        return run_limited(work, things, workers, limits)

    monkeypatch.setattr("grader.board.grading.run_limited", spy)
    assert (
        runner.run("leaderboard", board, *runner.dev, "--memory", "700", "--seconds", "50").code
        == 0
    )
    assert given == [WorkLimits(700 << 20, 50)]


def test_a_written_table_runs_nothing_either(runner: Runner, gold: Path, tmp_path: Path) -> None:
    """A packed file's own name begins the message of an answer that is not read."""
    put(gold, "ate", "{}")
    dev = (*runner.dev, "--exam", "all")
    packed, table = tmp_path / "=1+1.parquet", tmp_path / "rows.csv"
    assert runner.run("pack", gold, *dev, "--name", "x", "--out", packed).code == 0
    assert runner.run("grade", packed, *dev, "--csv", table, "--quiet").code == 0
    with table.open(newline="", encoding="utf-8") as handle:
        cells = [cell for row in csv.reader(handle) for cell in row]
    assert any(cell.startswith("'=1+1") for cell in cells)
    assert not any(cell.startswith(("=", "@", "\t", "\r")) for cell in cells)


def test_systems_that_intervals_do_not_tell_apart_share_a_place() -> None:
    """A group ends where an interval lies wholly below that of the group's first."""
    ends = {"a": (90, 100), "b": (85, 95), "c": (70, 89.9), "d": (60, 88), "e": (10, 69)}
    reports: list[dict[str, Any]] = [
        {"submission": {"system": name}, "skill": sum(span) / 2, "skill_interval": list(span)}
        for name, span in ends.items()
    ]
    absent = {"submission": {"system": "z"}, "skill": None, "skill_interval": None}
    places = [(place, row["submission"]["system"]) for place, row in rank([absent, *reports[::-1]])]
    assert places == [(1, "a"), (1, "b"), (3, "c"), (3, "d"), (5, "e"), (6, "z")]
