"""Hostile files in an answers folder: each gets its reason, and no other task notices."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from grading import Runner, only_changed, put
from small_release import TASKS, answer_file, task_id

DEEP = "[" * 100_000 + "]" * 100_000
BAD_JSON = {
    "empty": ("empty", b""),
    "spaces": ("empty", b" \n\t "),
    "nested 100,000 deep": ("too_deep", b'{"ate": ' + DEEP.encode() + b"}"),
    "nested objects": ("too_deep", b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
    "opened only": ("too_deep", b"[" * 100_000),
    "NaN": ("non_finite", b'{"ate": NaN}'),
    "Infinity": ("non_finite", b'{"ate": Infinity}'),
    "-Infinity": ("non_finite", b'{"ate": -Infinity}'),
    "1e999": ("non_finite", b'{"ate": 1e999}'),
    "-1e999": ("non_finite", b'{"ate": -1e999}'),
    "NaN beside": ("non_finite", b'{"ate": 1, "note": NaN}'),
    "5,000 digits": ("huge_number", b'{"ate": ' + b"1" * 5000 + b"}"),
    "a million digits": ("huge_number", b'{"ate": -' + b"9" * 1_000_000 + b"}"),
    "duplicate keys": ("duplicate_key", b'{"ate": 1, "ate": 1}'),
    "duplicate keys, escaped": ("duplicate_key", b'{"ate": 1, "\\u0061te": 1}'),
    "duplicate keys inside": ("duplicate_key", b'{"ate": 1, "x": {"a": 1, "a": 1}}'),
    "Latin-1": ("encoding", b'{"ate": 1, "note": "\xe9"}'),
    "UTF-16": ("encoding", '{"ate": 1}'.encode("utf-16")),
    "byte order mark": ("encoding", b'\xef\xbb\xbf{"ate": 1}'),
    "raw surrogate": ("encoding", b'{"ate": 1, "note": "\xed\xa0\x80"}'),
    "escaped lone surrogate": ("encoding", b'{"ate": 1, "note": "\\ud800"}'),
    "surrogate key": ("encoding", b'{"ate": 1, "\\uDC00": 1}'),
    "NUL": ("not_json", b'\x00{"ate": 1}'),
    "top-level list": ("not_object", b"[1]"),
    "top-level string": ("not_object", b'"ate"'),
    "top-level number": ("not_object", b"1.0"),
    "top-level null": ("not_object", b"null"),
    "top-level true": ("not_object", b"true"),
    "two values": ("not_json", b'{"ate": 1}{"ate": 1}'),
    "fenced": ("not_json", b'```json\n{"ate": 1}\n```'),
    "comment": ("not_json", b'{"ate": 1} // one'),
    "trailing comma": ("not_json", b'{"ate": 1,}'),
    "single quotes": ("not_json", b"{'ate': 1}"),
    "control character": ("not_json", b'{"ate": 1, "note": "\x1b[2J"}'),
    "over a mebibyte": ("too_large", b'{"ate": 1, "note": "' + b"x" * (1 << 20) + b'"}'),
    "wrapped": ("absent_field", b'{"answer": {"ate": 1}}'),
    "a million-member list": ("schema", b'{"ate": [' + b"1," * 400_000 + b"1]}"),
}


# Most of these fail before the field is looked at, so one run grades several, a task each.
JSON_TASKS = sorted(name for name in TASKS if answer_file(name).endswith(".json"))
JSON_ROUNDS = [list(BAD_JSON)[k : k + 10] for k in range(0, len(BAD_JSON), 10)]


def _reasons(runner: Runner, folder: Path, bad: dict[str, tuple[str, str, bytes]]) -> None:
    """Put each (what, reason, bytes) at its task, grade, and look at every row."""
    for name, (_, _, data) in bad.items():
        put(folder, name, data)
    run = runner.grade(folder)
    for name, (what, reason, _) in bad.items():
        row = run.rows[name]
        assert (row["status"], row["reason"], row["points"]) == ("invalid", reason, 0.0), what
        assert row["message"].startswith(answer_file(name) + ": "), what
        assert len(row["message"]) < 400 and row["message"].isprintable(), what
    assert run.report["census"]["invalid"] == len(bad)
    only_changed(run, set(bad))


@pytest.mark.parametrize("chosen", JSON_ROUNDS, ids=range(len(JSON_ROUNDS)))
def test_bad_json_is_a_reason_and_nothing_else(
    runner: Runner, gold: Path, chosen: list[str]
) -> None:
    """Each of these crashed, or passed, some grader."""
    others = (name for name in JSON_TASKS if name != "ate")
    places = {what: "ate" if BAD_JSON[what][0] == "schema" else next(others) for what in chosen}
    _reasons(runner, gold, {places[what]: (what, *BAD_JSON[what]) for what in chosen})


ROWS = "1\n1\n1\n"
BAD_CSV = {
    "empty": ("empty", b""),
    "3 rows": ("wrong_length", b"prediction\n1\n1\n1\n"),
    "5 rows": ("wrong_length", b"prediction\n1\n1\n1\n1\n1\n"),
    "a million rows": ("wrong_length", b"prediction\n" + b"1\n" * 1_000_000),
    "no header": ("wrong_columns", b"1\n1\n1\n1\n"),
    "1,000 columns": ("wrong_columns", b",".join([b"prediction"] * 1000) + b"\n"),
    "NaN": ("not_a_number", f"prediction\nNaN\n{ROWS}".encode()),
    "-inf": ("not_a_number", f"prediction\n-inf\n{ROWS}".encode()),
    "1e999": ("not_a_number", f"prediction\n1e999\n{ROWS}".encode()),
    "1e99999": ("not_a_number", f"prediction\n1e99999\n{ROWS}".encode()),
    "1_000": ("not_a_number", f"prediction\n1_000\n{ROWS}".encode()),
    "hexadecimal": ("not_a_number", f"prediction\n0x1p3\n{ROWS}".encode()),
    "decimal comma": ("not_a_number", f'prediction\n"1,5"\n{ROWS}'.encode()),
    "formula": ("not_a_number", f"prediction\n=1+1\n{ROWS}".encode()),
    "NUL": ("not_a_number", f"prediction\n1\x00\n{ROWS}".encode()),
    "100,000 digits": ("not_a_number", b"prediction\n" + b"9" * 100_000 + b"\n1\n1\n1\n"),
    "5 MB line": ("not_csv", b"prediction\n" + b"9" * 5_000_000 + b"\n1\n1\n1\n"),
    "5 MB header": ("not_csv", b"x" * 5_000_000 + b"\n1\n1\n1\n1\n"),
    "open quote": ("not_csv", b'prediction\n"1\n1\n1\n1\n'),
    "text after quote": ("not_csv", b'prediction\n"1"x\n1\n1\n1\n'),
    "Latin-1": ("encoding", b"prediction,\xe9\n1,1\n1,1\n1,1\n1,1\n"),
    "UTF-16": ("encoding", "prediction\n1\n1\n1\n1\n".encode("utf-16")),
    "over 16 MiB": ("too_large", b"prediction\n" + b" " * (16 << 20)),
    "JSON": ("wrong_columns", b'{"prediction": [1, 1, 1, 1]}'),
    "Parquet": ("encoding", b"PAR1\x15\x04\x15\xff\xfe"),
}


CSV_ROUNDS = [list(BAD_CSV)[k : k + 2] for k in range(0, len(BAD_CSV), 2)]


@pytest.mark.parametrize("chosen", CSV_ROUNDS, ids=range(len(CSV_ROUNDS)))
def test_bad_csv_is_a_reason_and_nothing_else(
    runner: Runner, gold: Path, chosen: list[str]
) -> None:
    """SQL and data-frame readers guess types, separators and missing values; this must not."""
    places = zip(("predict", "predict_binary"), chosen, strict=False)
    _reasons(runner, gold, {name: (what, *BAD_CSV[what]) for name, what in places})


def _sparse(file: Path) -> None:
    with file.open("wb") as handle:
        handle.truncate(200 << 20)


def _link_outside(file: Path) -> None:
    outside = file.parent.parent / "outside.json"
    outside.write_text('{"ate": 1.0}', encoding="utf-8")
    file.symlink_to(outside)


def _link_in_folder(file: Path) -> None:
    (file.parent / "real.json").write_text('{"ate": 1.0}', encoding="utf-8")
    file.symlink_to("real.json")


ODD_FILES: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "200 MB": ("too_large", _sparse, "MiB"),
    "directory": ("unreadable", Path.mkdir, "is a directory"),
    "FIFO": ("unreadable", os.mkfifo, "not a regular file"),
    "link outside": ("unreadable", _link_outside, "symbolic link"),
    "link inside": ("unreadable", _link_in_folder, "symbolic link"),
    "link to a device": ("unreadable", lambda file: file.symlink_to("/dev/zero"), "symbolic link"),
    "broken link": ("unreadable", lambda file: file.symlink_to("nowhere"), "symbolic link"),
    "link to itself": ("unreadable", lambda file: file.symlink_to(file), "symbolic link"),
}


@pytest.mark.parametrize("what", ODD_FILES)
def test_what_is_no_ordinary_file_is_not_read(runner: Runner, gold: Path, what: str) -> None:
    """A link could grade someone else's file, a FIFO hangs, a device never ends."""
    reason, make, text = ODD_FILES[what]
    for name in ("ate", "predict"):
        (gold / answer_file(name)).unlink()
        make(gold / answer_file(name))
    run = runner.grade(gold)
    for name in ("ate", "predict"):
        row = run.rows[name]
        assert (row["status"], row["reason"]) == ("invalid", reason)
        assert text in row["message"] and answer_file(name) in row["message"]
    only_changed(run, {"ate", "predict"})


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
    """An answer under a wrong name must be heard of, or it is just missing."""
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


def test_the_system_is_named_after_its_folder(
    runner: Runner, gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without run.json a folder's whole name is the name, from inside it too."""
    (gold / "run.json").unlink()
    place = gold.rename(gold.parent / "agent-1.5")
    assert runner.grade(place).report["submission"]["system"] == "agent-1.5"
    monkeypatch.chdir(place)
    assert runner.grade(Path()).report["submission"]["system"] == "agent-1.5"
