"""A board of many submissions: none stops it, and each is graded apart."""

import csv
import json
import mmap
import os
import shutil
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest
from grading import Runner, put
from hostile_text import EVIL, TAG, check_files, check_printable
from malformations import ODD_FILES, csv_malformations, json_malformations, sparse
from small_release import TASKS, answer_file, task_id

from grader.board.grading import Entry, NotGraded, Result, grade_all
from grader.board.workers import WorkFailure, WorkLimits, run_limited
from grader.errors import UsageError
from grader.io.printing import printable
from grader.pages.leaderboard import leaderboard, rank
from grader.pages.terminal import TerminalTable
from grader.pipeline import grade
from grader.release.exam import Exam
from grader.statistics.skill import Floors
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


def test_work_that_fails_costs_itself_alone() -> None:
    """The second try of what failed has one worker, whatever their number."""
    things = ["reserves", "eats", "b", "hangs", "dies", "c", "leaves", "unusable", "ours", "d"]
    found = dict(run_limited(work, things, 3, WorkLimits(1 << 30, 1.5)))
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
    found = dict(run_limited(flaky, things, 2, WorkLimits(1 << 30, 10)))
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
    assert TerminalTable(leaderboard([(1, briefs[0][0])], TRACKS))


def test_what_every_report_remarks_is_said_once(runner, board, monkeypatch):
    """A split without floors, for one; what is about one submission has its name before it."""
    without = Floors(notices=("no skill in causalds: the release has no floors of this split",))
    monkeypatch.setattr(Floors, "from_manifest", lambda *_: without)
    (board / "b" / "usage.jsonl").write_text("1\n", "utf-8")
    told = runner.run("leaderboard", board, *runner.dev).err
    assert told.count("no skill in causalds") == 1
    assert f"note: {board / 'b'}: usage.jsonl line 1" in told
    shutil.copytree(board / "b", board / "b@2")
    told = runner.run("leaderboard", board, *runner.dev).err
    assert "note: 2 submissions: usage.jsonl line 1" in told and told.count("usage.jsonl") == 1


def test_a_board_has_a_budget_for_each_submission(runner, board, monkeypatch):
    """As ``grade`` has, with the same options; and its workers have the limits asked for."""
    given = []

    def spy(work: Any, things: Any, workers: int, limits: WorkLimits) -> Any:
        given.append(limits)
        return run_limited(work, things, workers, limits)

    monkeypatch.setattr("grader.board.grading.run_limited", spy)
    file = runner.place / "board.json"
    dev = (*runner.dev, "--json", file, "--memory", "700", "--seconds", "50")
    counts = []
    for cells in ("50000", "1"):
        assert runner.run("leaderboard", board, *dev, "--max-cells", cells).code == 0
        first = json.loads(file.read_text("utf-8"))[0]
        counts.append(first["report"]["census"]["invalid_reasons"].get("budget", 0))
    assert counts[0] == 0 < counts[1] and given == [WorkLimits(700 << 20, 50)] * 2


def _only(names: list[str], folder: Path) -> None:
    """Leave nothing in a folder but these files, and folders of which the first has an answer."""
    for file in folder.iterdir():
        file.unlink()
    for name in names:
        if name.endswith(".json"):
            (folder / name).write_text("{}")
        else:
            (folder / name).mkdir()
            if name == names[0]:
                put(folder / name, "ate", '{"ate": 1}')


def _query(query: str, file: Path) -> None:
    duckdb.execute(f"COPY ({query}) TO '{file}' (FORMAT parquet, COMPRESSION zstd)")


def _line(name: str) -> str:
    return json.dumps({"task_id": name, "answer": {"value": 1}}) + "\n"


LINES = "answers.jsonl"
BESIDES = {
    "blank lines": ("the rest, from line", LINES, (" " * 1023 + "\n") * (9 << 10)),
    "a line without end": ("the rest, from line 1", LINES, "x" * (9 << 20)),
    "lines of garbage": ("answers.jsonl line 1: byte 0", LINES, b"\xff\n[]"),
    "an id twice": ('"duplicate_answer": 1', LINES, _line(task_id("ett")) * 2),
    "an id of nobody": ("answers.jsonl line 1: ", LINES, _line(EVIL)),
    "a deep card": ("run.json: nested more", "run.json", "[" * 100_000),
    "an evil card": (TAG, "run.json", json.dumps({"system": EVIL, EVIL: EVIL})),
    "a card without a name": ("a card without a name", "run.json", '{"system": ["x"]}'),
    "usage of nothing": ("usage.jsonl line 1", "usage.jsonl", "[1e999]"),
    "an evil file": ("is no task of this split", f"{EVIL}.json", EVIL),
}
"""A file beside the answers: what a row or note must say, its name and what it holds."""
FOLDERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "sparse lines": ("over 8 GiB", lambda at: sparse(9 << 30)(at / LINES)),
    "a pipe of lines": ("answers.jsonl: is not a regular", lambda at: os.mkfifo(at / LINES)),
    "a pipe as card": ("run.json: is not a regular", lambda at: os.mkfifo(at / "run.json")),
    "a linked table": (
        "answers.parquet: cannot", lambda at: (at / "answers.parquet").symlink_to("/dev/zero")),
    "a thousand files": (
        '"unknown_answers": 1000',
        lambda at: [(at / f"{k}.json").write_text("{}") for k in range(1000)]),
    "a linked track": ("links are not followed", lambda at: (at / "causalds").symlink_to("/")),
    "attempts beside answers": ("stands beside attempt-1", lambda at: (at / "attempt-1").mkdir()),
    "attempts of one number": (
        "have the same number", partial(_only, ["attempt-1", "attempt-01"])),
    "too many attempts": (
        "over 100 attempts", partial(_only, [f"attempt-{k}" for k in range(101)])),
    "an attempt at nothing": ("no answer in it", partial(_only, ["attempt-1", "attempt-2"])),
    "nothing": ("neither an answer nor a usable run.json in it", partial(_only, [])),
    "answers to others": ("is to a task of exam", partial(_only, ["cds-0.json"])),
    EVIL: (TAG, lambda at: None),
}  # fmt: skip
"""A folder of answers as a whole: what a row or note must say, and what makes the fault."""
PACKS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "no Parquet": ("cannot be read as Parquet", lambda at: at.write_bytes(b"PAR1 not at all")),
    "no byte": ("cannot be read as Parquet", Path.touch),
    "a terabyte of nothing": ("cannot be read as Parquet", sparse(1 << 40)),
    "a huge footer": ("footer", lambda at: at.write_bytes(b"PAR1" + b"\xff\xff\xff\x7fPAR1")),
    "half a pack": ("cannot be read as Parquet", lambda at: (
        _query("SELECT range AS task_id, 'x' AS answer FROM range(999)", at),
        at.write_bytes(at.read_bytes()[:300]))),
    "a pipe": ("neither a file nor a folder", os.mkfifo),
    "a linked pack": ("a link; put", lambda at: at.symlink_to("no Parquet.parquet")),
    "a linked folder": ("a link; put", lambda at: at.symlink_to("/")),
    "other columns": ("cannot be used (no column task_id)", partial(_query, "SELECT 1 AS id")),
    "rows without end": ("over 1,000,000 rows", partial(
        _query, "SELECT 'x' AS task_id, 'x' AS answer FROM range(1000001)")),
    "a bomb": ("unpack to over 8 MiB", partial(
        _query, "SELECT range AS task_id, repeat('a', 4000000) || range AS answer FROM range(3)")),
    "a repeated megabyte": ('"too_large": 1', partial(
        _query, f"SELECT '{task_id('ate')}' AS task_id, repeat('a', 2000000) AS answer")),
    "a deep card in a pack": ("submission_json: nested more", partial(
        _query, f"SELECT '{task_id('ate')}' AS task_id, '{{}}' AS answer, "
        "repeat('[', 99999) AS submission_json, '{}' AS usage_json")),
    "evil ids": ("is to a task of exam", partial(
        _query, "SELECT chr(27) || chr(8238) || '[red]' AS task_id, 'x' AS answer")),
}  # fmt: skip
"""What is wrong with a packed file."""
ODD = ("200 MB", "FIFO", "link to a device")
BYTES = ("NaN beside", "twice the key", "utf-16", "raw surrogate", "deep objects", "huge")
CELLS = ("5 MB header", "a million rows", "Parquet")
"""What is wrong with one answer, of all that ``malformations.py`` knows."""


def _hostile_board(board: Path, gold: Path) -> dict[str, str]:
    """A board of submissions with one fault each; what must be said of each, by its name."""
    expected, few = {}, board.parent / "few"
    few.mkdir(parents=True)
    for name in ("ate", "predict"):
        shutil.copy(gold / answer_file(name), few)

    def copy(name: str, says: str) -> Path:
        expected[name] = says
        return Path(shutil.copytree(few, board / name))

    for name, (says, file, content) in BESIDES.items():
        data = content if isinstance(content, bytes) else content.encode()
        (copy(name, says) / file).write_bytes(data)
    for name, (says, make) in FOLDERS.items():
        make(copy(name, says))
    for name, (says, make) in PACKS.items():
        expected[f"{name}.parquet"] = says
        make(board / f"{name}.parquet")
    for name in ODD:
        reason, make, _ = ODD_FILES[name]
        answer = copy(f"answer: {name}", f'"{reason}": 1') / answer_file("ate")
        answer.unlink()
        make(answer)
    texts = {name: (gold / answer_file(name)).read_text("utf-8") for name in ("ate", "predict")}
    broken = json_malformations(texts["ate"]), csv_malformations(texts["predict"])
    for task, names, found in zip(("ate", "predict"), (BYTES, CELLS), broken, strict=True):
        for name in names:
            reason, data = found[name]
            put(copy(f"text: {name}".replace("/", " of "), f'"{reason}": 1'), task, data)
    return expected


def test_every_fault_of_a_board_has_its_own_row_or_note(runner, few_release, gold, tmp_path):
    board, written = tmp_path / "hostile" / "board", tmp_path / "written"
    written.mkdir()
    expected = _hostile_board(board, gold)
    at = ("--release", few_release, "--split", "dev", "--max-mib", "8", "--full")
    outputs = ("--json", written / "board.json", "--html", written / "board.html")
    run = runner.run("leaderboard", board, *at, *outputs)
    assert run.code == 0 and len(expected) == 49
    check_printable(run.out + run.err, "leaderboard")
    check_files(written)
    said = dict.fromkeys(expected, "")
    for row in json.loads((written / "board.json").read_text("utf-8")):
        said[row.get("file") or row["report"]["submission"]["file"]] += json.dumps(row)
    for line in run.err.splitlines():
        for name in expected:
            if f"{printable(str(board / name))}: " in line:
                said[name] += line
    for name, says in expected.items():
        assert says in said[name], (name, says, said[name][-600:])


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1+2", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_spreadsheet_runs_nothing_that_a_cell_says(formula: str) -> None:
    from grader.reports.table import _spreadsheet_cell

    assert _spreadsheet_cell(formula) == f"'{formula}"
    assert [_spreadsheet_cell(plain) for plain in (-1.5, "a=b", None)] == [-1.5, "a=b", None]


def test_a_written_table_runs_nothing_either(runner: Runner, gold: Path, tmp_path: Path) -> None:
    """A packed file's own name begins the message of an answer that is not read."""
    put(gold, "ate", "{}")
    dev = (*runner.dev, "--exam", "all")
    packed, table = tmp_path / "=1+1\x1b\u202e.parquet", tmp_path / "rows.csv"
    assert runner.run("pack", gold, *dev, "--name", "x", "--out", packed).code == 0
    assert runner.run("grade", packed, *dev, "--csv", table, "--quiet").code == 0
    with table.open(newline="", encoding="utf-8") as handle:
        cells = [cell for row in csv.reader(handle) for cell in row]
    assert any(cell.startswith("'=1+1") for cell in cells)
    assert not any(cell.startswith(("=", "@", "\t", "\r")) for cell in cells)
    assert all(map(str.isprintable, cells))


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
