"""What a whole submission may cost: past it answers are invalid, and the run goes on."""

import json
import time
import tracemalloc
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from grading import Run, Runner, only_changed, put
from malformations import sparse
from small_release import TASKS, answer_file, task_id

from grader.answers import collect, parquet_answers
from grader.answers.parquet_answers import read_parquet_answers
from grader.answers.submission import MAX_BYTES, MAX_USAGE, Budget, Submission, SubmissionLimits
from grader.laboratory.transcript import TranscriptError, read_lines
from grader.pipeline import grade
from grader.release.exam import Exam

PAD = " " * 600_000
"""Padding around an answer: as valid as without it."""


def padded(folder: Path, name: str) -> bytes:
    text = (folder / answer_file(name)).read_text(encoding="utf-8")
    return (text.rstrip()[:-1] + PAD + text.rstrip()[-1]).encode()


def json_names() -> list[str]:
    """The JSON tasks in the order in which their files are read."""
    names = [name for name in TASKS if answer_file(name).endswith(".json")]
    return sorted(names, key=answer_file)


def check_tail_is_late(run: Run, names: list[str]) -> set[str]:
    """Of ``names`` in order: first some that count, then only those past the budget."""
    late = [run.rows[name]["reason"] == "budget" for name in names]
    first = late.index(True)
    assert first > 0 and all(late[first:])
    return set(names[first:])


def test_past_the_bytes_the_remaining_answers_are_invalid(runner: Runner, gold: Path) -> None:
    for name in json_names():
        put(gold, name, padded(gold, name))
    run = runner.grade(gold, "--max-mib", "4")
    late = {name for name, row in run.rows.items() if row["reason"] == "budget"}
    assert late and late < set(TASKS)
    assert run.report["census"]["invalid_reasons"] == {"budget": len(late)}
    only_changed(run, late)
    kept = set(json_names()) - late
    assert len(kept) in (6, 7), "4 MiB hold six answers of 0.57 MiB"
    message = run.rows[min(late)]["message"]
    assert "budget of 4 MiB" in message and "--max-mib" in message
    again = runner.grade(gold, "--max-mib", "4")
    assert again.rows == run.rows
    only_changed(runner.grade(gold), set())


def test_past_the_cells_too_in_lines_and_in_a_table(runner: Runner, gold: Path) -> None:
    texts = {name: (gold / answer_file(name)).read_text("utf-8") for name in json_names()}
    for name in texts:
        (gold / answer_file(name)).unlink()
    many = {
        name: json.dumps({**json.loads(text), "explanation": [0] * 1000})
        for name, text in texts.items()
    }
    lines = [f'{{"task_id": "{task_id(name)}", "answer": {text}}}' for name, text in many.items()]
    (gold / "answers.jsonl").write_text("\n".join(lines), encoding="utf-8")
    by_lines = runner.grade(gold, "--max-cells", "5000")
    kept = [name for name in many if by_lines.rows[name]["points"] == 100.0]
    assert kept and kept == list(many)[: len(kept)]
    reasons = [by_lines.rows[name]["reason"] for name in list(many)[len(kept) :]]
    assert reasons[0] == "budget" and set(reasons[1:]) == {"no_answer"}, "the rest is not read"
    only_changed(by_lines, set(many) - set(kept))
    assert any("the rest, from line" in notice for notice in by_lines.report["notices"])
    (gold / "answers.jsonl").unlink()
    table = {"task_id": [task_id(name) for name in many], "answer": list(many.values())}
    pq.write_table(pa.table(table), gold / "answers.parquet")
    by_rows = runner.grade(gold, "--max-cells", "5000")
    only_changed(by_rows, check_tail_is_late(by_rows, list(many)))


def test_attempts_share_one_budget(dev: Exam, gold: Path, tmp_path: Path) -> None:
    text = padded(gold, "ate")
    for k in (1, 2, 3):
        folder = tmp_path / "many" / f"attempt-{k}"
        folder.mkdir(parents=True)
        (folder / answer_file("ate")).write_bytes(text)
    graded = grade(
        dev, tmp_path / "many", slice_intervals=False, limits=SubmissionLimits(mebibytes=1)
    )
    kept = [part.answers[task_id("ate")].reason for part in graded.submission.attempts]
    assert kept == ["", "budget", "budget"]


def test_past_the_seconds_the_run_goes_on(dev, gold, monkeypatch):
    """By a clock that jumps half a second at every look: in every step of every answer."""
    ticks = iter(range(10**6))
    monkeypatch.setattr(time, "process_time", lambda: next(ticks) / 2)
    graded = grade(
        dev, gold, slice_intervals=False, limits=SubmissionLimits(seconds=len(TASKS) + 5)
    )
    reasons = [score.reason for score in graded.scores]
    assert reasons[:10] == [""] * 10 and set(reasons[10:]) == {"budget"}
    assert graded.report["census"]["invalid"] == reasons.count("budget")


@pytest.mark.parametrize("option", ["--max-mib", "--max-cells", "--max-seconds"])
@pytest.mark.parametrize("value", ["0", "-1", "x", "1e9", "9" * 50])
def test_a_limit_is_a_whole_number(runner: Runner, gold: Path, option: str, value: str) -> None:
    assert option in runner.fails("grade", gold, f"{option}={value}", "--release", runner.release)


def test_a_sparse_file_of_lines_is_not_read(runner, gold, monkeypatch):
    """A terabyte of nothing takes hours to read and no room on a disk."""
    monkeypatch.setattr(collect, "MAX_LINES_FILE", 1 << 30)
    sparse(1 << 40)(gold / "answers.jsonl")
    run = runner.grade(gold)
    assert any("answers.jsonl: over 1 GiB" in notice for notice in run.report["notices"])
    only_changed(run, set())


@pytest.mark.parametrize("name", ["answers.jsonl", "usage.jsonl"])
def test_blank_lines_cost_what_they_weigh(dev: Exam, gold: Path, name: str) -> None:
    """200 MiB of line feeds took a minute: no line held anything, so none was counted."""
    (gold / name).write_bytes((b" " * 63 + b"\n") * (1 << 15))
    by_bytes = grade(dev, gold, slice_intervals=False, limits=SubmissionLimits(mebibytes=1))
    (gold / name).write_bytes(b"\n" * (3 << 20))
    start = time.process_time()
    by_cells = grade(dev, gold, slice_intervals=False, limits=SubmissionLimits(cells=50_000))
    assert time.process_time() - start < 10
    for graded, limit in ((by_bytes, "1 MiB"), (by_cells, "50,000 cells")):
        (notice,) = (one for one in graded.submission.notices if name in one)
        assert f"{name}: the rest, from line " in notice and f"budget of {limit}" in notice
    numbers = by_cells.submission.notices[0].partition("from line ")[2].partition(",")[0]
    assert int(numbers) < 50_000, "a blank line is at least a cell"
    assert all(score.points == 1.0 for score in by_bytes.scores), "files were read before"


def test_a_transcript_of_blank_lines_is_refused_by_their_number() -> None:
    """As long as an answer may be, without a list of sixteen million lines."""
    blank = b"\n" * MAX_BYTES[".jsonl"]
    tracemalloc.start()
    with pytest.raises(TranscriptError, match="over 20000 lines"):
        read_lines(blank)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def refused(path: Path, limits: SubmissionLimits | None = None) -> str:
    """What a table is refused with, by its footer: a scan would fail and say so."""
    found = Submission(path, budget=Budget(limits))
    with pytest.MonkeyPatch.context() as without:
        without.setattr(parquet_answers, "_NUMBERED", "no_such_table")
        read_parquet_answers(path, "answers.parquet", {task_id("ate"): ".json"}, found)
    assert not found.answers
    (notice,) = found.notices
    return notice


@pytest.mark.parametrize(
    "answers", ["'{}' AS answer FROM range(2_000_000)", "list_resize([0], 1_100_000, 0) AS answer"]
)
def test_a_billion_values_are_refused_by_the_footer(tmp_path: Path, answers: str) -> None:
    """Repeated values cost a few bytes a million; one row can hold as many as a million rows."""
    path = tmp_path / "rows.parquet"
    duckdb.connect().execute(f"COPY (SELECT 'x' AS task_id, {answers}) TO '{path}'")
    assert path.stat().st_size < 1 << 20
    assert "over 1,000,000 rows" in refused(path)


@pytest.mark.parametrize(("ids", "answers"), [("task_id", "answer"), ("Task_Id", "ANSWER")])
def test_columns_that_unpack_to_gigabytes_are_refused(tmp_path, ids, answers):
    """Zeroes compress a thousandfold and more."""
    path = tmp_path / "zeroes.parquet"
    table = pa.table({ids: [str(k) for k in range(24)], answers: [bytes(3 << 20)] * 24})
    pq.write_table(table, path, compression="zstd", use_dictionary=False, write_statistics=False)
    assert path.stat().st_size < 1 << 20
    assert "unpack to over 64 MiB" in refused(path, SubmissionLimits(mebibytes=64))


def test_strings_that_repeat_the_one_before_are_refused(tmp_path: Path) -> None:
    """Their sizes stand in no footer: a few bytes a row unpack to a mebibyte each."""
    path = tmp_path / "delta.parquet"
    table = pa.table({"task_id": [str(k) for k in range(100)], "answer": ["a" * 100_000] * 100})
    encoding = {"answer": "DELTA_BYTE_ARRAY", "task_id": "PLAIN"}
    pq.write_table(table, path, use_dictionary=False, column_encoding=encoding)
    assert "DELTA_BYTE_ARRAY" in refused(path)


def test_a_footer_of_many_mebibytes_is_not_parsed(tmp_path: Path) -> None:
    """A million columns are work before the first row is looked at."""
    path = tmp_path / "footer.parquet"
    size = 32 << 20
    with path.open("wb") as handle:
        handle.write(b"PAR1")
        handle.truncate(size - 8)
        handle.seek(size - 8)
        handle.write((size - 12).to_bytes(4, "little") + b"PAR1")
    assert "its footer is over 16 MiB" in refused(path)


def test_usage_of_a_packed_file_is_part_of_the_budget(runner: Runner, tmp_path: Path) -> None:
    """One text, repeated by the dictionary, costs the file nothing."""
    path = tmp_path / "x.parquet"
    usage = json.dumps({"note": "x" * (MAX_USAGE - 100)})
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT unnest(?) AS task_id, '{}' AS answer, "
            "'{}' AS submission_json, ? AS usage_json",
            [[task_id(name) for name in TASKS], usage],
        )
        connection.execute(f"COPY t TO '{path}' (FORMAT parquet)")
    run = runner.grade(path, "--max-mib", "1")
    assert any("usage of" in text and "budget" in text for text in run.report["notices"])
