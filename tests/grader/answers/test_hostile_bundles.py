"""Hostile bundles: ``answers.jsonl``, ``answers.parquet``, packs, and what lies beside them."""

import json
import os
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from grading import Runner, only_changed, put
from malformations import ODD_FILES
from small_release import TASKS, answer_file, task_id, variant_of

from grader.answers import collect as answers
from grader.answers import parquet_answers
from grader.io import parquet as reading
from grader.io.schemas import first_problem
from grader.pipeline import grade
from grader.release.exam import Exam
from grader.reports import table


def as_lines(folder: Path) -> list[str]:
    """The answers of a folder as lines of ``answers.jsonl``; the files are removed."""
    lines = []
    for name, task in TASKS.items():
        file = folder / answer_file(name)
        text = file.read_text(encoding="utf-8")
        value = text if variant_of(task.key).shape.suffix == ".csv" else json.loads(text)
        lines.append(json.dumps({"task_id": task_id(name), "answer": value}))
        file.unlink()
    return lines


def parquet(path: Path, query: str) -> Path:
    quoted = str(path).replace("'", "''")
    duckdb.connect().execute(f"COPY ({query}) TO '{quoted}' (FORMAT parquet, COMPRESSION zstd)")
    return path


def test_one_file_of_lines_grades_like_a_folder(runner: Runner, gold: Path) -> None:
    before = runner.grade(gold)
    lines = as_lines(gold)
    (gold / "answers.jsonl").write_text("\n".join(reversed(lines)), encoding="utf-8")
    after = runner.grade(gold)
    assert after.report == before.report and after.rows == before.rows


BROKEN_LINES = {
    "not JSON": ("not_json", '{"task_id": "%s", "answer": {"ate": 1'),
    "NaN": ("non_finite", '{"task_id": "%s", "answer": {"ate": NaN}}'),
    "duplicate key": ("duplicate_key", '{"task_id": "%s", "answer": {"ate": 1, "ate": 1}}'),
    "no answer": ("schema", '{"task_id": "%s"}'),
    "null answer": ("not_object", '{"task_id": "%s", "answer": null}'),
    "answer as text": ("not_object", '{"task_id": "%s", "answer": "{\\"ate\\": 1}"}'),
    "deep": ("too_deep", '{"task_id": "%s", "answer": ' + "[" * 50_000 + "}"),
    "long answer": ("too_large", '{"task_id": "%s", "answer": "' + "x" * (1 << 20) + '"}'),
    "control characters": ("not_json", '{"task_id": "%s", "answer": {"ate": 1\x00}}'),
}


def test_a_broken_line_is_its_task_alone(runner: Runner, gold: Path) -> None:
    lines = as_lines(gold)
    broken = dict(zip([*TASKS][::2], BROKEN_LINES.values(), strict=False))
    for index, (name, (_, text)) in enumerate(broken.items()):
        assert task_id(name) in lines[2 * index]
        lines[2 * index] = text % task_id(name)
    (gold / "answers.jsonl").write_text("\n".join(lines), encoding="utf-8")
    run = runner.grade(gold)
    for index, (name, (reason, _)) in enumerate(broken.items()):
        assert (run.rows[name]["status"], run.rows[name]["reason"]) == ("invalid", reason)
        assert f"answers.jsonl line {2 * index + 1}" in run.rows[name]["message"]
    assert len(broken) == len(BROKEN_LINES)
    only_changed(run, set(broken))


def test_lines_that_name_no_task_are_notices(runner: Runner, gold: Path) -> None:
    garbage = [b"\xff\xfe", b"[]", b"null", b'{"task_id": 7, "answer": 1}', b"", b"   ",
               b'{"task_id": "elsewhere", "answer": {}}', b'{"answer": {}}',
               b"\x1b]0;x\x07"]  # fmt: skip
    lines = [line.encode() for line in as_lines(gold)]
    (gold / "answers.jsonl").write_bytes(b"\n".join([*garbage, *lines, *garbage]))
    run = runner.grade(gold)
    assert run.report["unknown_answers"] == 2
    assert len(run.report["notices"]) == 14
    assert all(notice.isprintable() for notice in run.report["notices"])
    only_changed(run, set())


def test_a_huge_line_is_skipped_not_swallowed(runner, gold, monkeypatch):
    """A line without end must cost neither the memory nor the lines after it."""
    monkeypatch.setattr(answers, "MAX_LINE", 1 << 16)
    lines = as_lines(gold)
    (index,) = [k for k, line in enumerate(lines) if task_id("ate") in line]
    lines[index] = lines[index][:-1] + " " * (3 << 16) + "}"
    (gold / "answers.jsonl").write_text("\n".join(lines), encoding="utf-8")
    run = runner.grade(gold)
    assert run.rows["ate"]["reason"] == "too_large"
    only_changed(run, {"ate"})


def test_ten_thousand_bad_lines_make_a_bounded_report(runner: Runner, gold: Path) -> None:
    (gold / "answers.jsonl").write_text("{}\n" * 10_000, encoding="utf-8")
    run = runner.grade(gold)
    assert len(run.report["notices"]) <= 51
    assert len(run.out) < 20_000
    only_changed(run, set())


def test_parquet_answers_grade_like_a_folder(runner: Runner, gold: Path) -> None:
    before = runner.grade(gold)
    files = {name: (gold / answer_file(name)).read_text("utf-8") for name in TASKS}
    values = ", ".join(
        f"('{task_id(name)}', '{text.replace(chr(39), chr(39) * 2)}')"
        for name, text in files.items()
    )
    for kind in ("VARCHAR", "BLOB"):
        for name in TASKS:
            (gold / answer_file(name)).unlink(missing_ok=True)
        cast = "answer" if kind == "VARCHAR" else "encode(answer)"
        query = f"SELECT task_id, {cast} AS answer FROM (VALUES {values}) AS t(task_id, answer)"
        parquet(gold / "answers.parquet", query)
        after = runner.grade(gold)
        assert after.report == before.report and after.rows == before.rows


def test_a_table_is_read_in_batches_in_its_order(dev, gold, tmp_path, monkeypatch):
    """Strangers, doubles and answers of null stand between those that are read."""
    names = [path.name for path in sorted(gold.iterdir()) if path.name != "run.json"][::-1]
    rows = [(name.split(".")[0], (gold / name).read_text(encoding="utf-8")) for name in names]
    rows[2:2] = [("cds-stranger", "{}"), rows[1], (rows[5][0], None)]
    columns = {"task_id": [row[0] for row in rows], "answer": [row[1] for row in rows]}
    folder = tmp_path / "packed"
    folder.mkdir()
    pq.write_table(pa.table(columns), folder / "answers.parquet", row_group_size=4)
    whole = grade(dev, folder)
    assert len(whole.answers_sha256) == 64
    for module in (table, parquet_answers, reading):
        monkeypatch.setattr(module, "_ROWS_AT_ONCE", 2)
    again = grade(dev, folder)
    assert (again.report, again.scores) == (whole.report, whole.scores)
    assert again.answers_sha256 == whole.answers_sha256
    assert whole.report["census"]["invalid_reasons"] == {"duplicate_answer": 2}
    assert whole.report["census"]["scored"] == len(names) - 2


BAD_TABLES = {
    "wrong columns": "SELECT 1 AS id, 'x' AS text",
    "no answer": f"SELECT '{task_id('ate')}' AS task_id",
    "null ids": "SELECT NULL::VARCHAR AS task_id, '{}' AS answer",
    "structs": "SELECT {'a': 1} AS task_id, {'b': [1]} AS answer",
}


@pytest.mark.parametrize("what", BAD_TABLES)
def test_a_table_of_another_shape_is_a_notice(dev: Exam, gold: Path, what: str) -> None:
    """The answers in files beside it still count."""
    parquet(gold / "answers.parquet", BAD_TABLES[what])
    graded = grade(dev, gold, slice_intervals=False, tables=False)
    assert first_problem("report", graded.report) is None
    if what != "null ids":
        assert any("answers.parquet" in notice for notice in graded.report["notices"])
    assert {score.points for score in graded.scores} == {1.0}


@pytest.mark.parametrize("keep", [0, 60, -1])
def test_a_truncated_table_is_a_notice(runner: Runner, gold: Path, keep: int) -> None:
    """A broken download, and a file that only calls itself Parquet."""
    file = parquet(gold / "answers.parquet", "SELECT 'x' AS task_id, 'y' AS answer")
    file.write_bytes(file.read_bytes()[:keep])
    run = runner.grade(gold)
    assert len(run.report["notices"]) == 1
    assert "answers.parquet: cannot be read as Parquet" in run.report["notices"][0]
    only_changed(run, set())
    packed = gold.parent / "packed.parquet"
    packed.write_bytes(file.read_bytes())
    message = runner.fails("grade", packed, *runner.dev)
    assert "packed.parquet: cannot be read as Parquet" in message and "pack" in message


def test_a_row_is_null_too_large_or_twice(runner: Runner, gold: Path) -> None:
    for name in ("ate", "ett", "sign"):
        (gold / answer_file(name)).unlink()
    parquet(
        gold / "answers.parquet",
        f"SELECT '{task_id('ate')}' AS task_id, NULL::VARCHAR AS answer "
        f"UNION ALL SELECT '{task_id('ett')}', repeat('x', 2000000) "
        f"UNION ALL SELECT '{task_id('sign')}', '{{\"sign\": \"+\"}}' "
        f"UNION ALL SELECT '{task_id('sign')}', '{{\"sign\": \"-\"}}' "
        f"UNION ALL SELECT '{task_id('method')}', '{{}}'",
    )
    run = runner.grade(gold)
    reasons = {name: run.rows[name]["reason"] for name in ("ate", "ett", "sign", "method")}
    twice = "duplicate_answer"
    assert reasons == {"ate": "empty", "ett": "too_large", "sign": twice, "method": twice}
    only_changed(run, set(reasons))


def test_a_small_file_that_unpacks_to_gigabytes_is_not_unpacked(runner: Runner, gold: Path) -> None:
    """One long answer, dictionary-encoded, costs nothing to repeat."""
    (gold / answer_file("ate")).unlink()
    bomb = parquet(
        gold / "answers.parquet",
        f"SELECT CASE WHEN range = 0 THEN '{task_id('ate')}' ELSE 'x' || range END AS task_id, "
        "repeat('a', 4000000) AS answer FROM range(300)",
    )
    assert bomb.stat().st_size < 100_000
    run = runner.grade(gold)
    assert run.rows["ate"]["reason"] == "too_large"
    assert run.report["unknown_answers"] == 299
    told = run.report["notices"]
    assert len(told) < 8 and any("299 answers are to no task of split dev" in one for one in told)
    only_changed(run, {"ate"})


MARKUP = "[bold red]x[/bold red]"
HOSTILE_NAMES = [
    f"{MARKUP}[/][link=http://x]y[/link]\x1b[2J\x1b[31mred<script>alert(1)</script>"
    '"><img src=x onerror=alert(1)>a\nb\rc\td\u202egnp.exe\x00名前 🎓',
    "x" * 1_000_000,
]


@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=["of all kinds", "of a megabyte"])
def test_a_hostile_system_name_is_only_text(runner: Runner, gold: Path, name: str) -> None:
    """Terminals obey escapes, rich obeys markup, browsers obey tags."""
    (gold / "run.json").write_text(json.dumps({"system": name})[: 1 << 21], encoding="utf-8")
    page = runner.place / "page.html"
    run = runner.grade(gold, "--html", page)
    only_changed(run, set())
    shown = run.report["submission"]["system"]
    assert shown == name[:200]
    html = page.read_text(encoding="utf-8")
    board = runner.run("leaderboard", gold.parent, *runner.dev).out
    for text in (run.out, html, board):
        assert "\x1b" not in text and "\u202e" not in text and "\x00" not in text
    assert "<script" not in html and "<img" not in html and '="http://x' not in html
    assert len(html) < 100_000 and len(run.out) < 20_000
    if name.startswith(MARKUP):
        assert f"{MARKUP}[/]" in run.out, "markup must be shown, not obeyed"
        assert "[/][link=http://x]y" in "".join(board.split())


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"\xff", b'{"system": "  "}', b'{"system": ["x"]}', b"[" * 100_000,
     b'{"system": "\\ud800"}', b'{"a": "' + b"x" * (2 << 20)],
    ids=range(8),
)  # fmt: skip
def test_a_broken_card_costs_only_the_name(dev: Exam, gold: Path, content: bytes) -> None:
    """run.json is a courtesy, never a reason not to grade."""
    (gold / "run.json").write_bytes(content)
    (gold / "usage.jsonl").write_bytes(content + b'\n{"task_id": ["x"]}\n{"task_id": "x"}\n')
    graded = grade(dev, gold, slice_intervals=False, tables=False)
    assert first_problem("report", graded.report) is None
    assert graded.report["submission"]["system"] == "gold"
    assert {score.points for score in graded.scores} == {1.0}


def test_a_card_that_is_a_folder_or_a_pipe_is_a_notice(runner: Runner, gold: Path) -> None:
    """Opening a FIFO waits forever."""
    (gold / "run.json").unlink()
    (gold / "run.json").mkdir()
    os.mkfifo(gold / "usage.jsonl")
    os.mkfifo(gold / "answers.jsonl")
    (gold / "answers.parquet").symlink_to("/dev/zero")
    run = runner.grade(gold)
    assert len(run.report["notices"]) == 4
    only_changed(run, set())


def test_what_is_no_ordinary_file_is_not_read(runner: Runner, gold: Path) -> None:
    """A link could grade someone else's file, a FIFO hangs, a device never ends."""
    names = [name for name in TASKS if answer_file(name).endswith(".json")]
    odd = dict(zip(names, ODD_FILES.values(), strict=False))
    odd["predict"] = ODD_FILES["a byte too long"]
    for name, (_, make, _) in odd.items():
        (gold / answer_file(name)).unlink()
        make(gold / answer_file(name))
    run = runner.grade(gold)
    for name, (reason, _, text) in odd.items():
        row = run.rows[name]
        assert (row["status"], row["reason"]) == ("invalid", reason)
        assert text in row["message"] and answer_file(name) in row["message"]
    only_changed(run, set(odd))


def test_an_answer_in_two_places_is_void(runner: Runner, gold: Path) -> None:
    """Taking either one would let a submitter hedge."""
    (gold / "causalds").mkdir()
    put(gold / "causalds", "ate", '{"ate": 1.0}')
    line = json.dumps({"task_id": task_id("ett"), "answer": {"value": -3.0}})
    (gold / "answers.jsonl").write_text(line + "\n", encoding="utf-8")
    run = runner.grade(gold)
    for name in ("ate", "ett"):
        assert run.rows[name]["reason"] == "duplicate_answer"
        assert "keep one" in run.rows[name]["message"]
    assert f"causalds/{answer_file('ate')}" in run.rows["ate"]["message"]
    assert "answers.jsonl line 1" in run.rows["ett"]["message"]
    only_changed(run, {"ate", "ett"})


def test_track_folders_are_read_and_linked_ones_are_not(runner: Runner, gold: Path) -> None:
    """A linked folder is as much outside as a linked file."""
    away = gold.parent / "away"
    away.mkdir()
    for name in TASKS:
        (gold / answer_file(name)).rename(away / answer_file(name))
    (gold / "causalds").symlink_to(away)
    run = runner.grade(gold)
    assert run.report["census"]["missing"] == len(TASKS)
    assert any("links are not followed" in note for note in run.report["notices"])
    (gold / "causalds").unlink()
    away.rename(gold / "causalds")
    only_changed(runner.grade(gold), set())


def test_strangers_are_counted_and_named(runner: Runner, gold: Path) -> None:
    (gold / "cds-0000000000000000.json").write_text("{}", encoding="utf-8")
    (gold / "\x1b[31m\n<b>.json").write_text("{}", encoding="utf-8")
    file = gold / answer_file("ate")
    file.rename(file.with_suffix(".txt"))
    run = runner.grade(gold)
    assert run.report["unknown_answers"] == 2
    assert run.rows["ate"]["status"] == "missing"
    notices = "\n".join(run.report["notices"])
    assert f"is named {file.name}" in notices and "cds-0000000000000000.json" in notices
    assert all(notice.isprintable() for notice in run.report["notices"])
    assert "\x1b" not in run.out
    only_changed(run, {"ate"})


def test_a_folder_name_that_is_no_text_is_still_graded(runner: Runner, gold: Path) -> None:
    """File names are bytes; the report is UTF-8."""
    (gold / "run.json").unlink()
    place = gold.parent / "caf\udce9"
    try:
        gold.rename(place)
    except OSError:  # such a name cannot be there to be graded
        pytest.skip("this file system wants UTF-8 names")
    run = runner.grade(place, "--html", runner.place / "page.html")
    only_changed(run, set())
    assert run.report["submission"]["system"] == "caf?"


def test_the_system_is_named_after_its_folder(runner, gold, monkeypatch):
    (gold / "run.json").unlink()
    place = gold.rename(gold.parent / "agent-1.5")
    assert runner.grade(place).report["submission"]["system"] == "agent-1.5"
    monkeypatch.chdir(place)
    assert runner.grade(Path()).report["submission"]["system"] == "agent-1.5"
